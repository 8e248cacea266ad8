// `taskbench list`: shows what can be measured, and with which constants.
#include <array>

#include "cli/commands/command.hpp"
#include "cli/output/output.hpp"
#include "harness/bench/measure.hpp"
#include "reports/json/field.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

/// Lists a topic in both forms: as a table, and as a JSON array with the topic's name.
struct ListTopic {
  std::string_view name;
  render::Table (*list)(json::Writer& io);
};

void describe_parameter(json::Writer& io, const workloads::Parameter& parameter) {
  io("name", parameter.name);
  io("default", parameter.default_value);
  io("min", parameter.min);
  io("max", parameter.max);
  io("description", parameter.description);
}

render::Table list_workloads(json::Writer& io) {
  render::Table table = render::columns_of({"WORKLOAD", "PARAMETERS", "WHAT IT DOES"});
  io.each("workloads", workloads::all(), [&](json::Writer& row, const auto& workload) {
    const Strings defaults = each_of(workload.parameters, [](const auto& parameter) {
      return fmt::format("{}={}", parameter.name, parameter.default_value);
    });
    table.add({workload.name, joined(defaults, " "), workload.summary});
    row("name", workload.name);
    row("summary", workload.summary);
    row("operation", workload.operation);
    row.each("parameters", workload.parameters, describe_parameter);
  });
  return table;
}

render::Table list_schedulers(json::Writer& io) {
  render::Table table = render::columns_of({"SCHEDULER", "WORKERS", "WHAT IT IS"});
  io.each("schedulers", schedulers(), [&](json::Writer& row, const auto& scheduler) {
    table.add({scheduler.name, scheduler.single_worker ? "1" : "any", scheduler.summary});
    row("name", scheduler.name);
    row("summary", scheduler.summary);
    row("single_worker", scheduler.single_worker);
  });
  return table;
}

render::Table list_rungs(json::Writer& io) {
  render::Table table = render::columns_of({"RUNG", "WHAT IT IS"});
  io.each("rungs", ladder(), [&](json::Writer& row, const auto& rung) {
    table.add({rung.scheduler->name, rung.scheduler->summary});
    row("name", rung.scheduler->name);
    row("step", rung.step);
    row("summary", rung.scheduler->summary);
    row("ours", rung.is_ours);
  });
  return table;
}

render::Table list_parameters(json::Writer& io) {
  render::Table table = render::columns_of({"PARAMETER", "DEFAULT", "RANGE", "WHAT IT IS"});
  std::vector<std::pair<std::string_view, workloads::Parameter>> all;
  for (const auto& workload : workloads::all()) {
    for (const auto& parameter : workload.parameters) all.emplace_back(workload.name, parameter);
  }
  io.each("parameters", all, [&](json::Writer& row, const auto& each) {
    const auto& [workload, parameter] = each;
    table.add({fmt::format("{}.{}", workload, parameter.name),
               std::to_string(parameter.default_value),
               fmt::format("{}..{}", parameter.min, parameter.max), parameter.description});
    row("workload", workload);
    describe_parameter(row, parameter);
  });
  return table;
}

constexpr std::array<ListTopic, 4> kTopics{{
    {"workloads", list_workloads},
    {"schedulers", list_schedulers},
    {"rungs", list_rungs},
    {"parameters", list_parameters},
}};

class ListCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "List the workloads, the schedulers, the rungs and the parameters.\n\n"
        "Parameters are listed with their defaults and ranges; `taskbench run --param` sets them.",
        "Examples:\n"
        "  taskbench list\n"
        "  taskbench list parameters\n"
        "  taskbench list workloads --format json");
    options
        .value("TOPIC", topic_, "TOPIC", Choice<ListTopic>{"topic", kTopics},
               "workloads, schedulers, rungs or parameters.")
        ->default_str("all four")
        ->expected(0, 1);
    options.group("Output");
    declare_format(options, format_);
  }

  ExitCode execute(const Invocation&) override {
    std::span<const ListTopic> topics = kTopics;
    if (topic_ != nullptr) topics = {topic_, 1};
    json::Writer io;
    render::Document document;
    for (const ListTopic& topic : topics) {
      document.sections.push_back({std::string(topic.name), "", {topic.list(io)}});
    }
    const render::Answer answer{.document = std::move(document),
                                .json = [&] { return json::file_text(io.object); }};
    return print_answer(answer, *format_) ? ExitCode::pass : ExitCode::usage;
  }

  const ListTopic* topic_ = nullptr;  ///< none: all topics
  const render::Format* format_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> list_command() { return std::make_unique<ListCommand>(); }

}  // namespace taskbench::cli
