// The names of cases.
#include <fmt/format.h>

#include <algorithm>

#include "harness/bench/measure.hpp"

namespace taskbench::harness {

std::string Case::name() const {
  std::string name = fmt::format("{}/{}/workers:{}", workload->name, scheduler->name, workers);
  for (const workloads::Parameter& parameter : workload->parameters) {
    const auto value = parameters.find(parameter.name);
    if (value == parameters.end() || value->second == parameter.default_value) continue;
    name += fmt::format("/{}:{}", parameter.name, value->second);
  }
  if (load) name += fmt::format("/load:{}", load->name);
  return name;
}

}  // namespace taskbench::harness
