// Names that every file of the harness needs: language vocabulary, the clock, and the model that it
// fills.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/time.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/model/lookup.hpp"

namespace taskbench::harness {

namespace fs = std::filesystem;
namespace model = reports::model;

using model::contains;
using model::each_of;
using Strings = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[nodiscard]] inline double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// The time that is left until `deadline`: at most `most_s`, and 0 once it has passed.
[[nodiscard]] inline double limit_s(double most_s,
                                    const std::optional<Clock::time_point>& deadline) {
  return deadline ? std::clamp(-seconds_since(*deadline), 0.0, most_s) : most_s;
}

/// "a, b, c"
[[nodiscard]] std::string joined(const auto& texts, std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(texts, separator));
}

}  // namespace taskbench::harness
