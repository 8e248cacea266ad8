// Results that programs print as lines of text. Each line is a repetition of a benchmark; other
// lines are left out, as is a metric whose value is not finite.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// What may be the number of CPUs at the end of a Go benchmark's name: "-8" of "BenchmarkSort-8".
/// Empty if it ends otherwise.
[[nodiscard]] std::string_view cpus_at_the_end(std::string_view name);

/// Reads the output of a Go package's benchmarks, in the format of benchstat: "BenchmarkSort-8",
/// the iterations, then pairs of a value and its unit. The time is that of "ns/op"; other units are
/// counters, by their names. A number of CPUs at the end of all names ("-8") is removed, unless the
/// names are known with it: those that were `requested`, and those that Go also prints alone, with
/// -test.v. If several packages have a benchmark of one name, its package precedes it:
/// "example.org/list.BenchmarkSort". The result may come in a line of its own, behind what the
/// benchmark prints. A benchmark with a line without ns/op is unusable. Go reports no CPU time: it
/// is 0.
[[nodiscard]] model::Run parse_go(std::string_view printed,
                                  std::span<const std::string> requested = {});

/// Reads the output of benchmarks of Rust's libtest, or in its format (the crate bencher): "test
/// sort ... bench: 1,234 ns/iter (+/- 56)", the median of its samples. The number of iterations is
/// not reported. If several of Cargo's targets have a benchmark of one name, its target precedes
/// it: "benches/list.rs/sort". There is no CPU time: it is 0.
[[nodiscard]] model::Run parse_libtest(std::string_view printed);

/// Reads lines "NAME VALUE UNIT", with a name of any words and a unit of time: ns, us, µs, ms or s.
/// Another unit is a counter, by that name, of the preceding line's benchmark; without a time, the
/// benchmark is unusable. "more" or "less" may follow, whichever is better. Each line with a time
/// is one iteration, and has no CPU time.
[[nodiscard]] model::Run parse_lines(std::string_view printed);

}  // namespace taskbench::reports::tools
