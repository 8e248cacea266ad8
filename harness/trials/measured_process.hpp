// One process of a measured program, and the selection of its benchmarks: what paired trials and
// series share.
#pragma once

#include <map>

#include "harness/bench/order.hpp"
#include "harness/trials/names.hpp"
#include "harness/trials/program.hpp"
#include "harness/trials/scratch_folder.hpp"
#include "reports/model/drift.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// How long one process may take by default.
inline constexpr double kDefaultProcessTimeout_s = 300;

/// A program that failed in one benchmark, whose name is known.
struct BenchmarkError : ProgramError {
  BenchmarkError(const std::string& what, std::string failing)
      : ProgramError(what), benchmark(std::move(failing)) {}
  std::string benchmark;
};

/// Whether Google Benchmark says so in a benchmark's name: "manual_time", "process_time".
[[nodiscard]] bool has_part(const std::string& benchmark, std::string_view part);

/// Refuses a program whose bytes are not those that the journal was started with. Throws
/// UsageError.
[[noreturn]] void refuse_rebuilt(std::string_view command, const fs::path& journal);

/// What ends processes early, how long each may take, and where they leave their results.
struct Bench {
  std::stop_token stop;
  double timeout_s = 60;
  std::optional<Clock::time_point> deadline{};  ///< ends whatever runs then
  ScratchFolder scratch{};

  [[nodiscard]] bool is_over() const {
    return stop.stop_requested() || (deadline && Clock::now() >= *deadline);
  }
};

/// The request that a trial or a series makes of each of its processes.
template <class Setup>
[[nodiscard]] SampleRequest request_of(const Setup& setup, double timeout_s) {
  SampleRequest request;
  static_cast<model::Sampling&>(request) = setup;
  request.benchmarks = setup.benchmarks;
  request.timeout_s = timeout_s;
  return request;
}

/// Runs one process. The result is as it was read, in the file's order, including benchmarks that
/// failed or whose rows cannot be used. Throws ProgramError.
[[nodiscard]] model::Run run_once(const Program& program, SampleRequest request,
                                  const Bench& bench);

/// Why a benchmark cannot be judged although it has not failed, in words that follow its program's
/// name; empty if it can.
[[nodiscard]] std::string why_left_out(const model::Case& benchmark);

/// Puts the results, which come in the order in which they were drawn, into the order in which the
/// program lists its benchmarks: that of reports.
void sort_as_listed(const Program& program, model::Run& result);

/// Throws BenchmarkError for a benchmark that failed, cannot be used, or has no repetition.
void require_sound(const Program& program, const model::Run& result);

/// run_once(), then require_sound().
[[nodiscard]] model::Run measure_once(const Program& program, const SampleRequest& request,
                                      const Bench& bench);

/// The result of one process of a trial or a series, and what the machine did meanwhile.
struct MeasuredProcess {
  model::Run result;
  std::map<std::string, double> real_ns;  ///< medians of the benchmarks that were asked for
  model::MachineUse machine;
  double took_s = 0;
};

/// Measures the next process as it was drawn. Empty if told to stop, which is no failure of the
/// program. Also throws BenchmarkError for a benchmark without a time: a program that leaves out
/// what it measured before has failed, and a journal of that could not be read.
[[nodiscard]] std::optional<MeasuredProcess> measure_next(const Program& program,
                                                          SampleRequest& request,
                                                          const BlockPlan& drawn,
                                                          const Bench& bench);

/// The names in the lists given by --workload. A name may have commas of its own: one that means a
/// benchmark of `known` is whole, and so is what brackets hold together, as in "Fx<int, 3>/Run".
/// Throws UsageError for a name that is given twice.
[[nodiscard]] Strings benchmark_names(const Strings& given, const Strings& known);

/// Whether a name given by --workload means this benchmark: "ping_pong" means every
/// "ping_pong/work_stealing/workers:2", too.
[[nodiscard]] bool is_meant(const std::string& given, const std::string& benchmark);

/// Whether it means one of the benchmarks, or of what `name_of` makes of them.
template <class List, class... NameOf>
[[nodiscard]] bool means_any(const std::string& given, const List& benchmarks, NameOf... name_of) {
  const auto is_it = [&](const std::string& each) { return is_meant(given, each); };
  return std::ranges::any_of(benchmarks, is_it, name_of...);
}

/// Whether one of the names given by --workload means this benchmark. Without names, all are meant.
[[nodiscard]] bool is_chosen(const Strings& given, const std::string& benchmark);

/// Throws UsageError for the first name that means none of the benchmarks.
void refuse_unknown(const Strings& given, const Strings& benchmarks);

/// The benchmarks that `given` means, of which each must mean one, as for refuse_unknown().
[[nodiscard]] Strings chosen_benchmarks(const Strings& given, const Strings& benchmarks);

}  // namespace taskbench::harness
