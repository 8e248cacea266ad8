#include "cli/options/parameters.hpp"

#include <algorithm>
#include <cstddef>

#include "cli/options/near_miss.hpp"
#include "cli/options/options.hpp"
#include "cli/options/values.hpp"

namespace taskbench::cli {
namespace {

using workloads::Parameter;
using workloads::ParameterValues;
using workloads::Workload;
using Chosen = std::span<const Workload* const>;

struct Assignment {
  std::string_view workload;  // empty: every workload that has the parameter
  std::string_view name;
  std::string_view value;

  [[nodiscard]] std::string target() const {
    return workload.empty() ? std::string(name) : fmt::format("{}.{}", workload, name);
  }
};

Assignment parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view target = text.substr(0, equals);
  const std::size_t dot = target.find('.');
  Assignment result;
  if (dot != std::string_view::npos) result.workload = target.substr(0, dot);
  result.name = dot == std::string_view::npos ? target : target.substr(dot + 1);
  if (equals != std::string_view::npos) result.value = text.substr(equals + 1);
  if (result.name.empty() || result.value.empty() || dot == 0) {
    throw UsageError(
        fmt::format("--param: '{}' is not of the form NAME=VALUE or WORKLOAD.NAME=VALUE", text));
  }
  return result;
}

const Parameter* find_parameter(const Workload& workload, std::string_view name) {
  const auto found = std::ranges::find(workload.parameters, name, &Parameter::name);
  return found == workload.parameters.end() ? nullptr : &*found;
}

std::vector<std::string_view> parameter_names(Chosen chosen) {
  std::vector<std::string_view> names;
  for (const Workload* workload : chosen) {
    for (const Parameter& parameter : workload->parameters) {
      if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
    }
  }
  return names;
}

void check_scoped(const Assignment& assignment, Chosen chosen) {
  const Workload* workload = find_row("--param", "workload", workloads::all(), assignment.workload);
  if (find_parameter(*workload, assignment.name) == nullptr) {
    const auto kind = fmt::format("parameter of {}", workload->name);
    const Workload* const only[] = {workload};
    throw UsageError("--param: " + unknown_name(kind, assignment.name, parameter_names(only)));
  }
  if (std::ranges::find(chosen, workload) == chosen.end()) {
    throw UsageError(
        fmt::format("--param: '{}' is for a workload that is not run; add {} to the workloads",
                    assignment.target(), workload->name));
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
    throw UsageError(fmt::format("--param: no workload of this run has a parameter '{}'; {} {}",
                                 assignment.name, fmt::join(elsewhere, ", "),
                                 elsewhere.size() == 1 ? "has" : "have"));
  }
  throw UsageError("--param: " +
                   unknown_name("parameter", assignment.name, parameter_names(chosen)));
}

std::vector<Assignment> parse_assignments(const Strings& texts, Chosen chosen) {
  std::vector<Assignment> assignments;
  for (const std::string& text : texts) {
    const Assignment assignment = parse_assignment(text);
    const auto same_target = [&](const Assignment& other) {
      return other.workload == assignment.workload && other.name == assignment.name;
    };
    if (std::ranges::any_of(assignments, same_target)) {
      throw UsageError(fmt::format("--param: '{}' is given twice", assignment.target()));
    }
    if (assignment.workload.empty()) {
      check_plain(assignment, chosen);
    } else {
      check_scoped(assignment, chosen);
    }
    assignments.push_back(assignment);
  }
  return assignments;
}

}  // namespace

std::vector<ParameterValues> parse_parameters(Chosen chosen, const Strings& assignments) {
  const std::vector<Assignment> parsed = parse_assignments(assignments, chosen);
  std::vector<ParameterValues> all_values;
  for (const Workload* workload : chosen) {
    ParameterValues values = workloads::defaults(*workload);
    const auto apply = [&](const Assignment& assignment) {
      const Parameter* parameter = find_parameter(*workload, assignment.name);
      if (parameter == nullptr) return;
      const auto label = fmt::format("--param {}.{}", workload->name, parameter->name);
      values.insert_or_assign(
          std::string(parameter->name),
          parse_whole_number(label, assignment.value, parameter->min, parameter->max));
    };
    for (const Assignment& assignment : parsed) {
      if (assignment.workload.empty()) apply(assignment);
    }
    for (const Assignment& assignment : parsed) {
      if (assignment.workload == workload->name) apply(assignment);
    }
    all_values.push_back(std::move(values));
  }
  return all_values;
}

}  // namespace taskbench::cli
