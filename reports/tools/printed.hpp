// Results that programs print as lines of text. Each line is a repetition of a benchmark; what is
// no such line is left out.
#pragma once

#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// Reads what the benchmarks of a Go package print, in the format of benchstat: "BenchmarkSort-8",
/// the iterations, then pairs of a value and its unit. The time is that of "ns/op"; other units are
/// counters, by their names. A number of CPUs that all names end in ("-8") is no part of them. A
/// benchmark of which a line has no ns/op is unusable. Go reports no CPU time: it is 0.
[[nodiscard]] model::Run parse_go(std::string_view printed);

/// Reads what the benchmarks of Rust's libtest print, and those that print as it does (the crate
/// bencher): "test sort ... bench: 1,234 ns/iter (+/- 56)", the median of its samples. How many
/// iterations that were is not told. There is no CPU time: it is 0.
[[nodiscard]] model::Run parse_libtest(std::string_view printed);

/// Reads lines "NAME VALUE UNIT", with a name of any words and a unit of time: ns, us, µs, ms or s.
/// Another unit is a counter, by that name, of the benchmark's line before it; without one the
/// benchmark is unusable. Behind it may stand "more" or "less", whichever is better. Each line with
/// a time is one iteration, and has no CPU time.
[[nodiscard]] model::Run parse_lines(std::string_view printed);

}  // namespace taskbench::reports::tools
