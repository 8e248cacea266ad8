#include "cli/options/run_plan.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "harness/files/near_miss.hpp"
#include "harness/os/system_file.hpp"
#include "harness/programs/measured_process.hpp"
#include "harness/programs/program.hpp"
#include "reports/render/columns.hpp"

namespace taskbench::cli {
namespace {

using workloads::Parameter;
using workloads::ParameterValues;
using workloads::Workload;
using Chosen = std::span<const Workload* const>;

constexpr double kMinRepetitionS = 0.01;      // when fitted to a time budget
constexpr double kLoadedS = 10;               // default of a run of a load program
constexpr double kMaxMeasuringS = 24 * 3600;  // a longer run is a typing error

/// The named workloads, or all that can run here; `left_out` receives the reasons why others
/// cannot. With a `loader`, only workloads that it can load.
std::vector<const Workload*> choose_workloads(const Strings& names, const Loader* loader,
                                              Strings& left_out) {
  std::vector<const Workload*> chosen;
  for (const std::string& name : names) {
    const Workload* workload = find_row("", "workload", workloads::all(), name);
    if (contains(chosen, workload)) refuse("workload '{}' is given twice", name);
    if (loader != nullptr && workload->make_loaded == nullptr) {
      refuse("--load: {} cannot load '{}'; leave the name out for what it can", loader->name, name);
    }
    chosen.push_back(workload);
  }
  if (chosen.empty()) {
    for (const Workload& workload : workloads::all()) {
      if (loader != nullptr && workload.make_loaded == nullptr) continue;
      const std::string why_not = workload.why_not == nullptr ? "" : workload.why_not();
      if (why_not.empty()) {
        chosen.push_back(&workload);
      } else {
        left_out.push_back(fmt::format("{}: {}", workload.name, why_not));
      }
    }
  }
  return chosen;
}

struct Pairing {
  const Scheduler* scheduler;
  unsigned workers;
};

/// Every scheduler with every worker count that it can have; the default count is that of the CPUs.
/// Impossible pairs go to `left_out`. Throws UsageError if no pair is possible.
std::vector<Pairing> pairings(std::span<const Scheduler* const> schedulers,
                              std::vector<unsigned> counts, unsigned cpus, Strings& left_out) {
  const bool asked_for = !counts.empty();
  if (!asked_for) counts.push_back(std::clamp(cpus, 1U, rt::kMostWorkers));
  std::vector<Pairing> possible;
  for (const Scheduler* scheduler : schedulers) {
    if (scheduler->single_worker && !asked_for) {
      possible.push_back({scheduler, 1});
      continue;
    }
    std::vector<unsigned> impossible;
    for (const unsigned count : counts) {
      if (scheduler->single_worker && count != 1) {
        impossible.push_back(count);
      } else {
        possible.push_back({scheduler, count});
      }
    }
    if (impossible.empty()) continue;
    left_out.push_back(fmt::format("{} with {} workers: it has only one", scheduler->name,
                                   fmt::join(impossible, ", ")));
  }
  if (possible.empty()) {
    refuse(
        "--workers: scheduler '{}' has one worker and cannot have {}; give --workers 1 or leave "
        "--workers out",
        schedulers.front()->name, counts.front());
  }
  return possible;
}

/// Refuses too many cases or workers before anything is started.
void check_extent(std::span<const Case> all) {
  const std::uint64_t cases = all.size();
  std::uint64_t workers = 0;
  for (const Case& each : all) workers += each.workers;
  if (cases > kMaxCases) {
    refuse(
        "these are {} cases (workloads × schedulers × worker counts); the limit is {}: "
        "give fewer --workers, or choose some by --filter",
        cases, kMaxCases);
  }
  if (workers > kMaxWorkersInAll) {
    refuse(
        "these cases have {} workers in all, each a thread, and all exist at once; the "
        "limit is {}: give fewer --workers, or measure the cases in several runs",
        workers, kMaxWorkersInAll);
  }
}

// --param NAME=VALUE and --param WORKLOAD.NAME=VALUE.

struct Assignment {
  std::string_view workload{};  // empty: every workload that has the parameter
  std::string_view name;
  std::string_view value;

  [[nodiscard]] std::string target() const {
    return workload.empty() ? std::string(name) : fmt::format("{}.{}", workload, name);
  }
};

Assignment parse_assignment(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view target = text.substr(0, equals);
  const std::size_t dot = target.find('.');
  Assignment result{.name = target, .value = text.substr(std::min(equals + 1, text.size()))};
  if (dot != std::string_view::npos) {
    result.workload = target.substr(0, dot);
    result.name = target.substr(dot + 1);
  }
  if (result.name.empty() || result.value.empty() || dot == 0) {
    refuse("--param: '{}' is not of the form NAME=VALUE or WORKLOAD.NAME=VALUE", text);
  }
  return result;
}

const Parameter* find_parameter(const Workload& workload, std::string_view name) {
  return model::element_of(workload.parameters, name, &Parameter::name);
}

std::vector<std::string_view> parameter_names(Chosen chosen) {
  std::vector<std::string_view> names;
  for (const Workload* workload : chosen) {
    for (const Parameter& parameter : workload->parameters) {
      if (!contains(names, parameter.name)) names.push_back(parameter.name);
    }
  }
  return names;
}

void check_scoped(const Assignment& assignment, Chosen chosen) {
  const Workload* workload = find_row("--param", "workload", workloads::all(), assignment.workload);
  if (find_parameter(*workload, assignment.name) == nullptr) {
    const auto kind = fmt::format("parameter of {}", workload->name);
    const Workload* const only[] = {workload};
    refuse("--param: {}", unknown_name(kind, assignment.name, parameter_names(only)));
  }
  if (!contains(chosen, workload)) {
    refuse("--param: '{}' is for a workload that is not run; add {} to the workloads",
           assignment.target(), workload->name);
  }
}

void check_plain(const Assignment& assignment, Chosen chosen) {
  const auto has = [&](const Workload* workload) {
    return find_parameter(*workload, assignment.name) != nullptr;
  };
  if (std::ranges::any_of(chosen, has)) return;
  std::vector<std::string_view> elsewhere;
  for (const Workload& workload : workloads::all()) {
    if (has(&workload)) elsewhere.push_back(workload.name);
  }
  if (!elsewhere.empty()) {
    refuse("--param: no workload of this run has a parameter '{}'; {} {}", assignment.name,
           fmt::join(elsewhere, ", "), elsewhere.size() == 1 ? "has" : "have");
  }
  refuse("--param: {}", unknown_name("parameter", assignment.name, parameter_names(chosen)));
}

/// Unscoped assignments before scoped ones.
std::vector<Assignment> parse_assignments(const Strings& texts, Chosen chosen) {
  std::vector<Assignment> assignments;
  for (const std::string& text : texts) {
    const Assignment assignment = parse_assignment(text);
    if (contains(assignments, assignment.target(), &Assignment::target)) {
      refuse("--param: '{}' is given twice", assignment.target());
    }
    if (assignment.workload.empty()) {
      check_plain(assignment, chosen);
    } else {
      check_scoped(assignment, chosen);
    }
    assignments.push_back(assignment);
  }
  std::ranges::stable_partition(assignments,
                                [](const Assignment& each) { return each.workload.empty(); });
  return assignments;
}

/// The parameters of every workload of `chosen`, in that order: the defaults, overridden by the
/// unscoped assignments, overridden by the scoped ones. Throws UsageError for an assignment that is
/// ill-formed, given twice, out of range, or for no chosen workload.
std::vector<ParameterValues> parse_parameters(Chosen chosen, const Strings& assignments) {
  const std::vector<Assignment> parsed = parse_assignments(assignments, chosen);
  return each_of(chosen, [&](const Workload* workload) {
    ParameterValues values = workloads::defaults(*workload);
    for (const auto& [only_of, name, value] : parsed) {
      const Parameter* parameter = find_parameter(*workload, name);
      if (parameter == nullptr || (!only_of.empty() && only_of != workload->name)) continue;
      const auto label = fmt::format("--param {}.{}", workload->name, name);
      values.insert_or_assign(std::string(name),
                              parse_whole_number(label, value, parameter->min, parameter->max));
    }
    return values;
  });
}

std::vector<Case> all_cases(Chosen chosen, const Strings& assignments,
                            std::span<const Pairing> paired) {
  const auto values = parse_parameters(chosen, assignments);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const Pairing& each : paired) {
      cases.push_back({chosen[i], each.scheduler, each.workers, values[i]});
    }
  }
  return cases;
}

/// The error in the pattern, and its place.
std::string why_no_expression(const RE2& expression) {
  std::string reason = expression.error();  // ends in ": " and error_arg()
  const std::string& culprit = expression.error_arg();
  if (!culprit.empty() && reason.ends_with(culprit)) {
    reason.resize(reason.size() - culprit.size());
    reason.resize(reason.find_last_not_of(": ") + 1);
  }
  const auto at = expression.pattern().find(culprit);
  const bool is_part = !culprit.empty() && culprit != expression.pattern();
  if (!is_part || at == std::string::npos) return reason;
  return fmt::format("{}: '{}', at byte {}", reason, shortened(culprit), at + 1);
}

/// Keeps the cases, commands or benchmarks whose names match.
template <class Named, class NameOf>
void keep_matching(const std::optional<std::string>& filter, NameOf name_of,
                   std::vector<Named>& cases) {
  if (!filter) return;
  const std::string& pattern = *filter;
  constexpr std::int64_t kMaxExpressionBytes = 64 << 20;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxExpressionBytes);
  const RE2 expression(pattern, options);
  if (!expression.ok()) {
    refuse("--filter: '{}' is not a regular expression: {}", shortened(pattern),
           why_no_expression(expression));
  }
  std::vector<Named> kept = cases;
  std::erase_if(kept, [&](const Named& each) {
    return !RE2::PartialMatch(std::invoke(name_of, each), expression);
  });
  if (kept.empty()) {
    refuse("--filter: '{}' matches none of the {} cases; the first is '{}'", shortened(pattern),
           cases.size(), std::invoke(name_of, cases.front()));
  }
  cases = std::move(kept);
}

void plan_time(const std::optional<double>& min_time_s, RunPlan& plan) {
  Settings& settings = plan.settings;
  const std::size_t case_count = plan.cases.size() + plan.commands.size();
  if (static_cast<std::uint64_t>(settings.repetitions) * case_count > kMaxRepetitionsInAll) {
    refuse("--repetitions: {} of {} cases are more than {} in all; give fewer",
           settings.repetitions, case_count, kMaxRepetitionsInAll);
  }
  const auto repetitions =
      static_cast<double>(settings.repetitions) * static_cast<double>(case_count);
  if (settings.time_budget_s) {
    const double least_s = repetitions * kMinRepetitionS;
    if (*settings.time_budget_s >= least_s) return;
    refuse(
        "--time-budget: {} is too short for {} repetitions of {} cases; give at least {}, or ask "
        "for less",
        duration_limit_text(*settings.time_budget_s), settings.repetitions, case_count,
        duration_limit_text(least_s));
  }
  if (min_time_s) {
    settings.min_time_s = *min_time_s;
    settings.warmup_s = std::min(settings.warmup_s, settings.min_time_s);
  }
  const double measuring_s = repetitions * settings.min_time_s;
  if (measuring_s > kMaxMeasuringS) {
    refuse("{} repetitions of {} cases at --min-time {} take {}; the limit is {}",
           settings.repetitions, case_count, duration_limit_text(settings.min_time_s),
           duration_limit_text(measuring_s), duration_limit_text(kMaxMeasuringS));
  }
}

/// Plans a run with a load generator. One run of the loader is a repetition.
void plan_load(const RunArguments& arguments, RunPlan& plan) {
  if (arguments.loader == nullptr) return;
  const double seconds = arguments.min_time_s.value_or(kLoadedS);
  if (seconds < 1 || std::floor(seconds) != seconds) {
    refuse("--min-time: {} takes whole seconds, not {}", arguments.loader->name,
           duration_limit_text(seconds));
  }
  plan.settings.min_time_s = seconds;
  plan.settings.warmup_s = 0;
  for (Case& each : plan.cases) {
    each.load = {.name = arguments.loader->name,
                 .version = {},
                 .seconds = static_cast<unsigned>(seconds),
                 .run = arguments.loader->run};
  }
}

void check_iterations(const RunPlan& plan) {
  Strings names = each_of(plan.cases, &Case::name);
  for (const TimedCommand& each : plan.commands) names.push_back(each.name);
  for (const auto& [name, count] : plan.settings.iterations) {
    if (!contains(names, name)) refuse("--iterations: {}", unknown_name("case", name, names));
  }
}

void check_pinning(const RunPlan& plan, unsigned cpus) {
  if (!plan.settings.pin) return;
  for (const Case& each : plan.cases) {
    if (each.workers > cpus) {
      refuse(
          "--pin gives every worker a CPU of its own, but this process may use {} and "
          "{} workers are asked for",
          cpus, each.workers);
    }
  }
}

bool is_assignment(const std::string& word) { return word.find('=') != std::string::npos; }

/// NAME and VALUE of "{NAME}" in a command.
using Substitution = std::pair<std::string, std::string>;

/// --param NAME=VALUE[,VALUE...] for commands.
struct Placeholder {
  std::string name;
  Strings values;
};

/// The placeholder for a value in a command: "{NAME}".
std::string place_of(const std::string& name) { return fmt::format("{{{}}}", name); }

std::vector<Placeholder> parse_placeholders(const Strings& given) {
  std::vector<Placeholder> placeholders;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      refuse("--param '{}' is not NAME=VALUE[,VALUE...]", text);
    }
    Placeholder one{text.substr(0, equals), parse_list("--param", {text.substr(equals + 1)})};
    if (contains(placeholders, one.name, &Placeholder::name)) {
      refuse("--param: {} is given twice", one.name);
    }
    placeholders.push_back(std::move(one));
  }
  return placeholders;
}

/// Every combination of the values of the placeholders in `text`.
std::vector<std::vector<Substitution>> combinations(const std::vector<Placeholder>& placeholders,
                                                    const std::string& text) {
  std::vector<std::vector<Substitution>> result(1);
  for (const auto& [name, values] : placeholders) {
    if (text.find(place_of(name)) == std::string::npos) continue;
    std::vector<std::vector<Substitution>> more;
    for (const auto& each : result) {
      for (const std::string& value : values) {
        more.push_back(each);
        more.back().emplace_back(name, value);
      }
    }
    if (more.size() > kMaxCases) refuse("--param: at most {} commands", kMaxCases);
    result = std::move(more);
  }
  return result;
}

std::string replaced(std::string text, const std::vector<Substitution>& by) {
  for (const auto& [name, value] : by) text = render::replaced(text, place_of(name), value);
  return text;
}

Strings words_in(std::string_view option, const std::string& text) {
  try {
    return split_command(text);
  } catch (const std::invalid_argument& error) {
    refuse("{} '{}': {}", option, shortened(text), error.what());
  }
}

constexpr std::string_view kOfNames =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/";

/// Refuses "my sort=sort big.txt", which would run a program 'my', unless that program exists or
/// the words before the = look like a command.
void refuse_name_with_space(const std::string& text) {
  const std::size_t end = text.find_first_not_of(std::string(kOfNames) + ' ');
  if (end == std::string::npos || text[end] != '=') return;
  std::string name = text.substr(0, end);
  const std::string first = name.substr(0, name.find(' '));
  if (first == name || first.empty() || name.find(" -") != std::string::npos) return;
  if (!harness::is_looked_up(first) || !harness::executable_of({first}).empty()) return;
  std::ranges::replace(name, ' ', '-');
  refuse("--command '{}': there is no program '{}'; a name cannot contain spaces: write {}='...'",
         shortened(text), first, name);
}

/// The commands of "NAME=COMMAND", or of a command, which is then its own name: one for each
/// combination of its parameters.
std::vector<TimedCommand> parse_command(const RunArguments& arguments, const std::string& text,
                                        const std::vector<Placeholder>& placeholders) {
  const std::size_t end = text.find_first_not_of(kOfNames);
  const bool has_name = end != std::string::npos && end > 0 && text[end] == '=';
  refuse_name_with_space(text);
  const std::string name = text.substr(0, has_name ? end : std::string::npos);
  const std::string command = text.substr(has_name ? end + 1 : 0);
  std::vector<TimedCommand> commands;
  for (const auto& by : combinations(placeholders, command)) {
    const auto beside = [&](std::string_view option, const std::string& given) {
      return given.empty() ? Strings() : words_in(option, replaced(given, by));
    };
    TimedCommand one{.name = has_name ? name : replaced(name, by),
                     .words = words_in("--command", replaced(command, by)),
                     .setup = beside("--setup", arguments.setup),
                     .prepare = beside("--prepare", arguments.prepare),
                     .conclude = beside("--conclude", arguments.conclude),
                     .may_fail = arguments.may_fail,
                     .timeout_s = arguments.timeout_s};
    if (!arguments.input.empty()) one.input = replaced(arguments.input.string(), by);
    if (!arguments.output.empty()) one.output = replaced(arguments.output.string(), by);
    if (one.output == "inherit") one.output.clear();
    if (has_name) {
      for (const auto& [parameter, value] : by) one.name += fmt::format("/{}:{}", parameter, value);
    }
    commands.push_back(std::move(one));
  }
  return commands;
}

RunPlan plan_commands(const RunArguments& arguments) {
  const std::vector<Placeholder> placeholders = parse_placeholders(arguments.parameters);
  for (const auto& [name, values] : placeholders) {
    const std::string place = place_of(name);
    const auto has = [&](const std::string& text) { return text.find(place) != text.npos; };
    if (std::ranges::none_of(arguments.commands, has)) refuse("--param: no command has {}", place);
  }
  RunPlan plan = arguments.plan;
  for (const std::string& text : arguments.commands) {
    for (TimedCommand& command : parse_command(arguments, text, placeholders)) {
      if (contains(plan.commands, command.name, &TimedCommand::name)) {
        refuse("--command: '{}' is given twice; give each a name, as in NAME='{}'",
               shortened(command.name), shortened(text));
      }
      plan.commands.push_back(std::move(command));
    }
  }
  keep_matching(arguments.filter, &TimedCommand::name, plan.commands);
  if (plan.commands.size() > kMaxCases) refuse("--command: at most {} commands", kMaxCases);
  if (!plan.counters.requests.empty()) {
    refuse("--counters of a --command: only {} can be counted; `perf stat CMD` counts the others",
           model::kInstructionsExact);
  }
  plan_time(arguments.min_time_s, plan);
  check_iterations(plan);
  return plan;
}

RunPlan plan_program(const RunArguments& arguments) {
  RunPlan plan = arguments.plan;
  ProgramRun& program = plan.program.emplace(arguments.program);
  model::Sampling& sampling = program.sampling;
  if (arguments.repetitions_are_given) sampling.repetitions = plan.settings.repetitions;
  sampling.min_time_s = arguments.min_time_s.value_or(sampling.min_time_s);
  sampling.seed = plan.settings.seed;
  if (arguments.timeout_s > 0) program.timeout_s = arguments.timeout_s;
  program.choose = [given = arguments.benchmarks, filter = arguments.filter](const Strings& names) {
    Strings chosen = chosen_benchmarks(benchmark_names(given, names), names);
    keep_matching(filter, std::identity{}, chosen);
    return chosen;
  };
  return plan;
}

/// The workloads named by the words, which may each contain several with commas between them.
Strings names_in(const Strings& words) {
  Strings names;
  for (const std::string& word : words) {
    if (is_assignment(word)) continue;
    for (const std::string_view name : parts_of(word, ',')) names.emplace_back(name);
  }
  return names;
}

}  // namespace

RunPlan plan_run(const RunArguments& arguments, unsigned cpus) {
  if (!arguments.program.command.empty()) return plan_program(arguments);
  if (!arguments.commands.empty()) return plan_commands(arguments);
  if (arguments.timeout_s > 0) refuse("--timeout requires --command or --program");
  Strings assignments = arguments.parameters;
  std::ranges::copy_if(arguments.words, std::back_inserter(assignments), is_assignment);
  RunPlan plan = arguments.plan;
  const auto chosen = choose_workloads(names_in(arguments.words), arguments.loader, plan.left_out);
  const auto paired = pairings(arguments.schedulers, arguments.workers, cpus, plan.left_out);
  plan.cases = all_cases(chosen, assignments, paired);
  plan_load(arguments, plan);
  keep_matching(arguments.filter, &Case::name, plan.cases);
  check_extent(plan.cases);
  plan_time(arguments.min_time_s, plan);
  check_iterations(plan);
  check_pinning(plan, cpus);
  return plan;
}

RunPlan plan_one_case(const RunArguments& arguments, unsigned cpus, std::string_view noun) {
  const std::size_t named = names_in(arguments.words).size();
  if (named == 0) refuse("name a workload: {}", fmt::join(row_names(workloads::all()), ", "));
  if (named > 1) refuse("give one WORKLOAD only: a {} is of one case", noun);
  RunPlan plan = plan_run(arguments, cpus);
  if (plan.cases.size() == 1 && plan.left_out.empty()) return plan;
  refuse("give one scheduler and one worker count only: a {} is of one case", noun);
}

void declare_one_case(Options& options, RunArguments& arguments, std::string_view verb) {
  options.group(fmt::format("What to {}", verb));
  options.value("WORKLOAD", arguments.words, "WORKLOAD",
                AsGiven{{OptionValues::Kind::one_of, row_names(workloads::all())}},
                fmt::format("What to {}; `taskbench list` shows them.", verb));
  options.value("--scheduler", arguments.schedulers, "NAME",
                Choices<Scheduler>{"scheduler", schedulers_and_rungs(), OptionValues::Kind::one_of},
                fmt::format("Scheduler to run it on: {}; or a rung of `taskbench ladder`.",
                            fmt::join(row_names(schedulers()), ", ")));
  options
      .value("--workers", arguments.workers, "N", Numbers{1, rt::kMostWorkers},
             fmt::format("Workers, up to {}.", rt::kMostWorkers))
      ->default_str("the CPUs that this process may use");
  options.value("--param", arguments.parameters, "NAME=VALUE", AsGiven{offered_parameters()},
                "Set a parameter of the workload. May be repeated. `taskbench list parameters` "
                "shows them.");
}

OptionValues offered_parameters() {
  OptionValues offered{OptionValues::Kind::assignment, {}};
  for (const Workload& workload : workloads::all()) {
    for (const auto& parameter : workload.parameters) {
      offered.names.push_back(fmt::format("{}.{}", workload.name, parameter.name));
    }
  }
  return offered;
}

std::vector<PlantedDelay> parse_plants(std::string_view option, const Strings& given) {
  std::vector<PlantedDelay> planted;
  for (const std::string& each : given) {
    const auto equals = each.find('=');
    const std::string_view site = std::string_view(each).substr(0, equals);
    const auto found = std::ranges::find(rt::kDelaySites, site);
    if (found == rt::kDelaySites.end()) {
      refuse("{}: {}", option, unknown_name("place", site, rt::kDelaySites));
    }
    const auto ns = number<double>(equals == std::string::npos ? "" : each.substr(equals + 1));
    if (!ns || !(*ns >= 0 && *ns <= rt::kMaxPlantedDelay_ns)) {
      refuse("{}: '{}' does not say PLACE=NS, with 0 to {} ns", option, each,
             rt::kMaxPlantedDelay_ns);
    }
    planted.push_back({static_cast<rt::DelaySite>(found - rt::kDelaySites.begin()), *ns});
  }
  return planted;
}

std::map<std::string, std::int64_t> parse_iterations(std::string_view option,
                                                     const Strings& given) {
  std::map<std::string, std::int64_t> iterations;
  for (const std::string& text : given) {
    const auto equals = text.rfind('=');
    if (equals == std::string::npos) refuse("{}: '{}' is not CASE=N", option, text);
    const std::string name = text.substr(0, equals);
    const auto count = parse_whole_number(option, text.substr(equals + 1), 1, kMaxIterations);
    if (!iterations.emplace(name, static_cast<std::int64_t>(count)).second) {
      refuse("{}: '{}' is given twice", option, name);
    }
  }
  return iterations;
}

}  // namespace taskbench::cli
