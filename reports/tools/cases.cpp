#include "reports/tools/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace taskbench::reports::tools {

model::Case& case_of(model::Run& run, std::string_view name) {
  const auto found = std::ranges::find(run.cases, name, &model::Case::name);
  if (found != run.cases.end()) return *found;
  run.cases.emplace_back().name = name;
  return run.cases.back();
}

void add_time(model::Case& benchmark, model::Repetition repetition) {
  if (!std::isfinite(repetition.real_ns) || repetition.real_ns <= 0) {
    benchmark.unusable = fmt::format("takes {} ns, which no measurement gives", repetition.real_ns);
    return;
  }
  repetition.index = static_cast<std::int64_t>(benchmark.repetitions.size());
  benchmark.repetitions.push_back(std::move(repetition));
}

std::optional<double> ns_in(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  static constexpr std::array<Unit, 6> kUnits{{{"ns", 1},
                                               {"us", 1e3},
                                               {"µs", 1e3},  // U+00B5
                                               {"μs", 1e3},  // U+03BC
                                               {"ms", 1e6},
                                               {"s", 1e9}}};
  const auto* const found = std::ranges::find(kUnits, unit, &Unit::name);
  return found == kUnits.end() ? std::nullopt : std::optional(found->ns);
}

}  // namespace taskbench::reports::tools
