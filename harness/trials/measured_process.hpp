// One process of a measured program, and the selection of its benchmarks: what paired trials and
// series share.
#pragma once

#include <functional>
#include <map>

#include "harness/bench/order.hpp"
#include "harness/trials/names.hpp"
#include "harness/trials/program.hpp"
#include "harness/trials/scratch_folder.hpp"
#include "reports/model/drift.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// A program that failed in one benchmark, whose name is known.
class BenchmarkError : public ProgramError {
 public:
  BenchmarkError(const std::string& what, std::string benchmark)
      : ProgramError(what), benchmark_(std::move(benchmark)) {}
  [[nodiscard]] const std::string& benchmark() const { return benchmark_; }

 private:
  std::string benchmark_;
};

/// Makes room for a new journal. A journal at the default place is removed if its trial has ended;
/// if `is_replaced`, as in CI, any journal is. Throws UsageError if a journal is in the way, or a
/// file that is no journal of `what` ("trial"), for which `has_ended` throws json::JournalError.
void make_room_for_journal(const fs::path& path, bool is_named, bool is_replaced,
                           std::string_view what, const std::function<bool()>& has_ended);

/// Refuses a program whose bytes are not those that the journal was started with. Throws
/// UsageError.
[[noreturn]] void refuse_rebuilt(std::string_view command, const fs::path& journal);

/// What ends processes early, how long each may take, and where they leave their results.
struct Bench {
  std::stop_token stop;
  double timeout_s = 60;
  ScratchFolder scratch{};
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
[[nodiscard]] model::Run run_once(const Program& program, const SampleRequest& request,
                                  const Bench& bench);

/// Why a benchmark cannot be judged although it has not failed, in words that follow its program's
/// name; empty if it can.
[[nodiscard]] std::string why_left_out(const model::Case& benchmark);

/// How many repetitions a first run takes to show what a benchmark of the program writes: one of
/// Google Benchmark's that reports only aggregates does so from the second repetition on.
[[nodiscard]] std::int64_t trial_repetitions(const Program& program);

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

/// Whether one of the names given by --workload means this benchmark: "ping_pong" means every
/// "ping_pong/work_stealing/workers:2", too. Without names, all are meant.
[[nodiscard]] bool is_chosen(const Strings& given, const std::string& benchmark);

/// The benchmarks that `given` means. Throws UsageError for a name that means none of them.
[[nodiscard]] Strings chosen_benchmarks(const Strings& given, const Strings& benchmarks);

}  // namespace taskbench::harness
