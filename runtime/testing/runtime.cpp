#include "runtime/testing/runtime.hpp"

#include <optional>
#include <stdexcept>

#include "runtime/testing/engine.hpp"

namespace taskbench::rt::testing {

// Host.

const std::string& Host::name() const { return engine_->network().name(number_); }

net::SocketAddress Host::address(std::uint16_t port) const {
  return engine_->network().address(number_, port);
}

void Host::crash() const {
  engine_->network().crash(number_);
  engine_->abort_tasks_of(number_);
}

void Host::restart() const { engine_->network().restart(number_); }
void Host::isolate() const { engine_->network().isolate(number_, true); }
void Host::rejoin() const { engine_->network().isolate(number_, false); }

task::Spawner& Host::scheduler() const { return *engine_; }

Host::Placed::Placed(const Host& host)
    : engine_(*host.engine_), before_(std::exchange(engine_.world().host, host.number_)) {}

Host::Placed::~Placed() { engine_.world().host = before_; }

// Runtime.

Runtime::Runtime(std::uint64_t seed, const Options& options)
    : engine_(Engine::make(seed, options)) {}

Runtime::~Runtime() {
  engine_->close();
  engine_->driver().registrations().close();
  Engine::leave_simulation();
}

base::Ref<task::Spawner> Runtime::scheduler() const { return base::Ref<task::Spawner>(engine_); }

void Runtime::rethrow_failure() { engine_->rethrow_failure(); }

void Runtime::rethrow_late_failure() { engine_->rethrow_late_failure(); }

time::Clock::time_point Runtime::now() const { return engine_->world().now(); }

std::chrono::nanoseconds Runtime::elapsed() const { return engine_->world().elapsed(); }

Task<> Runtime::advance(std::chrono::nanoseconds time) {
  if (time.count() < 0) throw std::invalid_argument("time does not run backwards");
  const auto over = engine_->stop_after(time);
  co_await over->notified();
}

Host Runtime::host(std::string_view name) { return {*engine_, engine_->network().host(name)}; }

void Runtime::set_link(const Link& link) { engine_->network().set_link(link); }

void Runtime::set_link(const Host& one, const Host& other, const Link& link) {
  engine_->network().set_link(one.number_, other.number_, link);
}

void Runtime::partition(const Host& one, const Host& other) {
  block(one, other);
  block(other, one);
}

void Runtime::repair(const Host& one, const Host& other) {
  unblock(one, other);
  unblock(other, one);
}

void Runtime::block(const Host& from, const Host& to) {
  engine_->network().block(from.number_, to.number_, true);
}

void Runtime::unblock(const Host& from, const Host& to) {
  engine_->network().block(from.number_, to.number_, false);
}

void Runtime::reset(const Host& one, const Host& other) {
  engine_->network().reset(one.number_, other.number_, std::nullopt);
}

void Runtime::half_open(const Host& told, const Host& other) {
  engine_->network().reset(told.number_, other.number_, told.number_);
}

std::uint32_t Runtime::random(std::uint32_t bound) { return engine_->world().below(bound); }

bool Runtime::chance(double probability) { return engine_->world().chance(probability); }

const std::string& Runtime::trace() const { return engine_->world().trace(); }

void Runtime::note(const std::string& what) {
  if (engine_->world().traces()) engine_->world().note(what);
}

std::uint64_t Runtime::fingerprint() const { return engine_->world().fingerprint(); }

}  // namespace taskbench::rt::testing
