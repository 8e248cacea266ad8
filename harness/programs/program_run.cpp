#include "harness/programs/program_run.hpp"

#include "harness/bench/order.hpp"
#include "harness/programs/program.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::harness {
namespace {

/// A process as a repetition.
model::Repetition as_repetition(const model::Case& benchmark, int process, double real_ns) {
  model::Repetition one = stats::aggregate(benchmark.repetitions, stats::kMedian);
  one.index = process;
  one.real_ns = real_ns;
  for (const model::Repetition& each : benchmark.repetitions) one.iterations += each.iterations;
  return one;
}

/// Finds the benchmarks of the program: puts the chosen ones into `run`, without repetitions, and
/// restricts the request to those that do not fail.
void choose_benchmarks(const Program& program, const ProgramRun& plan, const Bench& bench,
                       const Listener& listener, SampleRequest& request, model::Run& run) {
  const bool lists_all = program.kind().lists_all() && !program.listed().empty();
  if (lists_all) {  // the others need not run even once
    Strings chosen = plan.choose(program.listed());
    if (chosen.size() < program.listed().size()) request.benchmarks = std::move(chosen);
  }
  model::Run found = first_run(program, request, bench, listener);
  run.environment = std::move(found.environment);
  run.environment.executable = program.executable().string();
  if (!lists_all) {
    const Strings chosen = plan.choose(each_of(found.cases, &model::Case::name));
    std::erase_if(found.cases,
                  [&](const model::Case& each) { return !contains(chosen, each.name); });
  }
  request.benchmarks.clear();
  for (model::Case& benchmark : found.cases) {
    const auto repetitions = std::exchange(benchmark.repetitions, {});
    if (!benchmark.error.empty()) continue;
    request.benchmarks.push_back(benchmark.name);
    if (program.kind().takes_iterations() && !repetitions.empty()) {
      request.iterations[benchmark.name] = repetitions.front().iterations;
    }
  }
  run.cases = std::move(found.cases);
}

/// Measures in fresh processes. False if a stop was requested.
bool measure_processes(const Program& program, const ProgramRun& plan, const Bench& bench,
                       const Listener& listener, SampleRequest& request, model::Run& run) {
  for (int i = 0; i < plan.processes; ++i) {
    listener.progress(fmt::format("process {} of {}", i + 1, plan.processes));
    const auto measured = measure_next(program, request, block_plan(plan.sampling.seed, i), bench);
    if (!measured) return false;
    for (model::Case& benchmark : run.cases) {
      const auto* const result =
          model::element_of(measured->result.cases, benchmark.name, &model::Case::name);
      if (result == nullptr) continue;  // it has failed
      benchmark.repetitions.push_back(
          as_repetition(*result, i, measured->real_ns.at(benchmark.name)));
    }
  }
  return true;
}

}  // namespace

model::Run measure_program(const ProgramRun& plan, const Listener& listener,
                           const std::stop_token& stop) {
  const Bench bench{stop, plan.timeout_s};
  model::Run run;
  run.settings.repetitions = plan.sampling.repetitions;
  run.settings.min_time_s = plan.sampling.min_time_s;
  run.settings.seed = plan.sampling.seed;
  run.settings.processes = plan.processes;
  run.partial = true;  // until all is measured
  try {
    const Program program = named_program(plan.command, plan.kind, bench);
    run.settings.kind = program.kind().name();
    SampleRequest request;
    static_cast<model::Sampling&>(request) = plan.sampling;
    request.timeout_s = plan.timeout_s;
    choose_benchmarks(program, plan, bench, listener, request, run);
    // A request that names no benchmark is for all of them.
    run.partial = !request.benchmarks.empty() &&
                  !measure_processes(program, plan, bench, listener, request, run);
  } catch (const ProgramError& error) {
    if (stop.stop_requested()) return run;
    if (std::ranges::none_of(run.cases, &model::Case::has_samples)) throw;
    run.failure = error.what();
  }
  return run;
}

}  // namespace taskbench::harness
