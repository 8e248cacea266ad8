#include "harness/trials/series.hpp"

#include <stdexcept>

#include "harness/machine/canary.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/os/process.hpp"
#include "reports/json/baseline.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::harness {
namespace {

Program find_program(const std::string& command, const Bench& bench) {
  try {
    Strings words = command.empty() ? Strings{fs::canonical("/proc/self/exe").string()}
                                    : split_command(command);
    return Program::find_out(std::move(words), bench.stop, {.timeout_s = bench.timeout_s});
  } catch (const std::invalid_argument& error) {
    refuse("--program '{}': {}", command, error.what());
  } catch (const NotMeasurable& error) {
    throw NotMeasurable(fmt::format("--program: {}", error.what()), error.has_failed());
  } catch (const fs::filesystem_error& error) {
    refuse("this taskbench cannot be found; name it by --program: {}", error.code().message());
  }
}

/// The commit of the sources: the one that a taskbench reports, else the one that is checked out
/// here.
std::string commit_of(const model::Run& result, const std::stop_token& stop) {
  if (!result.environment.git_commit.empty()) return result.environment.git_commit;
  const auto answer = run_process(
      {.command = {"git", "rev-parse", "HEAD"}, .environment = {}, .timeout_s = 10}, stop);
  return answer.ok() ? answer.output.substr(0, answer.output.find('\n')) : std::string{};
}

}  // namespace

SeriesProgram::SeriesProgram(std::string command, double timeout_s, const std::stop_token& stop)
    : command_(std::move(command)),
      bench_{stop, timeout_s},
      program_(find_program(command_, bench_)) {}

void SeriesProgram::explore(const Listener& listener, model::SeriesSetup& setup) const {
  SampleRequest request = request_of(setup, bench_.timeout_s);
  request.repetitions = trial_repetitions(program_);
  model::Run result = run_once(program_, request, bench_);
  std::erase_if(result.cases, [&](const model::Case& benchmark) {
    const std::string reason = why_left_out(benchmark);
    if (reason.empty()) return false;
    listener.note(fmt::format("{} is left out: the program {}", benchmark.name, reason));
    return true;
  });
  require_sound(program_, result);
  sort_as_listed(program_, result);
  if (result.cases.empty()) {
    throw ProgramError(fmt::format("'{}' wrote no result", program_.command().front()));
  }
  setup.command = command_;
  setup.digest = program_.digest();
  setup.date = probe_environment({}).date;
  setup.commit = commit_of(result, bench_.stop);
  setup.key = probe_machine();
  setup.key.build = build_fields(result);
  for (auto& field : canary_fields()) setup.key.build.push_back(std::move(field));
  setup.benchmarks.clear();
  setup.iterations.clear();
  for (const auto& benchmark : result.cases) {
    setup.benchmarks.push_back(benchmark.name);
    if (program_.takes_iterations()) {
      setup.iterations[benchmark.name] = benchmark.repetitions.front().iterations;
    }
  }
}

void SeriesProgram::refuse_changed(const fs::path& journal, const model::SeriesSetup& setup) const {
  const auto differing = differences(setup.key.machine, probe_machine().machine);
  if (!differing.empty()) {
    refuse("{} was started on another machine: {} was '{}', and is '{}'", journal.string(),
           differing.front().name, differing.front().first, differing.front().second);
  }
  for (const auto& field : canary_fields()) {
    if (model::value_of(setup.key.build, field.name) != field.value) {
      refuse("{} was started with the canary of another taskbench; start again", journal.string());
    }
  }
  if (setup.digest != program_.digest()) {
    refuse_rebuilt(program_.command().front(), journal);
  }
}

void SeriesProgram::run(const SeriesRun& how, const Listener& listener, LineFile& journal,
                        model::Series& series) const {
  SampleRequest request = request_of(series.setup, bench_.timeout_s);
  if (!program_.takes_iterations()) request.iterations.clear();
  std::optional<model::CanaryTimes> canary;  // of a moment ago only: not of before a kill
  std::optional<double> place = how.place_ns ? how.place_ns : verdict::place_of(series);
  const int most_aside = how.keeps_all ? 0 : series.setup.processes;
  int begun = static_cast<int>(series.processes.size());
  int aside = 0;
  while (!series.complete() && !bench_.stop.stop_requested()) {
    const std::size_t number = series.processes.size();
    listener.progress(fmt::format("process {} of {}{}", number + 1, series.wanted(),
                                  aside == 0 ? "" : fmt::format(", {} set aside", aside)));
    model::SeriesProcess process;
    process.before = canary ? *canary : time_canary();
    // Each process has its own order of benchmarks and its own stack offset, as in ab.
    const auto measured =
        measure_next(program_, request, block_plan(series.setup.seed, begun++), bench_);
    if (!measured) return;
    process.use = measured->machine.cpu;
    process.real_ns = measured->real_ns;
    canary = time_canary();
    process.after = *canary;
    if (aside < most_aside && !verdict::was_at(place, process)) {
      ++aside;
      continue;
    }
    journal.append(json::journal_line(process, number));
    series.processes.push_back(std::move(process));
    if (!place) place = verdict::place_of(series);
  }
  if (aside > 0) {
    listener.note(
        fmt::format("{} set aside: the host had moved the CPUs",
                    aside == 1 ? "a process was" : fmt::format("{} processes were", aside)));
  }
}

}  // namespace taskbench::harness
