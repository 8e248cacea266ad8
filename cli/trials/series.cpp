#include "cli/trials/series.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/output/progress_line.hpp"
#include "cli/output/streams.hpp"
#include "cli/trials/measured_process.hpp"
#include "reports/json/baseline.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/baseline.hpp"
#include "workloads/machine/canary.hpp"
#include "workloads/machine/drift.hpp"
#include "workloads/machine/environment.hpp"
#include "workloads/machine/machine.hpp"
#include "workloads/measure/order.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::NotMeasurable;
using measure::Program;
using measure::ProgramError;
using measure::SampleRequest;

std::map<std::string, double> medians(const model::Run& result, const Strings& benchmarks,
                                      const Program& program) {
  std::map<std::string, double> real_ns;
  for (const std::string& name : benchmarks) {
    const auto found = std::ranges::find(result.cases, name, &model::Case::name);
    if (found == result.cases.end()) {
      throw ProgramError(
          fmt::format("'{}' wrote no result of {}", program.command().front(), name));
    }
    std::vector<double> times;
    for (const auto& repetition : found->repetitions) times.push_back(repetition.real_ns);
    real_ns[name] = stats::median(times);
  }
  return real_ns;
}

/// Of the sources: what a taskbench says of itself, else the commit that is checked out here.
std::string commit_of(const model::Run& result, const std::stop_token& stop) {
  if (!result.environment.git_commit.empty()) return result.environment.git_commit;
  const auto answer = measure::run_process(
      {.command = {"git", "rev-parse", "HEAD"}, .environment = {}, .timeout_s = 10}, stop);
  return answer.ok() ? answer.output.substr(0, answer.output.find('\n')) : std::string{};
}

std::string set_aside(int count) {
  return count == 0 ? std::string() : fmt::format(", {} set aside", count);
}

}  // namespace

SeriesProgram series_program(const std::string& command, double timeout_s,
                             const std::stop_token& stop) {
  try {
    Strings words = command.empty() ? std::vector{fs::canonical("/proc/self/exe").string()}
                                    : measure::split_command(command);
    return {Program::find_out(std::move(words), stop, {.timeout_s = timeout_s}), command,
            timeout_s};
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--program '{}': {}", command, error.what()));
  } catch (const NotMeasurable& error) {
    throw NotMeasurable(fmt::format("--program: {}", error.what()), error.has_failed());
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("this taskbench cannot be found; name it by --program: {}",
                                 error.code().message()));
  }
}

void explore(const SeriesProgram& program, const fs::path& scratch, const std::stop_token& stop,
             model::SeriesSetup& setup) {
  SampleRequest request = request_of(setup, program.timeout_s);
  request.repetitions = trial_repetitions(program.program);
  model::Run result = run_once(program.program, request, scratch, stop);
  std::erase_if(result.cases, [](const model::Case& benchmark) {
    const std::string reason = why_left_out(benchmark);
    if (!reason.empty()) {
      print_note(fmt::format("{} is left out: the program {}", benchmark.name, reason));
    }
    return !reason.empty();
  });
  require_sound(program.program, result);
  if (result.cases.empty()) {
    throw ProgramError(fmt::format("'{}' wrote no result", program.program.command().front()));
  }
  setup.command = program.command;
  setup.digest = program.program.digest();
  setup.date = measure::probe_environment({}).date;
  setup.commit = commit_of(result, stop);
  setup.key = measure::probe_machine();
  setup.key.build = measure::build_fields(result);
  for (auto& field : measure::canary_fields()) {
    setup.key.build.push_back(std::move(field));
  }
  setup.benchmarks.clear();
  setup.iterations.clear();
  for (const auto& benchmark : result.cases) {
    setup.benchmarks.push_back(benchmark.name);
    if (program.program.takes_iterations()) {
      setup.iterations[benchmark.name] = benchmark.repetitions.front().iterations;
    }
  }
}

void refuse_changed(const fs::path& journal, const model::SeriesSetup& setup,
                    const SeriesProgram& program) {
  const auto differing = differences(setup.key.machine, measure::probe_machine().machine);
  if (!differing.empty()) {
    throw UsageError(fmt::format("{} was started on another machine: {} was '{}', and is '{}'",
                                 journal.string(), differing.front().name, differing.front().first,
                                 differing.front().second));
  }
  for (const auto& field : measure::canary_fields()) {
    if (model::value_of(setup.key.build, field.name) != field.value) {
      throw UsageError(fmt::format(
          "{} was started with the canary of another taskbench; start again", journal.string()));
    }
  }
  if (setup.digest != program.program.digest()) {
    throw UsageError(
        fmt::format("'{}' is not the program that {} was started with: it was built anew, or "
                    "a library that it loads was; start again",
                    program.program.command().front(), journal.string()));
  }
}

void run_series(const SeriesProgram& program, const fs::path& scratch, const std::stop_token& stop,
                const SeriesRun& run, files::LineFile& journal, model::Series& series) {
  const Strings& benchmarks = series.setup.benchmarks;
  ProgressLine line(progress_style(run.quiet));
  SampleRequest request = request_of(series.setup, program.timeout_s);
  if (!program.program.takes_iterations()) request.iterations.clear();
  std::optional<model::CanaryTimes> canary;  // of a moment ago only: not of before a kill
  std::optional<double> place = run.place_ns ? run.place_ns : verdict::place_of(series);
  const int most_aside = run.keeps_all ? 0 : series.setup.processes;
  int begun = static_cast<int>(series.processes.size());
  int aside = 0;
  while (!series.complete() && !stop.stop_requested()) {
    const std::size_t number = series.processes.size();
    line.show(fmt::format("process {} of {}{}", number + 1, series.wanted(), set_aside(aside)));
    // Each process has its own order of benchmarks and its own place of the stack, as in ab.
    const auto drawn = measure::block_plan(series.setup.seed, begun++);
    request.seed = drawn.order_seed;
    request.padding_bytes = drawn.padding_bytes;
    model::SeriesProcess process;
    process.before = canary ? *canary : measure::time_canary();
    model::Run result;
    const auto reading = measure::read_machine("/", false);
    try {
      result = measure_once(program.program, request, scratch, stop);
    } catch (const ProgramError&) {
      // A process that was told to stop is no failure of the program.
      if (stop.stop_requested()) return;
      throw;
    }
    process.use = measure::use_between(reading, measure::read_machine("/", false)).cpu;
    process.real_ns = medians(result, benchmarks, program.program);
    canary = measure::time_canary();
    process.after = *canary;
    if (aside < most_aside && !verdict::was_at(place, process)) {
      ++aside;
      continue;
    }
    journal.append(json::journal_line(process, number));
    series.processes.push_back(std::move(process));
    if (!place) place = verdict::place_of(series);
  }
  if (aside > 0 && !run.quiet) {
    print_note(fmt::format("{} set aside: the host had moved the CPUs",
                           aside == 1 ? "a process was" : fmt::format("{} processes were", aside)));
  }
}

}  // namespace taskbench::cli
