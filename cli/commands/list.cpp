// `taskbench list`: what can be measured, and with which constants.

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "reports/render/columns.hpp"
#include "workloads/measure/measure.hpp"
#include "workloads/workload.hpp"

namespace taskbench::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ListTopic {
  std::string_view name;
  std::string (*table)();
  Json (*json)();
};

using Row = Strings;

/// The first row is the header.
std::string aligned_rows(const std::vector<Row>& rows) {
  const auto style = table_style(STDOUT_FILENO);
  const std::vector<bool> left(rows.front().size(), true);
  std::string text;
  for (const auto& row : render::fitted(rows, left, style.table_columns())) {
    text += row + '\n';
  }
  return text;
}

std::string parameters_with_defaults(const workloads::Workload& workload) {
  std::string text;
  for (const auto& parameter : workload.parameters) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " ", parameter.name, parameter.default_value);
  }
  return text;
}

Json parameter_to_json(const workloads::Parameter& parameter) {
  return {{"name", parameter.name},
          {"default", parameter.default_value},
          {"min", parameter.min},
          {"max", parameter.max},
          {"description", parameter.description}};
}

std::string workloads_table() {
  std::vector<Row> rows{{"WORKLOAD", "PARAMETERS", "WHAT IT DOES"}};
  for (const auto& workload : workloads::all()) {
    rows.push_back({std::string(workload.name), parameters_with_defaults(workload),
                    std::string(workload.summary)});
  }
  return aligned_rows(rows);
}

Json workloads_json() {
  Json list = Json::array();
  for (const auto& workload : workloads::all()) {
    Json parameters = Json::array();
    for (const auto& parameter : workload.parameters) {
      parameters.push_back(parameter_to_json(parameter));
    }
    list.push_back({{"name", workload.name},
                    {"summary", workload.summary},
                    {"operation", workload.operation},
                    {"parameters", std::move(parameters)}});
  }
  return list;
}

std::string schedulers_table() {
  std::vector<Row> rows{{"SCHEDULER", "WORKERS", "WHAT IT IS"}};
  for (const auto& scheduler : measure::schedulers()) {
    rows.push_back({std::string(scheduler.name), scheduler.single_worker ? "1" : "any",
                    std::string(scheduler.summary)});
  }
  return aligned_rows(rows);
}

Json schedulers_json() {
  Json list = Json::array();
  for (const auto& scheduler : measure::schedulers()) {
    list.push_back({{"name", scheduler.name},
                    {"summary", scheduler.summary},
                    {"single_worker", scheduler.single_worker}});
  }
  return list;
}

std::string parameters_table() {
  std::vector<Row> rows{{"PARAMETER", "DEFAULT", "RANGE", "WHAT IT IS"}};
  for (const auto& workload : workloads::all()) {
    for (const auto& parameter : workload.parameters) {
      rows.push_back({fmt::format("{}.{}", workload.name, parameter.name),
                      std::to_string(parameter.default_value),
                      fmt::format("{}..{}", parameter.min, parameter.max),
                      std::string(parameter.description)});
    }
  }
  return aligned_rows(rows);
}

Json parameters_json() {
  Json list = Json::array();
  for (const auto& workload : workloads::all()) {
    for (const auto& parameter : workload.parameters) {
      Json entry{{"workload", workload.name}};
      entry.update(parameter_to_json(parameter));
      list.push_back(std::move(entry));
    }
  }
  return list;
}

constexpr std::array<ListTopic, 3> kTopics{{
    {"workloads", workloads_table, workloads_json},
    {"schedulers", schedulers_table, schedulers_json},
    {"parameters", parameters_table, parameters_json},
}};

std::string render_tables(std::span<const ListTopic> topics) {
  std::string text;
  for (const ListTopic& topic : topics) {
    if (!text.empty()) text += '\n';
    text += topic.table();
  }
  return text;
}

std::string render_json(std::span<const ListTopic> topics) {
  Json object = Json::object();
  for (const ListTopic& topic : topics) object[std::string(topic.name)] = topic.json();
  return object.dump(2) + '\n';
}

class ListCommand : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  const ListTopic* topic_ = nullptr;  ///< none: all
  const PrintedForm* form_ = kTableOrJson;
};

void ListCommand::declare(Options& options) {
  options.app().description(
      "List the workloads, the schedulers and the parameters.\n\n"
      "Parameters are listed with their defaults and ranges; `taskbench run --param` sets them.");
  options.app().footer(
      "Examples:\n"
      "  taskbench list\n"
      "  taskbench list parameters\n"
      "  taskbench list workloads --format json");
  options
      .value("TOPIC", topic_, "TOPIC", Choice<ListTopic>{"topic", kTopics},
             "workloads, schedulers or parameters.")
      ->default_str("all three")
      ->expected(0, 1);
  declare_form(options, form_);
}

ExitCode ListCommand::execute(const Invocation&) {
  std::span<const ListTopic> topics = kTopics;
  if (topic_ != nullptr) topics = {topic_, 1};
  const bool printed = print_result(form_->is_json ? render_json(topics) : render_tables(topics));
  return printed ? ExitCode::pass : ExitCode::usage;
}

}  // namespace

std::unique_ptr<Command> list_command() { return std::make_unique<ListCommand>(); }

}  // namespace taskbench::cli
