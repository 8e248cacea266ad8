// `taskbench list`: what can be measured, and with which constants.
#include <array>

#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "cli/output/output.hpp"
#include "harness/bench/measure.hpp"
#include "reports/render/columns.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One topic as a table, whose first row is the header, and as JSON.
struct Listing {
  std::vector<render::Cells> rows;
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
  Listing list{{{"WORKLOAD", "PARAMETERS", "WHAT IT DOES"}}};
  for (const auto& workload : workloads::all()) {
    Strings defaults;
    Json parameters = Json::array();
    for (const auto& parameter : workload.parameters) {
      defaults.push_back(fmt::format("{}={}", parameter.name, parameter.default_value));
      parameters.push_back(parameter_to_json(parameter));
    }
    list.rows.push_back(
        {std::string(workload.name), joined(defaults, " "), std::string(workload.summary)});
    list.json.push_back({{"name", workload.name},
                         {"summary", workload.summary},
                         {"operation", workload.operation},
                         {"parameters", std::move(parameters)}});
  }
  return list;
}

Listing list_schedulers() {
  Listing list{{{"SCHEDULER", "WORKERS", "WHAT IT IS"}}};
  for (const auto& scheduler : harness::schedulers()) {
    list.rows.push_back({std::string(scheduler.name), scheduler.single_worker ? "1" : "any",
                         std::string(scheduler.summary)});
    list.json.push_back({{"name", scheduler.name},
                         {"summary", scheduler.summary},
                         {"single_worker", scheduler.single_worker}});
  }
  return list;
}

Listing list_rungs() {
  Listing list{{{"RUNG", "WHAT IT IS"}}};
  for (const auto& [scheduler, step, is_ours] : harness::ladder()) {
    list.rows.push_back({std::string(scheduler->name), std::string(scheduler->summary)});
    list.json.push_back({{"name", scheduler->name},
                         {"step", step},
                         {"summary", scheduler->summary},
                         {"ours", is_ours}});
  }
  return list;
}

Listing list_parameters() {
  Listing list{{{"PARAMETER", "DEFAULT", "RANGE", "WHAT IT IS"}}};
  for (const auto& workload : workloads::all()) {
    for (const auto& parameter : workload.parameters) {
      list.rows.push_back({fmt::format("{}.{}", workload.name, parameter.name),
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
    declare_form(options, form_);
  }

  ExitCode execute(const Invocation&) override {
    std::span<const ListTopic> topics = kTopics;
    if (topic_ != nullptr) topics = {topic_, 1};
    Json object = Json::object();
    std::string text;
    for (const ListTopic& topic : topics) {
      Listing list = topic.list();
      object[std::string(topic.name)] = std::move(list.json);
      if (!text.empty()) text += '\n';
      const std::vector<bool> left(list.rows.front().size(), true);
      for (const auto& row : render::fitted(list.rows, left, table_style().table_columns())) {
        text += row + '\n';
      }
    }
    return printed(form_->is_json ? object.dump(2) + '\n' : text);
  }

  const ListTopic* topic_ = nullptr;  ///< none: all topics
  const PrintedForm* form_ = kTableOrJson;
};

}  // namespace

std::unique_ptr<Command> list_command() { return std::make_unique<ListCommand>(); }

}  // namespace taskbench::cli
