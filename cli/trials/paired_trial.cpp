#include "cli/trials/paired_trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/trials/measured_process.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/paired.hpp"
#include "workloads/machine/drift.hpp"
#include "workloads/measure/order.hpp"

namespace taskbench::cli {
namespace {

using measure::Program;
using measure::ProgramError;
using measure::SampleRequest;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What `call` does with the program of that side, whose failures it tells.
template <class Call>
auto of_side(const TrialPrograms& programs, model::Side side, const Call& call) {
  const Program& program = side == model::Side::base ? programs.base : programs.head;
  try {
    return call(program);
  } catch (const BenchmarkError& error) {
    throw SideError(error.what(), side, error.benchmark());
  } catch (const ProgramError& error) {
    throw SideError(error.what(), side);
  }
}

/// One process of that side.
model::Run measure_side(const TrialPrograms& programs, model::Side side,
                        const SampleRequest& request, const fs::path& scratch,
                        const std::stop_token& stop) {
  return of_side(programs, side, [&](const Program& program) {
    return measure_once(program, request, scratch, stop);
  });
}

/// Google Benchmark says in a benchmark's name when MeasureProcessCPUTime() was called.
model::CpuTimeOf cpu_time_of(const Program& program, const std::string& benchmark) {
  const bool of_process = program.kind() == Program::Kind::taskbench ||
                          (benchmark + '/').find("/process_time/") != std::string::npos;
  return of_process ? model::CpuTimeOf::process : model::CpuTimeOf::main_thread;
}

/// What both programs have, as far as base can run it.
struct Exploration {
  model::Run base;
  model::Run head;
  Strings failing;                       ///< in base; in neither result
  std::vector<model::LeftOut> left_out;  ///< in neither result, too
};

void leave_out(Exploration& both, const std::string& name, std::string reason) {
  const auto is_known = [&](const model::LeftOut& each) { return each.name == name; };
  if (std::ranges::any_of(both.left_out, is_known)) return;
  both.left_out.push_back({name, std::move(reason)});
}

/// A benchmark that its program lists and then does not run must not look as if it were judged.
void note_missing(const TrialPrograms& programs, const Strings& chosen, Exploration& both) {
  const auto has = [&](const std::string& name) {
    return std::ranges::find(both.base.cases, name, &model::Case::name) != both.base.cases.end() ||
           std::ranges::find(both.head.cases, name, &model::Case::name) != both.head.cases.end();
  };
  for (const auto* program : {&programs.base, &programs.head}) {
    for (const std::string& name : program->listed()) {
      // A program of somebody's own main may print more than names.
      const bool is_prose = name.find(' ') != std::string::npos && !name.ends_with('>');
      if (is_prose || !is_chosen(chosen, name) || has(name)) continue;
      leave_out(both, name, "it is listed, but no result of it was written");
    }
  }
}

Exploration run_both(const TrialPrograms& programs, SampleRequest request, const fs::path& scratch,
                     const std::stop_token& stop) {
  const auto run = [&](model::Side side) {
    return of_side(programs, side, [&](const Program& program) {
      request.repetitions = trial_repetitions(program);
      return run_once(program, request, scratch, stop);
    });
  };
  Exploration both{run(model::Side::base), run(model::Side::head), {}, {}};
  note_missing(programs, request.families, both);
  for (const model::Side side : {model::Side::base, model::Side::head}) {
    const auto& result = side == model::Side::base ? both.base : both.head;
    for (const auto& benchmark : result.cases) {
      if (const std::string reason = why_left_out(benchmark); !reason.empty()) {
        leave_out(both, benchmark.name, fmt::format("{} {}", name_of(side), reason));
      } else if (side == model::Side::base && !benchmark.error.empty()) {
        both.failing.push_back(benchmark.name);
      }
    }
  }
  for (auto* result : {&both.base, &both.head}) {
    std::erase_if(result->cases, [&](const model::Case& benchmark) {
      const std::string& name = benchmark.name;
      return std::ranges::find(both.failing, name) != both.failing.end() ||
             std::ranges::find(both.left_out, name, &model::LeftOut::name) != both.left_out.end();
    });
  }
  of_side(programs, model::Side::base,
          [&](const Program& program) { require_sound(program, both.base); });
  of_side(programs, model::Side::head,
          [&](const Program& program) { require_sound(program, both.head); });
  return both;
}

/// Whether each of `chosen` means a benchmark of either side.
bool has_all(const Exploration& both, const Strings& chosen) {
  return std::ranges::all_of(chosen, [&](const std::string& name) {
    const auto is_meant = [&](const std::string& benchmark) {
      return is_chosen({name}, benchmark);
    };
    return std::ranges::any_of(both.base.cases, is_meant, &model::Case::name) ||
           std::ranges::any_of(both.head.cases, is_meant, &model::Case::name) ||
           std::ranges::any_of(both.failing, is_meant) ||
           std::ranges::any_of(both.left_out, is_meant, &model::LeftOut::name);
  });
}

void store(const model::Run& result, model::ProcessSample& sample) {
  for (const auto& benchmark : result.cases) {
    std::vector<double> real;
    std::map<std::string, std::vector<double>> counters;
    for (const auto& repetition : benchmark.repetitions) {
      real.push_back(repetition.real_ns);
      counters["cpu_ns"].push_back(repetition.cpu_ns);
      for (const auto& [name, value] : repetition.counters) counters[name].push_back(value);
    }
    sample.real_ns[benchmark.name] = stats::median(real);
    for (const auto& [name, values] : counters) {
      sample.counters[benchmark.name][name] = stats::median(values);
    }
  }
}

/// A program that leaves out a benchmark once it is asked has failed; in the journal it would make
/// all that was measured unreadable.
void require_all(const model::PairedSetup& setup, const TrialPrograms& programs,
                 const model::ProcessSample& sample) {
  const Program& program = sample.side == model::Side::base ? programs.base : programs.head;
  for (const std::string& name : setup.benchmarks) {
    const auto found = sample.real_ns.find(name);
    if (found != sample.real_ns.end() && std::isfinite(found->second) && found->second > 0)
      continue;
    throw SideError(
        fmt::format("'{}' {} '{}', which it had measured before", program.command().front(),
                    found == sample.real_ns.end() ? "left out" : "gave no time above 0 of", name),
        sample.side, name);
  }
}

/// Why no further block may be begun, if there is a reason.
std::optional<model::TrialEnd> end_of(const model::PairedTrial& trial, double spent_s,
                                      const TrialLimits& limits) {
  const int blocks = verdict::complete_blocks(trial);
  if (limits.ends_when_decided && verdict::is_at_look(trial) && verdict::judge(trial).decided) {
    return model::TrialEnd::decided;
  }
  if (blocks >= trial.setup.max_blocks) return model::TrialEnd::blocks;
  const double each = blocks > 0 ? spent_s / blocks : 0;
  if (spent_s + each > limits.budget_s) return model::TrialEnd::budget;
  return std::nullopt;
}

}  // namespace

void explore(const TrialPrograms& programs, const Strings& chosen, const fs::path& scratch,
             double timeout_s, const std::stop_token& stop, model::PairedSetup& setup,
             const std::function<void()>& waiting) {
  SampleRequest request = request_of(setup, timeout_s);
  request.families = chosen;
  request.waiting = [&](double) {
    if (waiting) waiting();
  };
  std::optional<Exploration> found;
  try {
    found = run_both(programs, request, scratch, stop);
  } catch (const SideError&) {
    // A program may call it a failure that no name of its is meant.
    if (chosen.empty() || stop.stop_requested()) throw;
  }
  if (!found || !has_all(*found, chosen)) {  // all of them, to say which name was meant
    request.families.clear();
    found = run_both(programs, request, scratch, stop);
  }
  const auto& [base, head, failing, left_out] = *found;
  setup.failing_in_base = failing;
  setup.left_out = left_out;
  const auto has = [](const model::Run& result, const std::string& name) {
    return std::ranges::find(result.cases, name, &model::Case::name) != result.cases.end();
  };
  setup.benchmarks.clear();
  setup.cpu_time_of.clear();
  for (const auto& benchmark : base.cases) {
    const bool both = has(head, benchmark.name);
    (both ? setup.benchmarks : setup.only_base).push_back(benchmark.name);
    const auto cpu_time = cpu_time_of(programs.base, benchmark.name);
    if (both && cpu_time == cpu_time_of(programs.head, benchmark.name)) {
      setup.cpu_time_of[benchmark.name] = cpu_time;
    }
    if (both && programs.base.takes_iterations() && programs.head.takes_iterations()) {
      setup.iterations[benchmark.name] = benchmark.repetitions.front().iterations;
    }
  }
  for (const auto& benchmark : head.cases) {
    if (!has(base, benchmark.name)) setup.only_head.push_back(benchmark.name);
  }
  if (setup.benchmarks.empty()) {
    std::string text = "base and head have no benchmark in common; nothing can be compared";
    for (const auto& [name, reason] : setup.left_out) {
      text += fmt::format("; {} is left out: {}", name, reason);
    }
    throw ProgramError(text);
  }
}

void keep_chosen(const Strings& chosen, model::PairedSetup& setup) {
  // Of a name that means only what is left out, the report says why; it is not unknown.
  Strings judged = chosen;
  std::erase_if(judged, [&](const std::string& name) {
    const auto is_meant = [&](const std::string& benchmark) {
      return is_chosen({name}, benchmark);
    };
    return std::ranges::none_of(setup.benchmarks, is_meant) &&
           (std::ranges::any_of(setup.left_out, is_meant, &model::LeftOut::name) ||
            std::ranges::any_of(setup.failing_in_base, is_meant));
  });
  if (judged.empty() && !chosen.empty()) {
    throw ProgramError("nothing that --workload names can be compared: all of it is left out");
  }
  setup.benchmarks = chosen_benchmarks(judged, setup.benchmarks);
  const auto unwanted = [&](const std::string& name) { return !is_chosen(chosen, name); };
  std::erase_if(setup.only_base, unwanted);
  std::erase_if(setup.only_head, unwanted);
  std::erase_if(setup.failing_in_base, unwanted);
  std::erase_if(setup.left_out, [&](const model::LeftOut& each) { return unwanted(each.name); });
  const auto is_unwanted = [&](const auto& entry) { return unwanted(entry.first); };
  std::erase_if(setup.iterations, is_unwanted);
  std::erase_if(setup.cpu_time_of, is_unwanted);
}

std::string failing_benchmark(const TrialPrograms& programs, model::Side side,
                              const model::PairedSetup& setup, const fs::path& scratch,
                              double timeout_s, const std::stop_token& stop) {
  constexpr double kPatience_s = 60;
  const Clock::time_point start = Clock::now();
  SampleRequest request = request_of(setup, std::min(timeout_s, kPatience_s));
  request.repetitions = 1;
  request.iterations.clear();  // they name benchmarks that are not asked for here
  const auto fails = [&] {
    try {
      (void)measure_side(programs, side, request, scratch, stop);
      return false;
    } catch (const SideError&) {
      return true;
    }
  };
  Strings names = setup.benchmarks;
  if (names.empty()) {  // it failed before they were known: those of the other side are the same
    const model::Side other = side == model::Side::base ? model::Side::head : model::Side::base;
    try {
      const model::Run result = measure_side(programs, other, request, scratch, stop);
      for (const auto& benchmark : result.cases) names.push_back(benchmark.name);
    } catch (const SideError&) {
      return {};
    }
  }
  Strings failing;
  for (const std::string& name : names) {
    request.benchmarks = {name};
    if (fails()) failing.push_back(name);
    if (stop.stop_requested()) return {};
    if (seconds_since(start) > kPatience_s) return {};
  }
  const bool in_every_one = failing.size() == names.size() && names.size() > 1;
  return failing.empty() || in_every_one ? std::string() : failing.front();
}

void run_trial(const TrialPrograms& programs, const fs::path& scratch, const TrialLimits& limits,
               const std::stop_token& stop,
               const std::function<void(const TrialProgress&)>& progress, files::LineFile& journal,
               model::PairedTrial& trial) {
  SampleRequest request = request_of(trial.setup, limits.timeout_s);
  auto machine = measure::read_machine("/", false);
  double spent_s = 0;
  for (const auto& sample : trial.samples) spent_s += sample.took_s;
  while (!trial.end && !stop.stop_requested()) {
    const auto done = static_cast<int>(trial.samples.size());
    model::ProcessSample sample;
    sample.block = done / model::kBlockSize;
    sample.position = done % model::kBlockSize;
    if (sample.position == 0) {
      trial.end = end_of(trial, spent_s, limits);
      if (trial.end) {
        journal.append(json::journal_line(*trial.end));
        return;
      }
    }
    const auto plan = measure::block_plan(trial.setup.seed, sample.block);
    sample.side = plan.sides[static_cast<std::size_t>(sample.position)];
    request.seed = plan.order_seed;
    request.padding_bytes = plan.padding_bytes;
    progress({.blocks = sample.block,
              .max_blocks = trial.setup.max_blocks,
              .spent_s = spent_s,
              .budget_s = limits.budget_s,
              .now = std::string(model::name_of(sample.side))});
    const Clock::time_point start = Clock::now();
    model::Run result;
    try {
      result = measure_side(programs, sample.side, request, scratch, stop);
    } catch (const ProgramError&) {
      // A process that was told to stop is no failure of the program.
      if (stop.stop_requested()) return;
      throw;
    }
    sample.took_s = seconds_since(start);
    spent_s += sample.took_s;
    const auto machine_now = measure::read_machine("/", false);
    sample.machine = measure::use_between(machine, machine_now);
    machine = machine_now;
    store(result, sample);
    require_all(trial.setup, programs, sample);
    journal.append(json::journal_line(sample));
    trial.samples.push_back(std::move(sample));
  }
}

}  // namespace taskbench::cli
