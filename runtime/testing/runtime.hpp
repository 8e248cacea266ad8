// A runtime for tests: the unchanged code under test, in a world in which nothing depends on the
// machine: the next task, all times, and what a network does to a connection come from a seed.
//
//   rt::testing::Runtime test(seed);
//   test.host("server").spawn(serve(80)).detach();
//   test.set_link({.loss = 0.1});
//   test.block_on(client(test.host("server").address(80)));
//
// The same seed gives the same course, to the byte of trace(), as long as the code under test
// cooperates: it must ask rt::time::Clock for the time, not the system, and must not depend on
// addresses in memory, on other threads, or on random numbers of its own.
//
// While the runtime exists, its thread is in that world: rt::time goes by its clock, and all
// sockets of rt::net are in memory, on the host whose task makes them. Descriptors of the system
// are refused, and so are signals. Calls of spawn_blocking run as tasks do.
//
// Threads: only the one that made it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/shared.hpp"
#include "runtime/net/address.hpp"
#include "runtime/runtime.hpp"
#include "runtime/testing/options.hpp"
#include "runtime/testing/stuck.hpp"
#include "runtime/time/sleep.hpp"

namespace taskbench::rt::testing {

class Engine;
class Runtime;

/// A machine of the test, with an address, tasks and sockets of its own. Valid for as long as the
/// Runtime exists.
class Host {
 public:
  [[nodiscard]] const std::string& name() const;
  /// Its address, with a port. Its own tasks may also use 127.0.0.1 and [::1].
  [[nodiscard]] net::SocketAddress address(std::uint16_t port) const;

  /// Spawns a task on the host. Tasks that it spawns in turn are on the same host.
  template <class T>
  JoinHandle<T> spawn(Task<T> task) const {
    const Placed placed(*this);
    return task::spawn_on(scheduler(), std::move(task));
  }
  template <task::AsyncFunction Function>
  auto spawn(Function&& function) const {
    return spawn(task::as_task(std::forward<Function>(function)));
  }

  /// Destroys all its tasks and sockets, as if its power failed: its peers learn nothing, and it
  /// does not answer. The contents of its disk are the test's to keep.
  void crash() const;
  /// Starts it again, without tasks: connections from before the crash are reset when their peers
  /// write.
  void restart() const;
  /// Cuts it off from all other hosts, or reconnects it.
  void isolate() const;
  void rejoin() const;

 private:
  friend class Runtime;

  /// Places tasks that are spawned in a scope on the host.
  class Placed {
   public:
    explicit Placed(const Host& host);
    ~Placed();
    Placed(const Placed&) = delete;
    Placed& operator=(const Placed&) = delete;

   private:
    Engine& engine_;
    std::uint32_t before_;
  };

  Host(Engine& engine, std::uint32_t number) noexcept : engine_(&engine), number_(number) {}
  [[nodiscard]] task::Spawner& scheduler() const;

  Engine* engine_;
  std::uint32_t number_;
};

class Runtime {
 public:
  /// Throws std::logic_error if the thread has one already.
  explicit Runtime(std::uint64_t seed, const Options& options = {});
  /// Cancels all tasks that are left.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Runs `task`, on the host "localhost", until it ends; returns its value or throws its
  /// exception. Throws Stuck if it cannot end, and the exception of a task that nobody takes, as
  /// soon as there is one (Options::unhandled_exceptions_fail).
  template <class T>
  T block_on(Task<T> task) {
    try {
      if constexpr (std::is_void_v<T>) {
        task::block_on(scheduler(), std::move(task));
        rethrow_late_failure();
      } else {
        T value = task::block_on(scheduler(), std::move(task));
        rethrow_late_failure();
        return value;
      }
    } catch (...) {
      rethrow_failure();  // which is why the task was aborted
      throw;
    }
  }
  template <class Awaitable>
  requires(task::Awaitable<Awaitable> ||
           task::AsyncFunction<Awaitable>) auto block_on(Awaitable&& awaitable) {
    return block_on(task::as_task(std::forward<Awaitable>(awaitable)));
  }

  /// Spawns a task on the host "localhost".
  template <class Spawned>
  auto spawn(Spawned&& task) {
    return host("localhost").spawn(std::forward<Spawned>(task));
  }

  // Time.

  [[nodiscard]] time::Clock::time_point now() const;
  /// Since the start.
  [[nodiscard]] std::chrono::nanoseconds elapsed() const;
  /// Lets `time` pass: all that is due until then happens, each at its time. Returns when all other
  /// tasks are asleep; for 0, at the present time. Throws std::invalid_argument if `time` is
  /// negative.
  [[nodiscard]] Task<> advance(std::chrono::nanoseconds time);

  // The network. A change holds for what is sent from then on.

  /// The host of that name, created if it is new. rt::net::resolve() finds it by that name.
  [[nodiscard]] Host host(std::string_view name);
  /// Sets the links between all hosts that have none of their own.
  void set_link(const Link& link);
  void set_link(const Host& one, const Host& other, const Link& link);
  /// Loses everything sent or under way between the two, or lets it through again.
  void partition(const Host& one, const Host& other);
  void repair(const Host& one, const Host& other);
  /// Like partition() and repair(), for one direction.
  void block(const Host& from, const Host& to);
  void unblock(const Host& from, const Host& to);
  /// Resets all connections between the two, so that both ends learn of it at once.
  void reset(const Host& one, const Host& other);
  /// Resets them so that only `told` learns of it; the other's ends are half-open until they write.
  void half_open(const Host& told, const Host& other);

  // Chance, and what has happened.

  /// Uniform in [0, bound), from the seed; `bound` > 0.
  [[nodiscard]] std::uint32_t random(std::uint32_t bound);
  /// True with this probability, by the seed.
  [[nodiscard]] bool chance(double probability);
  /// With Options::trace: a line for each event, and for each call of note().
  [[nodiscard]] const std::string& trace() const;
  void note(const std::string& what);
  /// A number that two tests share if they took the same course and, in all likelihood, only then.
  [[nodiscard]] std::uint64_t fingerprint() const;

 private:
  [[nodiscard]] base::Ref<task::Spawner> scheduler() const;
  void rethrow_failure();
  void rethrow_late_failure();

  const base::Ref<Engine> engine_;
};

}  // namespace taskbench::rt::testing
