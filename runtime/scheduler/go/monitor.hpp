// The thread that no task can block: it watches all processors, and takes those of blocked
// machines.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/go/processor.hpp"

namespace taskbench::rt::go {

class Go;

class Monitor {
 public:
  explicit Monitor(Go& go) noexcept : go_(go) {}

  /// Starts the thread. Throws std::system_error.
  void start();
  /// Ends the thread once the engine is closed. Call it once, after start().
  void stop() noexcept;
  /// Any thread.
  void unpark() noexcept { parker_.unpark(); }

 private:
  /// What a processor was last seen doing, and since when.
  struct Seen {
    std::uint32_t lease = 0;
    std::uint32_t slices = 0;
    base::Clock::time_point since{};
  };

  void run() noexcept;
  /// Returns whether it has intervened.
  bool look_at(Processor& processor, Seen& seen, base::Clock::time_point now) noexcept;

  Go& go_;
  park::Parker parker_;
  base::Thread thread_;
  std::vector<Seen> seen_;
};

}  // namespace taskbench::rt::go
