#include "harness/machine/floor.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>

#include "harness/machine/futex.hpp"
#include "harness/os/cpu_affinity.hpp"

namespace taskbench::harness {
namespace {

using model::FloorFigure;
using Samples = std::vector<double>;

constexpr std::size_t kBatches = 400;
constexpr int kBatch = 1'000;
constexpr std::size_t kSteps = 2'000;
constexpr std::size_t kTimers = 800;
constexpr long kTimer_ns = 200'000;
constexpr std::size_t kWakeUps = 2'000;
constexpr double kAsleep_ns = 20'000;

double ns_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - start).count();
}

/// The resolution stated by the kernel. One sample: there is nothing to repeat.
Samples clock_resolution(const std::stop_token&) {
  timespec resolution{};
  if (::clock_getres(CLOCK_MONOTONIC, &resolution) != 0) {
    throw std::system_error(errno, std::generic_category(), "clock_getres");
  }
  return {static_cast<double>(resolution.tv_sec) * 1e9 + static_cast<double>(resolution.tv_nsec)};
}

/// The time from one reading to the first different one.
Samples clock_step(const std::stop_token& stop) {
  Samples samples;
  while (samples.size() < kSteps && !stop.stop_requested()) {
    const Clock::time_point start = Clock::now();
    Clock::time_point end = start;
    while (end == start) end = Clock::now();
    samples.push_back(ns_between(start, end));
  }
  return samples;
}

/// Times operations in batches, whose means are the samples: one operation is shorter than a clock
/// reading.
template <class Operation>
Samples time_batches(const std::stop_token& stop, const Operation& operation) {
  Samples samples;
  for (std::size_t i = 0; i < kBatches && !stop.stop_requested(); ++i) {
    const Clock::time_point start = Clock::now();
    for (int k = 0; k < kBatch; ++k) operation();
    samples.push_back(ns_between(start, Clock::now()) / kBatch);
  }
  return samples;
}

Samples clock_cost(const std::stop_token& stop) {
  return time_batches(stop, [] {
    const Clock::time_point now = Clock::now();
    asm volatile("" : : "m"(now) : "memory");
  });
}

/// The cost of an atomic addition to a line that no other thread touches.
Samples locked_instruction(const std::stop_token& stop) {
  alignas(64) std::atomic<std::uint64_t> word{0};
  return time_batches(stop, [&] { word.fetch_add(1, std::memory_order_seq_cst); });
}

/// How late a sleep ends. Includes the kernel's timer slack, 50 µs by default.
Samples timer_jitter(const std::stop_token& stop) {
  constexpr long kNsPerSecond = 1'000'000'000;
  Samples samples;
  while (samples.size() < kTimers && !stop.stop_requested()) {
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += kTimer_ns;
    if (until.tv_nsec >= kNsPerSecond) {
      ++until.tv_sec;
      until.tv_nsec -= kNsPerSecond;
    }
    // A sleep interrupted by a signal does not count.
    if (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) continue;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    samples.push_back(static_cast<double>(now.tv_sec - until.tv_sec) * 1e9 +
                      static_cast<double>(now.tv_nsec - until.tv_nsec));
  }
  return samples;
}

/// A thread that sleeps, and records when it wakes. Another thread waits until it is about to
/// sleep, wakes it, and waits for its answer.
class Sleeper {
 public:
  /// Runs on `cpu`, or wherever the kernel puts it.
  explicit Sleeper(std::optional<unsigned> cpu) : thread_([this, cpu] { run(cpu); }) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    // release: pairs with the acquire in run().
    ends_.store(true, std::memory_order_release);
    (void)wake();
    thread_.join();
  }

  /// The time in ns from the waking call until the thread runs.
  double wake_up() {
    const Clock::time_point start = wake();
    const std::uint32_t rounds = ++rounds_;
    // acquire: pairs with the release in run(), so that woken_at_ is seen.
    for (std::uint32_t now = 0; (now = answers_.load(std::memory_order_acquire)) != rounds;) {
      futex(answers_, FUTEX_WAIT_PRIVATE, now);
    }
    return ns_between(start, woken_at_);
  }

 private:
  /// Wakes the thread once it is really asleep: until then the call reports that it woke nobody.
  Clock::time_point wake() {
    while (true) {
      const Clock::time_point start = Clock::now();
      if (futex(bed_, FUTEX_WAKE_PRIVATE, 1) == 1) return start;
      ::sched_yield();  // on a single CPU it must run to fall asleep
    }
  }

  void run(std::optional<unsigned> cpu) {
    if (cpu) (void)bind_to_cpu(*cpu);
    for (std::uint32_t round = 1;; ++round) {
      // The word never changes: the sleep ends only by a wake-up, or by a signal, which does not
      // count.
      while (futex(bed_, FUTEX_WAIT_PRIVATE, 0) != 0) {
      }
      woken_at_ = Clock::now();
      // acquire: pairs with the release in the destructor.
      if (ends_.load(std::memory_order_acquire)) return;
      answers_.store(round, std::memory_order_release);  // pairs with the acquire in wake_up()
      futex(answers_, FUTEX_WAKE_PRIVATE, 1);
    }
  }

  alignas(64) std::atomic<std::uint32_t> bed_{0};
  alignas(64) std::atomic<std::uint32_t> answers_{0};
  std::atomic<bool> ends_{false};
  Clock::time_point woken_at_{};
  std::uint32_t rounds_ = 0;
  std::thread thread_;  // last: it starts when all other members exist
};

/// Times wake-ups between two CPUs, if two may be used, as a scheduler's workers experience them.
Samples wake_up(const std::stop_token& stop) {
  const std::vector<unsigned> cpus = allowed_cpus();
  std::optional<unsigned> other;
  std::optional<ScopedBinding> binding;
  if (!cpus.empty()) {
    binding.emplace(cpus.front());
    other = cpus.size() > 1 ? cpus[1] : cpus.front();
  }
  Sleeper sleeper(other);
  Samples samples;
  while (samples.size() < kWakeUps && !stop.stop_requested()) {
    // Waits until the thread has left its CPU: one that is woken while falling asleep just stays.
    for (const auto start = Clock::now(); ns_between(start, Clock::now()) < kAsleep_ns;) {
    }
    samples.push_back(sleeper.wake_up());
  }
  return samples;
}

std::string timer_jitter_text() {
  const int slack_ns = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  return fmt::format("by how much later than asked a sleep of {} µs ends; {} of it is timer slack",
                     kTimer_ns / 1000,
                     slack_ns < 0 ? "a part" : fmt::format("up to {:g} µs", slack_ns / 1e3));
}

std::string wake_up_text() {
  return allowed_cpus().size() > 1 ? "wake-up of a sleeping thread on another CPU (futex)"
                                   : "wake-up of a sleeping thread on the same CPU (futex)";
}

}  // namespace

std::vector<FloorFigure> measure_floor(const std::stop_token& stop) {
  struct Step {
    const char* name;
    std::string what;
    Samples (*measure)(const std::stop_token&);
  };
  const std::array<Step, 6> steps{{
      {"clock_resolution", "resolution of CLOCK_MONOTONIC, as the kernel states it",
       clock_resolution},
      {"clock_step", "smallest step of it that two readings show", clock_step},
      {"clock_cost", "one reading of the clock (steady_clock)", clock_cost},
      {"locked_instruction", "one locked instruction, uncontended", locked_instruction},
      {"timer_jitter", timer_jitter_text(), timer_jitter},
      {"wake_up", wake_up_text(), wake_up},
  }};
  std::vector<FloorFigure> figures;
  for (const Step& step : steps) {
    FloorFigure figure{step.name, step.what, {}};
    try {
      figure.ns = step.measure(stop);
      if (figure.ns.empty()) figure.unavailable = "interrupted";
    } catch (const std::exception& error) {  // no thread, no such clock
      figure.unavailable = error.what();
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace taskbench::harness
