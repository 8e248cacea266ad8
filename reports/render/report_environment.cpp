#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostShown = 5;
constexpr std::size_t kMostFailures = 20;
constexpr std::size_t kMostCommands = 20;
constexpr std::size_t kUnfoldedInputs = 12;

struct Fact {
  std::string name;
  std::string value;
};

std::vector<Fact> facts_of(const model::Run& file) {
  std::vector<Fact> facts;
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty()) facts.push_back({std::move(name), std::move(value)});
  };
  const model::Environment& from = file.environment;
  add("date", from.date);
  add("host", from.host_name);
  add("program", from.executable);
  add("taskbench", from.taskbench_version);
  if (from.cpu_count > 0) add("CPUs", std::to_string(from.cpu_count));
  if (from.cpu_mhz > 0) add("clock rate as reported", fmt::format("{:g} MHz", from.cpu_mhz));
  if (from.cpu_scaling_enabled.value_or(false)) add("frequency scaling", "enabled");
  if (!from.load_avg.empty()) {
    add("load average at the start", fmt::format("{:g}", fmt::join(from.load_avg, ", ")));
  }
  for (const auto& [key, title, text] : model::kEnvironmentTexts) {
    add(std::string(title), from.*text);
  }
  if (!from.benchmark_library_version.empty() || !from.benchmark_library_build_type.empty()) {
    add("Google Benchmark",
        fmt::format("{} {}", from.benchmark_library_version, from.benchmark_library_build_type));
  }
  return facts;
}

std::string value_of(const std::vector<Fact>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  return found == facts.end() ? std::string(kNone) : found->value;
}

TableBlock facts_table(const NamedResult& newest) {
  TableBlock table;
  table.caption = fmt::format("Of the newest result, {}", newest.path);
  table.columns = {{"what", false}, {"value", false}};
  for (const Fact& fact : facts_of(newest.file)) {
    table.rows.push_back({plain(fact.name), plain(fact.value)});
  }
  return table;
}

/// Facts that decide what can be compared, where results differ in them.
Items differences(const std::vector<const NamedResult*>& in_order) {
  std::vector<std::vector<Fact>> facts;
  for (const NamedResult* each : in_order) facts.push_back(facts_of(each->file));
  std::vector<std::string> names;
  for (const auto& of_result : facts) {
    for (const Fact& fact : of_result) {
      const bool varies_anyway = fact.name == "date" || fact.name == "git commit" ||
                                 fact.name == "load average at the start";
      if (!varies_anyway && std::ranges::find(names, fact.name) == names.end()) {
        names.push_back(fact.name);
      }
    }
  }
  Items list;
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const auto& of_result : facts) {
      std::string value = value_of(of_result, name);
      if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
    }
    if (values.size() < 2) continue;
    const std::size_t more = values.size() > kMostShown ? values.size() - kMostShown : 0;
    values.resize(values.size() - more);
    list.items.push_back(
        plain(fmt::format("{}: {}{}", name, fmt::join(values, "; "),
                          more > 0 ? fmt::format("; and {} more", more) : std::string())));
  }
  return list;
}

TableBlock inputs_table(const std::vector<const NamedResult*>& in_order) {
  TableBlock table;
  table.caption = in_order.size() == 1
                      ? std::string("The result that this report is made of")
                      : fmt::format("The {} results that this report is made of", in_order.size());
  table.folded = in_order.size() > kUnfoldedInputs;
  table.columns = {{"result", false},  {"date", false},      {"commit", false},
                   {"machine", false}, {"benchmarks", true}, {"repetitions", true}};
  const std::vector<std::string> labels = machine_labels(in_order);
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const NamedResult* const each = in_order[i];
    std::size_t repetitions = 0;
    for (const auto& benchmark : each->file.cases) repetitions += benchmark.repetitions.size();
    const std::string commit = short_commit(each->file);
    table.rows.push_back({plain(each->path), plain(or_none(each->file.environment.date)),
                          plain(or_none(commit)), plain(labels[i]),
                          plain(std::to_string(each->file.cases.size())),
                          plain(std::to_string(repetitions))});
  }
  return table;
}

/// As one would type it.
std::string command_of(const model::Run& file) {
  constexpr std::string_view kBare =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  std::string command;
  for (const std::string& word : file.settings.command_line) {
    if (!command.empty()) command += ' ';
    if (!word.empty() && word.find_first_not_of(kBare) == std::string::npos) {
      command += word;
      continue;
    }
    command += '\'';
    for (const char each : word) command += each == '\'' ? "'\\''" : std::string(1, each);
    command += '\'';
  }
  return command;
}

bool is_busy(const model::Run& file) {
  constexpr double kBusyShare = 0.5;
  return !file.environment.load_avg.empty() && file.environment.cpu_count > 0 &&
         file.environment.load_avg.front() >
             kBusyShare * static_cast<double>(file.environment.cpu_count);
}

bool is_dirty(const model::Run& file) { return short_commit(file).ends_with("-dirty"); }

struct Doubt {
  bool (*applies)(const model::Run& file);
  std::string_view what;
};
constexpr std::array<Doubt, 5> kDoubts{{
    {[](const model::Run& file) { return file.environment.build_type == "Debug"; },
     "of a Debug build: its times say nothing about an optimised one"},
    {[](const model::Run& file) { return file.partial; },
     "of a run that was interrupted: repetitions are missing"},
    {is_busy, "of a machine that was busy when it began: its load was more than half of its CPUs"},
    {[](const model::Run& file) { return file.environment.cpu_scaling_enabled.value_or(false); },
     "of a machine whose clock rate could change: times of different moments may differ"},
    {is_dirty, "of sources that had been changed since the commit that is named"},
}};

/// Returns how many are left out of the list.
std::size_t add_failures(const NamedResult& result, std::vector<Paragraph>& list) {
  std::size_t more = 0;
  for (const model::Case& benchmark : result.file.cases) {
    if (benchmark.has_samples()) continue;
    if (list.size() >= kMostFailures) {
      ++more;
    } else if (!benchmark.error.empty()) {
      list.push_back(
          {fmt::format("{} failed ({}): {}", benchmark.name, result.path, benchmark.error),
           Tone::bad});
    } else {
      list.push_back(
          {fmt::format("{} has no repetitions in {}{}", benchmark.name, result.path,
                       benchmark.has_aggregates ? ", only means and medians: write it without "
                                                  "--benchmark_report_aggregates_only"
                                                : ""),
           Tone::doubtful});
    }
  }
  return more;
}

void add_movements(const std::vector<const NamedResult*>& in_order, std::vector<Paragraph>& list) {
  std::vector<std::string> texts;
  for (const NamedResult* each : in_order) {
    const std::string text = verdict::drift_warning(each->file.drift);
    if (!text.empty()) texts.push_back(fmt::format("{}: {}", each->path, text));
  }
  if (!texts.empty()) list.push_back({some_of(texts, ". ") + ".", Tone::doubtful});
}

}  // namespace

std::vector<Paragraph> warnings(const std::vector<const NamedResult*>& in_order) {
  std::vector<Paragraph> list;
  std::size_t more = 0;
  for (const NamedResult* each : in_order) more += add_failures(*each, list);
  if (more > 0) {
    list.push_back(
        {fmt::format("{} more benchmarks failed or have no repetitions.", more), Tone::bad});
  }
  for (const Doubt& doubt : kDoubts) {
    std::vector<std::string> paths;
    for (const NamedResult* each : in_order) {
      if (doubt.applies(each->file)) paths.push_back(each->path);
    }
    if (paths.empty()) continue;
    const bool one = paths.size() == 1;
    list.push_back({fmt::format("{} {} {}.", some_of(paths, ", "), one ? "is" : "are", doubt.what),
                    Tone::doubtful});
  }
  add_movements(in_order, list);
  std::vector<std::string> machines;
  for (const std::string& machine : machine_labels(in_order)) {
    if (std::ranges::find(machines, machine) == machines.end()) machines.push_back(machine);
  }
  if (machines.size() > 1) {
    list.push_back({fmt::format("The results come from {} machines or builds. Times of different "
                                "ones cannot be compared: {}.",
                                machines.size(), some_of(machines, "; ")),
                    Tone::doubtful});
  }
  return list;
}

Section environment_section(const std::vector<const NamedResult*>& in_order) {
  Section section{"environment", "Environment", {}};
  section.blocks.push_back(facts_table(*in_order.back()));
  if (Items list = differences(in_order); !list.items.empty()) {
    section.blocks.push_back(plain("In these the results differ:"));
    section.blocks.push_back(std::move(list));
  }
  section.blocks.push_back(inputs_table(in_order));
  std::vector<std::string> commands;
  for (const NamedResult* each : in_order) {
    std::string command = command_of(each->file);
    if (command.empty() || std::ranges::find(commands, command) != commands.end()) continue;
    commands.push_back(std::move(command));
  }
  const std::size_t all = commands.size();
  if (all > kMostCommands) {
    commands.resize(kMostCommands);
    commands.push_back(fmt::format("… and {} more", all - kMostCommands));
  }
  if (!commands.empty()) {
    section.blocks.push_back(
        Listing{commands.size() == 1 ? "The command line" : "The command lines",
                fmt::format("{}", fmt::join(commands, "\n"))});
  }
  return section;
}

}  // namespace taskbench::reports::render
