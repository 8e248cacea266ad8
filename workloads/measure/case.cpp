// The schedulers that can be measured, and how a case is called.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/measure/measure.hpp"

namespace taskbench::workloads::measure {
namespace {

constexpr std::array kSchedulers{
    Scheduler{.name = "work_stealing",
              .summary = "a queue for each worker; idle workers steal half of another's",
              .single_worker = false,
              .runs_on_caller = false,
              .repeatable = false,
              .kind = rt::SchedulerKind::work_stealing},
    Scheduler{.name = "current_thread",
              .summary = "one queue, run by the thread that waits in block_on",
              .single_worker = true,
              .runs_on_caller = true,
              .repeatable = true,
              .kind = rt::SchedulerKind::current_thread},
    Scheduler{.name = "in_turn",
              .summary = "work_stealing on one thread, its workers in turn: the same each time",
              .single_worker = false,
              .runs_on_caller = true,
              .repeatable = true,
              .kind = rt::SchedulerKind::in_turn},
};

}  // namespace

std::span<const Scheduler> schedulers() { return kSchedulers; }

const Scheduler* find_scheduler(std::string_view name) {
  const auto row = std::ranges::find(kSchedulers, name, &Scheduler::name);
  return row == kSchedulers.end() ? nullptr : &*row;
}

std::string Case::name() const {
  std::string name = fmt::format("{}/{}/workers:{}", workload->name, scheduler->name, workers);
  for (const Parameter& parameter : workload->parameters) {
    const auto value = parameters.find(parameter.name);
    if (value == parameters.end() || value->second == parameter.default_value) continue;
    name += fmt::format("/{}:{}", parameter.name, value->second);
  }
  return name;
}

}  // namespace taskbench::workloads::measure
