// Why a test cannot go on.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace taskbench::rt::testing {

/// Thrown by block_on() when the test cannot end any more. The text says which tasks wait and, if
/// they wait for sockets, for which.
class Stuck : public std::runtime_error {
 public:
  enum class Reason : std::uint8_t {
    deadlock,            ///< all tasks are asleep; no timer is set, and the network carries nothing
    clock_stands_still,  ///< all are asleep until a time that only Runtime::advance() can bring
    time_limit,          ///< Options::time_limit has passed
    no_time_passes,      ///< some task yields again and again, as if it waited for time to pass
  };

  Stuck(Reason reason, const std::string& what) : std::runtime_error(what), reason_(reason) {}

  [[nodiscard]] Reason reason() const noexcept { return reason_; }

 private:
  Reason reason_;
};

}  // namespace taskbench::rt::testing
