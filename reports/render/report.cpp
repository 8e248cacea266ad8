// A report's frame: its basis, warnings to the reader, and the environment of the measurements.
#include "reports/render/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "reports/model/date.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/sentences.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::render {
namespace {

using Results = std::vector<const NamedResult*>;

constexpr std::size_t kMostListedFailures = 20;
constexpr std::size_t kMostCommands = 20;
constexpr std::size_t kUnfoldedInputs = 12;

/// Sorts results, the oldest first; those without a date come first, in their own order.
Results in_order_of_time(const std::vector<NamedResult>& results) {
  Results order = pointers_to(results);
  // An empty optional is less than any other.
  std::ranges::stable_sort(order, {}, [](const NamedResult* each) {
    return model::instant_of(each->file.environment.date);
  });
  return order;
}

/// The basis of the report, in one or two sentences.
std::string lead_of(const ReportInputs& inputs, const Results& in_order, std::size_t benchmarks) {
  std::string text;
  if (!in_order.empty()) {
    const model::Run& newest = in_order.back()->file;
    text = fmt::format("{} of {}", counted(benchmarks, "benchmark"),
                       counted(in_order.size(), "result"));
    if (!newest.environment.date.empty()) {
      text += fmt::format(", {}measured {}", in_order.size() == 1 ? "" : "the newest ",
                          model::day_of(newest.environment.date));
    }
    text += fmt::format(" on {}", machine_of(newest));
    const std::string commit = short_commit(newest);
    text += commit.empty() ? "." : fmt::format(", commit {}.", commit);
  }
  if (!inputs.comparisons.empty()) {
    text += fmt::format("{}{} of two programs.", text.empty() ? "" : " ",
                        counted(inputs.comparisons.size(), "comparison"));
  }
  return text;
}

bool is_busy(const model::Run& file) {
  constexpr double kBusyShare = 0.5;
  const auto& [load, cpus] = std::pair{file.environment.load_avg, file.environment.cpu_count};
  return !load.empty() && cpus > 0 && load.front() > kBusyShare * static_cast<double>(cpus);
}

struct Doubt {
  bool (*applies)(const model::Run& file);
  std::string_view what;
};
constexpr std::array<Doubt, 5> kDoubts{{
    {[](const model::Run& file) { return file.environment.build_type == "Debug"; },
     "of a Debug build: its times say nothing about an optimised one"},
    {[](const model::Run& file) { return file.partial; },
     "of a run that ended early: repetitions are missing"},
    {is_busy, "of a machine that was busy when it began: its load was more than half of its CPUs"},
    {[](const model::Run& file) { return file.environment.cpu_scaling_enabled.value_or(false); },
     "of a machine whose clock rate could change: times of different moments may differ"},
    {[](const model::Run& file) { return file.environment.git_commit.ends_with("-dirty"); },
     "of sources that had been changed since the commit that is named"},
}};

void add_failures(const Results& in_order, std::vector<Paragraph>& list) {
  std::size_t more = 0;
  for (const NamedResult* result : in_order) {
    for (const model::Case& benchmark : result->file.cases) {
      if (benchmark.has_samples()) continue;
      if (list.size() >= kMostListedFailures) {
        ++more;
      } else if (!benchmark.error.empty()) {
        list.push_back(
            {fmt::format("{} failed ({}): {}", benchmark.name, result->path, benchmark.error),
             Tone::bad});
      } else {
        list.push_back(
            {fmt::format("{} has no repetitions in {}{}", benchmark.name, result->path,
                         benchmark.has_aggregates ? ", only means and medians: write it without "
                                                    "--benchmark_report_aggregates_only"
                                                  : ""),
             Tone::doubtful});
      }
    }
  }
  if (more > 0) {
    list.push_back({fmt::format("{} failed or {} no repetitions.", counted(more, "more benchmark"),
                                more == 1 ? "has" : "have"),
                    Tone::bad});
  }
}

/// Adds warnings to the reader.
void add_warnings(const Results& in_order, std::vector<Paragraph>& list) {
  std::vector<Paragraph> failures;
  add_failures(in_order, failures);
  list.insert(list.end(), failures.begin(), failures.end());
  const auto doubt = [&](std::string text) { list.push_back({std::move(text), Tone::doubtful}); };
  for (const auto& [applies, what] : kDoubts) {
    std::vector<std::string> paths;
    for (const NamedResult* each : in_order) {
      if (applies(each->file)) paths.push_back(each->path);
    }
    if (paths.empty()) continue;
    doubt(fmt::format("{} {} {}.", some_of(paths, ", "), paths.size() == 1 ? "is" : "are", what));
  }
  std::vector<std::string> moved;
  InOrder<bool> machines;
  for (const NamedResult* each : in_order) {
    const std::string text = verdict::drift_warning(each->file.drift);
    if (!text.empty()) add(moved, "{}: {}", each->path, text);
  }
  if (!moved.empty()) doubt(some_of(moved, ". ") + ".");
  for (const std::string& machine : machine_labels(in_order)) machines.place_of(machine);
  if (machines.size() > 1) {
    doubt(
        fmt::format("The results come from {} machines or builds. Times of different ones cannot "
                    "be compared: {}.",
                    machines.size(), some_of(machines.names(), "; ")));
  }
}

/// Names and values of the facts known about a result.
using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const model::Run& file) {
  Facts facts;
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty()) facts.emplace_back(name, std::move(value));
  };
  const model::Environment& from = file.environment;
  add("date", from.date);
  add("host", from.host_name);
  add("program", from.executable);
  add("taskbench", from.taskbench_version);
  if (from.cpu_count > 0) add("CPUs", std::to_string(from.cpu_count));
  if (from.cpu_mhz > 0) add("clock rate as reported", fmt::format("{} MHz", from.cpu_mhz));
  if (from.cpu_scaling_enabled.value_or(false)) add("frequency scaling", "enabled");
  if (!from.load_avg.empty()) {
    add("load average at the start", fmt::format("{:g}", fmt::join(from.load_avg, ", ")));
  }
  for (const auto& [key, title, text] : model::kEnvironmentTexts) add(title, from.*text);
  if (!from.benchmark_library_version.empty() || !from.benchmark_library_build_type.empty()) {
    add("Google Benchmark",
        fmt::format("{} {}", from.benchmark_library_version, from.benchmark_library_build_type));
  }
  return facts;
}

/// Facts that determine what can be compared, if results differ in them.
std::vector<Paragraph> differences(const Results& in_order) {
  InOrder<std::vector<std::string>> values;  // for each fact, one value per result
  std::size_t before = 0;
  for (const NamedResult* each : in_order) {
    for (auto& [name, value] : facts_of(each->file)) {
      values[name].resize(before, std::string(kNone));
      values[name].push_back(std::move(value));
    }
    ++before;
  }
  std::vector<Paragraph> list;
  for (const auto& [name, known] : values) {
    if (name == "date" || name == "git commit" || name == "load average at the start") continue;
    InOrder<bool> distinct;
    for (const std::string& value : known) distinct.place_of(value);
    if (known.size() < before) distinct.place_of(kNone);
    if (distinct.size() < 2) continue;
    list.push_back(fmt::format("{}: {}", name, some_of(distinct.names(), "; ")));
  }
  return list;
}

Table inputs_table(const Results& in_order) {
  Table table;
  table.caption = in_order.size() == 1
                      ? std::string("The result that this report is based on")
                      : fmt::format("The {} results that this report is based on", in_order.size());
  table.folded = in_order.size() > kUnfoldedInputs;
  table.columns = {{"result", false},  {"date", false},      {"commit", false},
                   {"machine", false}, {"benchmarks", true}, {"repetitions", true}};
  const std::vector<std::string> labels = machine_labels(in_order);
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const auto& [path, file] = *in_order[i];
    std::size_t repetitions = 0;
    for (const auto& benchmark : file.cases) repetitions += benchmark.repetitions.size();
    table.add({path, or_none(file.environment.date), or_none(short_commit(file)), labels[i],
               std::to_string(file.cases.size()), std::to_string(repetitions)});
  }
  return table;
}

/// The command line as a user would type it.
std::string command_of(const model::Run& file) {
  constexpr std::string_view kBare =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  std::vector<std::string> words = file.settings.command_line;
  for (std::string& word : words) {
    if (!word.empty() && word.find_first_not_of(kBare) == std::string::npos) continue;
    word = fmt::format("'{}'", replaced(word, "'", "'\\''"));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// Where and how the results were measured.
Section environment_section(const Results& in_order, Document& document) {
  SectionWriter section(document, "environment", "Environment");
  Table facts = columns_of({"what", "value"});
  facts.caption = fmt::format("Of the newest result, {}", in_order.back()->path);
  for (const auto& [name, value] : facts_of(in_order.back()->file)) facts.add({name, value});
  if (facts.rows.empty()) {
    section.say("{} does not say where it was measured.", in_order.back()->path);
  } else {
    section.add(std::move(facts));
  }
  if (const auto list = differences(in_order); !list.empty()) {
    section.say("The results differ in:");
    section.add(list);
  }
  section.add(inputs_table(in_order));
  InOrder<bool> distinct;
  for (const NamedResult* each : in_order) {
    if (std::string command = command_of(each->file); !command.empty()) distinct.place_of(command);
  }
  std::vector<std::string> commands = distinct.names();
  if (commands.size() > kMostCommands) {
    commands.resize(kMostCommands);
    add(commands, "… and {} more", distinct.size() - kMostCommands);
  }
  if (!commands.empty()) {
    section.add(Listing{commands.size() == 1 ? "The command line" : "The command lines",
                        fmt::format("{}", fmt::join(commands, "\n"))});
  }
  return section.take();
}

}  // namespace

Document report(const ReportInputs& inputs) {
  const Results in_order = in_order_of_time(inputs.results);
  const auto cases = shown_cases(in_order);
  Document document;
  document.title = "taskbench report";
  document.lead.emplace_back(lead_of(inputs, in_order, cases.size()));
  const auto add = [&](Section section) {
    if (!section.blocks.empty()) document.sections.push_back(std::move(section));
  };
  SectionWriter summary(document, "summary",
                        inputs.comparisons.empty() ? "Warnings" : "Verdicts and warnings");
  std::vector<Paragraph> items;
  for (const auto& [path, file] : inputs.comparisons) {
    const Paragraph outcome = outcome_of(file);
    items.emplace_back(fmt::format("{}: {}", path, outcome.text), outcome.tone);
  }
  add_warnings(in_order, items);
  summary.add(items);
  add(summary.take());
  for (std::size_t i = 0; i < inputs.comparisons.size(); ++i) {
    add(comparison_section(inputs.comparisons[i], i + 1, inputs.comparisons.size() == 1, document));
  }
  if (in_order.empty()) return document;
  if (cases.empty()) {
    add({"results", "Results", {Paragraph{"No result has any repetitions.", Tone::doubtful}}});
  } else {
    add(results_section(cases, document));
    add(workers_section(cases, document));
    add(observed_section(cases, document));
    add(distributions_section(cases, document));
    add(history_section(in_order, cases, document));
    add(counters_section(cases, document));
  }
  add(environment_section(in_order, document));
  return document;
}

}  // namespace taskbench::reports::render
