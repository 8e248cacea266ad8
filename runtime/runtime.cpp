#include "runtime/runtime.hpp"

#include <sched.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/deadline.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/frame_cache.hpp"

namespace taskbench::rt {
namespace {

using Clock = scheduler::Engine::Clock;

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return static_cast<unsigned>(count);
  }
  return std::max(1U, base::Thread::hardware_concurrency());
}

}  // namespace

namespace task {

Spawner& current_scheduler() {
  Spawner* const scheduler = thread_context().scheduler;
  if (scheduler == nullptr) {
    throw std::logic_error(
        "rt::spawn needs a runtime: call it from a task or inside block_on, or use "
        "Runtime::spawn or Handle::spawn");
  }
  return *scheduler;
}

void refuse_nested_block_on() {
  const ThreadContext& context = thread_context();
  if (context.scheduler != nullptr && context.may_block == MayBlock::no) {
    throw std::logic_error(
        "block_on was called on a thread that already runs tasks of a runtime: it would block "
        "every task of that thread. Use co_await instead, or call block_on in "
        "rt::spawn_blocking.");
  }
}

Header* run_root(base::Ref<Spawner> scheduler, Header* root) noexcept {
  scheduler->run_root(root);
  return root;
}

}  // namespace task

namespace blocking {

task::Spawner& runtime_of_this_thread() {
  task::Spawner* const runtime = task::thread_context().scheduler;
  if (runtime == nullptr) {
    throw std::logic_error(
        "rt::spawn_blocking needs a runtime: call it from a task or inside block_on, or use "
        "Runtime::spawn_blocking or Handle::spawn_blocking");
  }
  return *runtime;
}

}  // namespace blocking

struct Runtime::Core {
  base::Ref<scheduler::Engine> engine;
  unsigned workers;
  Clock::time_point waits_until = Clock::time_point::max();  // in the destructor

  ~Core() {
    if (engine == nullptr) return;  // it could not be made
    close();
    const bool has_ended = join(waits_until);
    engine->driver().registrations().close();
    if (has_ended) return;
    engine->detach();
    engine->blocking_pool().detach();
  }

  void close() const noexcept {
    engine->close();
    engine->blocking_pool().close();
  }
  [[nodiscard]] bool join(Clock::time_point deadline) const noexcept {
    // A task would hold up its worker, which a blocking call may be waiting for, and a call the
    // tasks that wait for it. Neither may wait, as another thread may be waiting already.
    const task::ThreadContext& context = task::thread_context();
    const bool in_task = context.scheduler == engine.get() && context.worker != nullptr;
    const bool in_call = engine->blocking_pool().has_this_thread();
    if (in_task || in_call) deadline = Clock::time_point::min();
    return engine->join(deadline) && engine->blocking_pool().join(deadline);
  }
};

Handle Handle::current() {
  task::Spawner* const scheduler = task::thread_context().scheduler;
  if (scheduler == nullptr) {
    throw std::logic_error(
        "Handle::current needs a runtime: call it from a task or inside block_on, or use "
        "Runtime::handle");
  }
  return Handle(base::Ref(scheduler));
}

Runtime::Runtime(std::unique_ptr<Core> core) noexcept : core_(std::move(core)) {}
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;
Runtime::~Runtime() = default;

Runtime::Core& Runtime::core() const noexcept {
  TASKBENCH_ASSERT(core_ != nullptr, "a Runtime that was moved from cannot be used");
  return *core_;
}

base::Ref<task::Spawner> Runtime::scheduler() const noexcept { return core().engine; }

Handle Runtime::handle() const { return Handle(scheduler()); }

RuntimeStats Runtime::stats() const {
  RuntimeStats stats = core().engine->stats();
  stats.blocking = core().engine->blocking_pool().counters();
  return stats;
}

Trace Runtime::trace() const {
  const bool has_ended = core().engine->has_ended();
  if (!core().engine->recording().is_on()) {
    throw std::logic_error("nothing was traced: the runtime was built without Builder::trace()");
  }
  if (!has_ended) {
    throw std::logic_error("a trace can be had after shutdown() only: its writers are at work");
  }
  return core().engine->recording().collect();
}

void Runtime::discard_trace() { core().engine->recording().discard(); }

unsigned Runtime::worker_count() const noexcept { return core().workers; }

void Runtime::shutdown() {
  core().close();
  static_cast<void>(core().join(Clock::time_point::max()));
}

bool Runtime::shutdown_timeout(std::chrono::nanoseconds limit) {
  const Clock::time_point deadline = base::deadline_in(limit);
  core().close();
  const bool done = core().join(deadline);
  if (!done) core().waits_until = deadline;  // in a task or a call it has not waited itself
  return done;
}

using Builder = Runtime::Builder;

Builder& Builder::scheduler(std::string_view name) {
  scheduler_ = find_scheduler(name);
  if (scheduler_ == nullptr) {
    throw std::invalid_argument("there is no scheduler of the name " + std::string(name));
  }
  return *this;
}
Builder& Builder::scheduler(const SchedulerInfo& info) {
  scheduler_ = &info;
  return *this;
}
Builder& Builder::workers(unsigned count) {
  if (count > kMostWorkers) {
    throw std::invalid_argument(std::to_string(count) +
                                " workers are more than a runtime may have, " +
                                std::to_string(kMostWorkers));
  }
  options_.workers = count;
  return *this;
}
Builder& Builder::global_queue_interval(std::uint32_t polls) {
  options_.injector_interval = polls;
  return *this;
}
Builder& Builder::lifo_slot(bool enabled) {
  options_.lifo_slot = enabled;
  return *this;
}
Builder& Builder::seed(std::uint64_t seed) {
  options_.seed = seed;
  return *this;
}
Builder& Builder::trace(std::uint32_t events) {
  options_.trace_events = events;
  return *this;
}
Builder& Builder::thread_name(std::string name) {
  options_.thread_name = std::move(name);
  return *this;
}
Builder& Builder::max_blocking_threads(unsigned count) {
  options_.max_blocking_threads = count;
  return *this;
}
Builder& Builder::blocking_idle_timeout(std::chrono::nanoseconds time) {
  options_.blocking_idle_timeout = time;
  return *this;
}
Builder& Builder::on_thread_start(std::function<void(unsigned)> hook) {
  options_.on_thread_start = std::move(hook);
  return *this;
}
Builder& Builder::on_thread_stop(std::function<void(unsigned)> hook) {
  options_.on_thread_stop = std::move(hook);
  return *this;
}
Builder& Builder::on_unhandled_exception(std::function<void(std::exception_ptr)> hook) {
  options_.on_unhandled_exception = std::move(hook);
  return *this;
}

Runtime Builder::build() const {
  if (driver::simulation() != nullptr) {
    throw std::logic_error(
        "this thread is in a test, and has the time of that: build other runtimes elsewhere");
  }
  RuntimeOptions options = options_;
  if (options.injector_interval == 0) {
    throw std::invalid_argument("global_queue_interval must be at least 1");
  }
  if (options.max_blocking_threads == 0) {
    throw std::invalid_argument("max_blocking_threads must be at least 1");
  }
  if (options.blocking_idle_timeout < std::chrono::nanoseconds{0}) {
    throw std::invalid_argument("blocking_idle_timeout must not be negative");
  }
  if (options.trace_events > kMaxTraceEvents) {
    throw std::invalid_argument("a trace keeps at most 16777216 events of each worker");
  }
  if (scheduler_->single_worker && options.workers > 1) {
    throw std::invalid_argument("the scheduler " + std::string(scheduler_->name) +
                                " has exactly one worker");
  }
  if (options.workers == 0) options.workers = scheduler_->single_worker ? 1 : usable_cpus();
  const unsigned workers = options.workers;
  // Before the engine: without memory for this, its threads would have no owner.
  auto core = std::make_unique<Core>(base::Ref<scheduler::Engine>(), workers);
  core->engine = scheduler_->make(std::move(options));
  return Runtime(std::move(core));
}

std::size_t trim_memory() noexcept { return task::trim(); }

}  // namespace taskbench::rt
