// One process of a measured program, and the selection of its benchmarks: the code shared by paired
// trials and series.
#pragma once

#include <map>

#include "harness/bench/order.hpp"
#include "harness/files/names.hpp"
#include "harness/files/scratch_folder.hpp"
#include "harness/programs/program.hpp"
#include "reports/model/drift.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// Default time limit of one process.
inline constexpr double kDefaultProcessTimeout_s = 300;

/// Default number of fresh processes of one program.
inline constexpr int kDefaultFreshProcesses = 7;

/// A program that failed in a known benchmark.
struct BenchmarkError : ProgramError {
  BenchmarkError(const std::string& what, std::string failing)
      : ProgramError(what), benchmark(std::move(failing)) {}
  std::string benchmark;
};

/// The wall time per iteration, without the time that a single-threaded process waited for a CPU.
[[nodiscard]] double wanted_ns(const model::Case& benchmark);

/// Whether Google Benchmark states a property in a benchmark's name: "manual_time", "process_time".
[[nodiscard]] bool has_part(const std::string& benchmark, std::string_view part);

/// Refuses a program whose bytes differ from those that the journal was started with. Throws
/// UsageError.
[[noreturn]] void refuse_rebuilt(std::string_view command, const fs::path& journal);

/// How processes are stopped early, the time limit of each, and the folder for their results.
struct Bench {
  std::stop_token stop;
  double timeout_s = 60;
  std::optional<Clock::time_point> deadline{};  ///< ends the process that runs then
  ScratchFolder scratch{};

  [[nodiscard]] bool is_over() const {
    return stop.stop_requested() || (deadline && Clock::now() >= *deadline);
  }
};

/// The program that `--program COMMAND` names, of the kind that --kind names; this taskbench if the
/// command is empty. Throws UsageError and ProgramError.
[[nodiscard]] Program named_program(const std::string& command, const std::string& kind,
                                    const Bench& bench);

/// The request that a trial or a series makes of each of its processes.
template <class Setup>
[[nodiscard]] SampleRequest request_of(const Setup& setup, double timeout_s) {
  SampleRequest request;
  static_cast<model::Sampling&>(request) = setup;
  request.benchmarks = setup.benchmarks;
  request.timeout_s = timeout_s;
  return request;
}

/// Runs one process. The result is in the file's order, as it was read, including benchmarks that
/// failed or whose rows cannot be used. Throws ProgramError.
[[nodiscard]] model::Run run_once(const Program& program, SampleRequest request,
                                  const Bench& bench);

/// Why a benchmark that has not failed cannot be judged, in words that follow its program's name;
/// empty if it can.
[[nodiscard]] std::string why_left_out(const model::Case& benchmark);

/// Sorts the results from the order in which they were drawn into the order in which the program
/// lists its benchmarks: that of reports.
void sort_as_listed(const Program& program, model::Run& result);

/// Runs the program once, without counting the run, to learn its benchmarks and their iterations.
/// Those that cannot be judged are left out, with a note. Throws ProgramError, also if none is
/// left.
[[nodiscard]] model::Run first_run(const Program& program, SampleRequest request,
                                   const Bench& bench, const Listener& listener);

/// Throws BenchmarkError for a benchmark that failed, cannot be used, or has no repetition.
void require_sound(const Program& program, const model::Run& result);

/// run_once(), then require_sound().
[[nodiscard]] model::Run measure_once(const Program& program, const SampleRequest& request,
                                      const Bench& bench);

/// The result of one process of a trial or a series, and the state of the machine meanwhile.
struct MeasuredProcess {
  model::Run result;
  std::map<std::string, double> real_ns;  ///< medians of the requested benchmarks
  model::MachineUse machine;
  double took_s = 0;
};

/// Measures the next process as it was drawn. Empty if a stop was requested, which is not a failure
/// of the program. Also throws BenchmarkError for a benchmark without a time: a program that leaves
/// out a benchmark that it measured before has failed, and its journal could not be read.
[[nodiscard]] std::optional<MeasuredProcess> measure_next(const Program& program,
                                                          SampleRequest& request,
                                                          const BlockPlan& drawn,
                                                          const Bench& bench);

/// The names in the lists given by --workload. A name may contain commas: a name of a benchmark in
/// `known` is not split, nor is the text within brackets, as in "Fx<int, 3>/Run". Throws UsageError
/// for a name that is given twice.
[[nodiscard]] Strings benchmark_names(const Strings& given, const Strings& known);

/// Whether a name given by --workload selects this benchmark: "ping_pong" also selects every
/// "ping_pong/work_stealing/workers:2".
[[nodiscard]] bool is_meant(const std::string& given, const std::string& benchmark);

/// Whether it selects one of the benchmarks, or of the names that `name_of` extracts from them.
template <class List, class... NameOf>
[[nodiscard]] bool means_any(const std::string& given, const List& benchmarks, NameOf... name_of) {
  const auto is_it = [&](const std::string& each) { return is_meant(given, each); };
  return std::ranges::any_of(benchmarks, is_it, name_of...);
}

/// Whether one of the names given by --workload selects this benchmark; no names select all.
[[nodiscard]] bool is_chosen(const Strings& given, const std::string& benchmark);

/// Throws UsageError for the first name that matches none of the benchmarks.
void refuse_unknown(const Strings& given, const Strings& benchmarks);

/// The benchmarks that `given` selects. Each name must match one, as for refuse_unknown().
[[nodiscard]] Strings chosen_benchmarks(const Strings& given, const Strings& benchmarks);

}  // namespace taskbench::harness
