// What every file of the harness needs: the words of the language, the clock, and the model that it
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

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace taskbench::reports::model {}

namespace taskbench::harness {

namespace fs = std::filesystem;
namespace model = reports::model;

using Strings = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What may start now and end by `deadline`: at most `most_s`, and 0 once it has passed.
[[nodiscard]] inline double limit_s(double most_s,
                                    const std::optional<Clock::time_point>& deadline) {
  return deadline ? std::clamp(-seconds_since(*deadline), 0.0, most_s) : most_s;
}

/// "a, b, c"
[[nodiscard]] std::string joined(const auto& texts, std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(texts, separator));
}

/// Whether one of them is `value`, or has it as what `projection` makes of it.
template <class Range, class Value, class... Projection>
[[nodiscard]] bool contains(const Range& range, const Value& value, Projection... projection) {
  return std::ranges::find(range, value, projection...) != std::ranges::end(range);
}

/// What `projection`, a function or a member, makes of each of them.
template <class Range, class Projection>
[[nodiscard]] auto each_of(const Range& range, const Projection& projection) {
  std::vector<std::decay_t<std::invoke_result_t<Projection, decltype(*std::begin(range))>>> made;
  for (const auto& each : range) made.push_back(std::invoke(projection, each));
  return made;
}

}  // namespace taskbench::harness
