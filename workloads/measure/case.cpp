// The names of cases.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/measure/measure.hpp"

namespace taskbench::workloads::measure {

std::string Case::name() const {
  std::string name = fmt::format("{}/{}/workers:{}", workload->name, scheduler->name, workers);
  for (const Parameter& parameter : workload->parameters) {
    const auto value = parameters.find(parameter.name);
    if (value == parameters.end() || value->second == parameter.default_value) continue;
    name += fmt::format("/{}:{}", parameter.name, value->second);
  }
  if (load) name += fmt::format("/load:{}", load->name);
  return name;
}

}  // namespace taskbench::workloads::measure
