// `taskbench list`: what can be measured, and with which constants.
#include <array>

#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "cli/output/output.hpp"
#include "harness/bench/measure.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One topic as a table and as JSON.
struct Listing {
  render::Table table;
  Json json = Json::array();
};

struct ListTopic {
  std::string_view name;
  Listing (*list)();
};

Json parameter_to_json(const workloads::Parameter& parameter) {
  return {{"name", parameter.name},
          {"default", parameter.default_value},
          {"min", parameter.min},
          {"max", parameter.max},
          {"description", parameter.description}};
}

Listing list_workloads() {
  Listing list{render::columns_of({"WORKLOAD", "PARAMETERS", "WHAT IT DOES"})};
  for (const auto& workload : workloads::all()) {
    Strings defaults;
    Json parameters = Json::array();
    for (const auto& parameter : workload.parameters) {
      defaults.push_back(fmt::format("{}={}", parameter.name, parameter.default_value));
      parameters.push_back(parameter_to_json(parameter));
    }
    list.table.add(
        {std::string(workload.name), joined(defaults, " "), std::string(workload.summary)});
    list.json.push_back({{"name", workload.name},
                         {"summary", workload.summary},
                         {"operation", workload.operation},
                         {"parameters", std::move(parameters)}});
  }
  return list;
}

Listing list_schedulers() {
  Listing list{render::columns_of({"SCHEDULER", "WORKERS", "WHAT IT IS"})};
  for (const auto& scheduler : harness::schedulers()) {
    list.table.add({std::string(scheduler.name), scheduler.single_worker ? "1" : "any",
                    std::string(scheduler.summary)});
    list.json.push_back({{"name", scheduler.name},
                         {"summary", scheduler.summary},
                         {"single_worker", scheduler.single_worker}});
  }
  return list;
}

Listing list_rungs() {
  Listing list{render::columns_of({"RUNG", "WHAT IT IS"})};
  for (const auto& [scheduler, step, is_ours] : harness::ladder()) {
    list.table.add({std::string(scheduler->name), std::string(scheduler->summary)});
    list.json.push_back({{"name", scheduler->name},
                         {"step", step},
                         {"summary", scheduler->summary},
                         {"ours", is_ours}});
  }
  return list;
}

Listing list_parameters() {
  Listing list{render::columns_of({"PARAMETER", "DEFAULT", "RANGE", "WHAT IT IS"})};
  for (const auto& workload : workloads::all()) {
    for (const auto& parameter : workload.parameters) {
      list.table.add({fmt::format("{}.{}", workload.name, parameter.name),
                      std::to_string(parameter.default_value),
                      fmt::format("{}..{}", parameter.min, parameter.max),
                      std::string(parameter.description)});
      list.json.push_back({{"workload", workload.name}});
      list.json.back().update(parameter_to_json(parameter));
    }
  }
  return list;
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
    Json object = Json::object();
    render::Document document;
    for (const ListTopic& topic : topics) {
      const std::string name(topic.name);
      Listing list = topic.list();
      object[name] = std::move(list.json);
      document.sections.push_back({name, "", {std::move(list.table)}});
    }
    const render::Answer answer{.document = std::move(document),
                                .json = [&] { return object.dump(2) + '\n'; }};
    return print_answer(answer, *format_) ? ExitCode::pass : ExitCode::usage;
  }

  const ListTopic* topic_ = nullptr;  ///< none: all topics
  const render::Format* format_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> list_command() { return std::make_unique<ListCommand>(); }

}  // namespace taskbench::cli
