#include "harness/trials/paired_trial.hpp"

#include <cmath>
#include <map>

#include "harness/bench/order.hpp"
#include "harness/files/near_miss.hpp"
#include "harness/os/file_content.hpp"
#include "harness/trials/attendance.hpp"
#include "harness/trials/sampling_plan.hpp"
#include "reports/json/paired.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/digits.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {
namespace {

using model::kBothSides;
using model::Side;

/// Calls `call`, and turns a failure of a side's program into one that names the side.
template <class Call>
auto of_side(Side side, const Call& call) {
  try {
    return call();
  } catch (const ProgramError& error) {
    const auto* in = dynamic_cast<const BenchmarkError*>(&error);
    throw SideError(error.what(), side, in != nullptr ? in->benchmark : std::string());
  }
}

bool has_case(const model::Run& run, const std::string& name) {
  return contains(run.cases, name, &model::Case::name);
}

/// The benchmarks of both programs that base can run.
struct Exploration {
  model::Run base;
  model::Run head;
  double base_s = 0;  ///< duration of the processes
  double head_s = 0;
  Strings failing;                       ///< in base; in neither result
  std::vector<model::LeftOut> left_out;  ///< in neither result, too

  void leave_out(const std::string& name, std::string reason) {
    if (!contains(left_out, name, &model::LeftOut::name)) {
      left_out.push_back({name, std::move(reason)});
    }
  }

  /// Whether each of `chosen` selects a benchmark of either side.
  [[nodiscard]] bool has_all(const Strings& chosen) const {
    return std::ranges::all_of(chosen, [&](const std::string& name) {
      return has_result(name) || means_any(name, failing) ||
             means_any(name, left_out, &model::LeftOut::name);
    });
  }

  [[nodiscard]] bool has_result(const std::string& name) const {
    return means_any(name, base.cases, &model::Case::name) ||
           means_any(name, head.cases, &model::Case::name);
  }
};

/// Notes benchmarks that a program lists but does not run: they must not seem to have been judged.
void note_missing(const TrialPrograms& programs, const Strings& chosen, Exploration& both) {
  for (const Side side : kBothSides) {
    for (const std::string& name : of(programs, side).listed()) {
      // A program with its own main() may print more than names.
      const bool is_prose = name.find(' ') != std::string::npos && !name.ends_with('>');
      if (is_prose || !is_chosen(chosen, name) || both.has_result(name)) continue;
      both.leave_out(name, "it is listed, but no result of it was written");
    }
  }
}

Exploration run_both(const TrialPrograms& programs, SampleRequest request, const Bench& bench) {
  Exploration both;
  for (const Side side : kBothSides) {
    const Program& program = of(programs, side);
    request.repetitions = program.kind().trial_repetitions();
    const auto start = Clock::now();
    of(both, side) = of_side(side, [&] { return run_once(program, request, bench); });
    (side == Side::base ? both.base_s : both.head_s) = seconds_since(start);
  }
  note_missing(programs, request.families, both);
  for (const Side side : kBothSides) {
    for (const auto& benchmark : of(both, side).cases) {
      if (const std::string reason = why_left_out(benchmark); !reason.empty()) {
        both.leave_out(benchmark.name, fmt::format("{} {}", name_of(side), reason));
      } else if (side == Side::base && !benchmark.error.empty()) {
        both.failing.push_back(benchmark.name);
      }
    }
  }
  for (const Side side : kBothSides) {
    model::Run& result = of(both, side);
    std::erase_if(result.cases, [&](const model::Case& benchmark) {
      return contains(both.failing, benchmark.name) ||
             contains(both.left_out, benchmark.name, &model::LeftOut::name);
    });
    of_side(side, [&] { require_sound(of(programs, side), result); });
  }
  return both;
}

/// The duration of a trial's processes, from the slower of the first two.
ProcessCost cost_of(const Exploration& found) {
  const bool is_base = found.base_s > found.head_s;
  ProcessCost cost{.start_s = std::max(found.base_s, found.head_s)};
  for (const model::Case& benchmark : (is_base ? found.base : found.head).cases) {
    std::vector<double> times_s;
    double measured_s = 0;
    for (const auto& repetition : benchmark.repetitions) {
      times_s.push_back(1e-9 * repetition.real_ns);
      measured_s += times_s.back() * static_cast<double>(repetition.iterations);
    }
    cost.iterations_s.push_back(stats::median(times_s));
    cost.start_s = std::max(0.0, cost.start_s - measured_s);
  }
  return cost;
}

/// The noise floor that the last digit of printed times means; empty if times are not printed.
std::optional<model::NoiseFloor> floor_of_digits(const model::Case& base, const model::Case& head) {
  double least_ns = base.repetitions.front().real_ns;
  for (const model::Case* side : {&base, &head}) {
    for (const auto& repetition : side->repetitions) {
      least_ns = std::min(least_ns, repetition.real_ns);
    }
  }
  return verdict::floor_of_digits(std::min(base.step_ns, head.step_ns), least_ns);
}

void take_sampling(const model::Sampling& sampling, model::PairedSetup& setup) {
  for (auto& [name, iterations] : setup.iterations) {
    const double scaled = static_cast<double>(iterations) * sampling.min_time_s / setup.min_time_s;
    iterations = std::max<std::int64_t>(1, std::llround(scaled));
  }
  setup.repetitions = sampling.repetitions;
  setup.min_time_s = sampling.min_time_s;
}

/// Fits the sampling into the remaining budget, and the iterations to the sampling. If time is
/// short, one more process shows how much of a process's time grows with its repetitions, which the
/// first two do not show.
void fit_budget(const TrialPrograms& programs, const Exploration& found, const Bench& bench,
                model::PairedSetup& setup) {
  const model::Sampling usual = setup;
  ProcessCost cost = cost_of(found);
  const bool counts = setup.counts_first && setup.budget_s >= kLeastBudgetToCount_s;
  const double for_blocks_s = setup.budget_s * (counts ? 1 - kCountingShare : 1);
  const auto left_s = [&] { return for_blocks_s - setup.explored_s; };
  const bool has_fixed = programs.base.kind().has_fixed_repetitions();
  take_sampling(sampling_for(cost, left_s(), usual,
                             has_fixed ? Longer::repetitions : Longer::each_repetition),
                setup);
  setup.process_s = cost.seconds(setup);
  if (has_plenty(cost, left_s(), setup)) return;
  const auto start = Clock::now();
  (void)of_side(Side::base,
                [&] { return run_once(programs.base, request_of(setup, bench.timeout_s), bench); });
  const double took_s = seconds_since(start);
  setup.explored_s += took_s;
  double more_s = std::max(took_s - cost.seconds(setup), -cost.start_s);
  // What a program does of its own accord grows with its repetitions: Catch2 takes 20 samples for
  // each, and a sample is at least one iteration.
  constexpr double kMuchMore = 0.25;
  const double growth = cost.measuring_s(setup) / cost.measuring_s(usual);
  if (growth > 1 && more_s > kMuchMore * cost.seconds(setup)) {
    more_s /= growth;
    take_sampling(usual, setup);
  }
  cost.start_s += more_s;
  take_sampling(shortened(cost, left_s(), setup), setup);
  setup.process_s = cost.seconds(setup);
}

/// The longest time that an iteration waited for a CPU: as measured by the program, or else as if
/// its process had waited only during this benchmark. Includes stolen time, which looks like sleep
/// from inside. Empty if unknown, as for a time that was not taken from the clock.
std::optional<double> queued_ns(const model::Case& benchmark, std::optional<double> measured_ns,
                                const MeasuredProcess& process) {
  const auto& cpu = process.machine.cpu.value;
  if (!cpu || has_part(benchmark.name, "manual_time")) return {};
  double iterations = 0;
  for (const auto& repetition : benchmark.repetitions) {
    iterations += static_cast<double>(repetition.iterations);
  }
  if (iterations <= 0) return {};
  const double stolen_ns = 1e9 * cpu->stolen_s / iterations;
  if (measured_ns) return *measured_ns + stolen_ns;
  if (!process.result.queued_s) return {};
  return 1e9 * *process.result.queued_s / iterations + stolen_ns;
}

/// Medians of the CPU time and of all counters.
std::map<std::string, double> counters_of(const model::Case& benchmark,
                                          const MeasuredProcess& process) {
  std::map<std::string, std::vector<double>> values;
  for (const auto& repetition : benchmark.repetitions) {
    values["cpu_ns"].push_back(repetition.cpu_ns);
    for (const auto& [name, value] : repetition.counters) values[name].push_back(value);
  }
  std::map<std::string, double> medians;
  for (const auto& [name, each] : values) medians[name] = stats::median(each);
  const auto& measured = values[model::kQueuedTime];
  const bool has_all = !measured.empty() && measured.size() == benchmark.repetitions.size();
  const auto queued = queued_ns(
      benchmark, has_all ? std::optional(stats::median(measured)) : std::nullopt, process);
  medians.erase(model::kQueuedTime);
  if (queued) medians[model::kQueuedTime] = *queued;
  return medians;
}

/// The next block of a trial that ends only with its budget or its number of blocks.
NextBlock whole_block(const model::PairedTrial& trial) {
  const bool may_go_on = verdict::complete_blocks(trial) < model::most_blocks(trial.setup);
  return {.benchmarks = may_go_on ? trial.setup.benchmarks : Strings(),
          .seconds = verdict::seconds_of_a_block(trial)};
}

/// The reason not to begin the next block, if there is one.
std::optional<model::TrialEnd> end_of(const model::PairedTrial& trial, const NextBlock& next,
                                      double budget_s, bool ends_when_decided) {
  if (next.all_are_decided) return model::TrialEnd::decided;
  if (next.benchmarks.empty()) return model::TrialEnd::blocks;
  if (verdict::spent_s(trial) + next.seconds > budget_s) return model::TrialEnd::budget;
  const int blocks = verdict::complete_blocks(trial);
  if (ends_when_decided && trial.setup.max_blocks > blocks && next.seconds > 0) {
    const double left_s = budget_s - verdict::spent_s(trial);
    const int in_all = blocks > 0 ? verdict::blocks_within(trial, budget_s)
                                  : static_cast<int>(std::min(left_s / next.seconds, 1e6));
    // Nothing can fail in the remaining time, so it is better spent on a trial that has enough.
    if (in_all < trial.setup.max_blocks && !verdict::reach_of(trial, in_all).can_fail()) {
      return model::TrialEnd::budget;
    }
  }
  return std::nullopt;
}

/// Restricts the request to these benchmarks.
void ask_for(const Strings& benchmarks, const model::PairedTrial& trial, SampleRequest& request) {
  request.benchmarks = benchmarks;
  request.iterations.clear();
  for (const auto& [name, count] : trial.setup.iterations) {
    if (contains(benchmarks, name)) request.iterations.emplace(name, count);
  }
}

/// The programs of both sides in all of their layouts, which take turns in the blocks.
struct Turns {
  std::vector<Program> base;
  std::vector<Program> head;
};

std::vector<Program> turns_of(const Program& program, const Strings& layouts) {
  if (layouts.empty()) return {program};
  return each_of(layouts, [&](const std::string& layout) { return program.in(layout); });
}

std::set<std::string> counters_in(const model::Case& benchmark) {
  std::set<std::string> names;
  for (const auto& repetition : benchmark.repetitions) {
    for (const auto& [name, value] : repetition.counters) names.insert(name);
  }
  return names;
}

/// Takes the direction of improvement from the programs, if they state it and the user has not.
void set_direction(const Exploration& found, model::JudgedMetric& metric) {
  if (metric.direction_is_given) return;
  std::set<bool> said;
  for (const model::Run* run : {&found.base, &found.head}) {
    if (const auto* of = model::find_in(run->more_is_better, metric.name)) {
      said.insert(of->begin(), of->end());
    }
  }
  if (said.empty()) return;
  if (said.size() > 1) {
    throw ProgramError(fmt::format(
        "--judge: the programs say both that more '{}' is better and that less is: give more:{} or "
        "less:{}",
        metric.name, metric.name, metric.name));
  }
  metric.more_is_better = *said.begin();
  if (metric.more_is_better && metric.delta >= 1) {
    throw ProgramError(fmt::format(
        "--judge: the program says that more '{}' is better, which cannot fall by {:g} %: give "
        "less than 100 %, or less:{}",
        metric.name, 100 * metric.delta, metric.name));
  }
}

/// Finds the benchmarks of both sides that report the metrics to be judged.
void find_judged(const Exploration& found, model::PairedSetup& setup) {
  std::set<std::string> known;
  for (model::JudgedMetric& each : setup.judged) each.of.clear();
  for (const auto& benchmark : found.base.cases) {
    const auto* const other =
        model::element_of(found.head.cases, benchmark.name, &model::Case::name);
    if (other == nullptr) continue;
    const std::set<std::string> of_head = counters_in(*other);
    for (const std::string& counter : counters_in(benchmark)) {
      if (!of_head.contains(counter)) continue;
      known.insert(counter);
      const auto metric = std::ranges::find(setup.judged, counter, &model::JudgedMetric::name);
      if (metric == setup.judged.end()) continue;
      metric->of.insert(benchmark.name);
      set_direction(found, *metric);
    }
  }
  for (const model::JudgedMetric& each : setup.judged) {
    if (!each.of.empty() || setup.benchmarks.empty()) continue;
    throw ProgramError("--judge: " +
                       (known.empty() ? fmt::format("no benchmark reports anything but times, so "
                                                    "'{}' cannot be judged",
                                                    each.name)
                                      : unknown_name("metric", each.name, known)));
  }
}

}  // namespace

void explore(const TrialPrograms& programs, const Strings& chosen, const Bench& bench,
             model::PairedSetup& setup, const std::function<void(double elapsed_s)>& waiting) {
  const auto start = Clock::now();
  SampleRequest request = request_of(setup, bench.timeout_s);
  request.families = chosen;
  const bool shares_iterations =
      programs.base.kind().takes_iterations() && programs.head.kind().takes_iterations();
  // Iterations are determined in runs as long as those that count.
  if (setup.fits_budget && !shares_iterations) request.min_time_s = kShortest_s;
  request.waiting = [&](double) {
    if (waiting) waiting(seconds_since(start));
  };
  std::optional<Exploration> found;
  try {
    found = run_both(programs, request, bench);
  } catch (const SideError&) {
    // A program may treat it as a failure if none of its benchmarks is selected.
    if (chosen.empty() || bench.stop.stop_requested()) throw;
  }
  if (!found || !found->has_all(chosen)) {  // run all, to see which names match
    request.families.clear();
    found = run_both(programs, request, bench);
  }
  sort_as_listed(programs.base, found->base);
  setup.explored_s = seconds_since(start);
  setup.failing_in_base = found->failing;
  setup.left_out = found->left_out;
  setup.benchmarks.clear();
  setup.cpu_time_of.clear();
  setup.noise_floors.clear();
  for (const auto& benchmark : found->base.cases) {
    const std::string& name = benchmark.name;
    const auto* const in_head = model::element_of(found->head.cases, name, &model::Case::name);
    if (in_head == nullptr) {
      setup.only_base.push_back(name);
      continue;
    }
    setup.benchmarks.push_back(name);
    if (const auto floor = floor_of_digits(benchmark, *in_head)) setup.noise_floors[name] = *floor;
    const auto cpu_time = programs.base.kind().cpu_time_of(name);
    if (cpu_time && cpu_time == programs.head.kind().cpu_time_of(name)) {
      setup.cpu_time_of[name] = *cpu_time;
    }
    if (shares_iterations) setup.iterations[name] = benchmark.repetitions.front().iterations;
  }
  for (const auto& benchmark : found->head.cases) {
    if (!has_case(found->base, benchmark.name)) setup.only_head.push_back(benchmark.name);
  }
  find_judged(*found, setup);
  if (setup.benchmarks.empty()) {
    std::string text = "base and head have no benchmark in common; nothing can be compared";
    for (const auto& [name, reason] : setup.left_out) {
      text += fmt::format("; {} is left out: {}", name, reason);
    }
    throw ProgramError(text);
  }
  setup.process_s = cost_of(*found).seconds(setup);
  if (setup.fits_budget) fit_budget(programs, *found, bench, setup);
}

void keep_chosen(const Strings& chosen, model::PairedSetup& setup) {
  // A name that selects only benchmarks that are not compared is not unknown: the report gives the
  // reason for leaving them out.
  Strings judged = chosen;
  std::erase_if(judged, [&](const std::string& name) {
    return !means_any(name, setup.benchmarks) &&
           (means_any(name, setup.left_out, &model::LeftOut::name) ||
            means_any(name, setup.failing_in_base) || means_any(name, setup.only_base) ||
            means_any(name, setup.only_head));
  });
  if (judged.empty() && !chosen.empty()) {
    throw ProgramError(
        "nothing that --workload names can be compared: it is left out, or only one side has it");
  }
  setup.benchmarks = chosen_benchmarks(judged, setup.benchmarks);

  const auto unwanted = [&](const std::string& name) { return !is_chosen(chosen, name); };
  for (Strings* names : {&setup.only_base, &setup.only_head, &setup.failing_in_base}) {
    std::erase_if(*names, unwanted);
  }
  std::erase_if(setup.left_out, [&](const model::LeftOut& each) { return unwanted(each.name); });
  const auto is_unwanted = [&](const auto& entry) { return unwanted(entry.first); };
  std::erase_if(setup.iterations, is_unwanted);
  std::erase_if(setup.cpu_time_of, is_unwanted);
  std::erase_if(setup.noise_floors, is_unwanted);
  for (model::JudgedMetric& each : setup.judged) std::erase_if(each.of, unwanted);
}

std::string failing_benchmark(const TrialPrograms& programs, Side side,
                              const model::PairedSetup& setup, const Bench& bench) {
  constexpr double kPatience_s = 60;
  const auto start = Clock::now();
  SampleRequest request = request_of(setup, std::min(bench.timeout_s, kPatience_s));
  request.repetitions = 1;
  request.iterations.clear();  // they may name other benchmarks
  /// The results of a side; empty if it fails.
  const auto run = [&](Side which) -> std::optional<model::Run> {
    try {
      return measure_once(of(programs, which), request, bench);
    } catch (const ProgramError&) {
      return std::nullopt;
    }
  };
  Strings names = setup.benchmarks;
  if (names.empty()) {  // it failed before listing them: use the other side's
    const auto result = run(side == Side::base ? Side::head : Side::base);
    if (!result) return {};
    names = each_of(result->cases, &model::Case::name);
  }
  Strings failing;
  for (const std::string& name : names) {
    request.benchmarks = {name};
    if (!run(side)) failing.push_back(name);
    if (bench.stop.stop_requested()) return {};
    if (seconds_since(start) > kPatience_s) return {};
  }
  const bool in_every_one = failing.size() == names.size() && names.size() > 1;
  return failing.empty() || in_every_one ? std::string() : failing.front();
}

void run_trial(const TrialPrograms& programs, const Bench& bench, double budget_s,
               bool ends_when_decided, const std::function<void()>& progress, LineFile& journal,
               model::PairedTrial& trial) {
  SampleRequest request = request_of(trial.setup, bench.timeout_s);
  if (!trial.samples.empty()) {
    const auto name_of_time = [](const auto& time) { return time.first; };
    ask_for(each_of(trial.samples.back().real_ns, name_of_time), trial, request);
  }
  const Turns turns{turns_of(programs.base, trial.setup.base.layouts),
                    turns_of(programs.head, trial.setup.head.layouts)};
  auto begun = Clock::now();
  while (!trial.end && !bench.is_over()) {
    const auto done = static_cast<int>(trial.samples.size());
    model::ProcessSample sample;
    sample.block = done / model::kBlockSize;
    sample.position = done % model::kBlockSize;
    const int planned = model::planned_block(trial.setup, sample.block);
    const auto layout_of = [&](Side side) {
      return layout_of_block(trial.setup.seed, planned, of(turns, side).size());
    };
    const auto turn_of = [&](Side side) -> const Program& {
      return of(turns, side)[layout_of(side)];
    };
    if (sample.position == 0) {
      const NextBlock next = ends_when_decided ? next_block(trial, budget_s) : whole_block(trial);
      trial.end = end_of(trial, next, budget_s, ends_when_decided);
      if (trial.end) return journal.append(json::journal_line(*trial.end));
      ask_for(next.benchmarks, trial, request);
      // The place of an executable in memory can change its times by several per cent, and stays
      // the same until it is read from the disk again.
      for (const Side side : kBothSides) place_anew(turn_of(side).executable());
    }
    const auto drawn = block_plan(trial.setup.seed, planned);
    sample.side = drawn.sides[static_cast<std::size_t>(sample.position)];
    sample.layout = static_cast<int>(layout_of(sample.side));
    progress();
    const auto measured = of_side(
        sample.side, [&] { return measure_next(turn_of(sample.side), request, drawn, bench); });
    if (!measured) return;
    sample.took_s = seconds_since(std::exchange(begun, Clock::now()));
    sample.machine = measured->machine;
    sample.real_ns = measured->real_ns;
    for (const auto& benchmark : measured->result.cases) {
      sample.counters[benchmark.name] = counters_of(benchmark, *measured);
    }
    journal.append(json::journal_line(sample));
    trial.samples.push_back(std::move(sample));
  }
}

}  // namespace taskbench::harness
