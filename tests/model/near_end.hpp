// The near end of a connection whose far end is played by the model.
#pragma once

#include "runtime/driver/driver.hpp"
#include "runtime/net/stream.hpp"
#include "runtime/task/context.hpp"
#include "tests/model/kernel.hpp"

namespace taskbench::rt::model {

/// A runtime that consists only of its driver.
class NetOnly final : public task::Spawner {
 public:
  void schedule(task::Header*) noexcept override {}
  void spawn(task::Header*) noexcept override {}
  void spawn_blocking(task::Header*) override {}
  void run_root(task::Header*) noexcept override {}
  driver::Driver& driver() noexcept override { return *driver_; }
  driver::Wheel& timers() noexcept override { return driver_->outside_wheel(); }

 private:
  const base::Ref<driver::Driver> driver_{new driver::Driver(0)};
};

class NearEnd : public net::Stream {
 public:
  explicit NearEnd(const Connection& connection)
      : Stream(AsyncFd::borrow(connection.descriptor()), net::SocketAddress::loopback(1)) {}
};

}  // namespace taskbench::rt::model
