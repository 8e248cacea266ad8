#include "runtime/driver/simulation.hpp"

namespace taskbench::rt::driver {
namespace {

struct SimulationTag;

Simulation*& simulation_of_this_thread() noexcept {
  return base::of_this_thread<Simulation*, SimulationTag>();
}

}  // namespace

[[gnu::noinline]] Simulation* simulation() noexcept { return simulation_of_this_thread(); }

void enter_simulation(Simulation* simulation) noexcept { simulation_of_this_thread() = simulation; }

base::Clock::time_point now() noexcept {
  const Simulation* const entered = simulation_of_this_thread();
  return __builtin_expect(entered != nullptr, 0) ? entered->now() : base::Clock::now();
}

}  // namespace taskbench::rt::driver
