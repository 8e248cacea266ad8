#include "runtime/runtime.hpp"

#include <sched.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "runtime/scheduler/block_on.hpp"
#include "runtime/scheduler/current_thread.hpp"
#include "runtime/scheduler/in_turn.hpp"
#include "runtime/scheduler/work_stealing/pool.hpp"

namespace taskbench::rt {
namespace {

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

WorkerCounters RuntimeStats::total() const noexcept {
  WorkerCounters sum = outside;
  for (const WorkerCounters& worker : workers) sum += worker;
  return sum;
}

namespace task {

Schedule& current_scheduler() {
  Schedule* const scheduler = thread_context().scheduler;
  if (scheduler == nullptr) {
    throw std::logic_error(
        "rt::spawn needs a runtime: call it from a task or inside block_on, or use "
        "Runtime::spawn or Handle::spawn");
  }
  return *scheduler;
}

}  // namespace task

struct Runtime::Core {
  std::shared_ptr<work_stealing::Pool> pool;
  std::shared_ptr<scheduler::CurrentThread> current_thread;
  bool gave_up = false;  // a shutdown with a limit passed it: do not wait in the destructor

  [[nodiscard]] trace::Recording& recording() const noexcept {
    return pool ? pool->recording() : current_thread->recording();
  }

  ~Core() {
    if (!pool) {
      if (current_thread) current_thread->shut_down();
      return;
    }
    pool->close();
    const auto now = std::chrono::steady_clock::now();
    if (!(gave_up ? pool->join(now) : pool->join())) pool->detach();
  }
};

Handle Handle::current() {
  task::Schedule& scheduler = task::current_scheduler();
  return Handle(scheduler.shared());
}

Runtime::Runtime(std::unique_ptr<Core> core) noexcept : core_(std::move(core)) {}
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;
Runtime::~Runtime() = default;

task::Header* Runtime::run_root(const std::function<task::Header*(task::Schedule*)>& release) {
  scheduler::refuse_nested_runtime();
  // Copies: the task may destroy this Runtime.
  if (const auto pool = core_->pool) {
    if (pool->runs_in_turn()) {
      scheduler::InTurnRoot root(*pool);
      task::Header* const header = release(&root);
      root.run(header);
      return header;
    }
    scheduler::PoolRoot root;
    task::Header* const header = release(&root);
    root.run(header, *pool);
    return header;
  }
  const auto current_thread = core_->current_thread;
  scheduler::CurrentThread::Root root(*current_thread);
  task::Header* const header = release(&root);
  root.run(header);
  return header;
}

Handle Runtime::handle() const {
  if (core_->pool) return Handle(core_->pool);
  return Handle(core_->current_thread);
}

RuntimeStats Runtime::stats() const {
  RuntimeStats stats;
  if (core_->pool) {
    for (std::uint32_t i = 0; i < core_->pool->worker_count(); ++i) {
      stats.workers.push_back(core_->pool->worker(i).counters.snapshot());
    }
    stats.outside = core_->pool->outside_counters();
  } else {
    stats.workers.push_back(core_->current_thread->counters());
    stats.outside = core_->current_thread->outside_counters();
  }
  return stats;
}

Trace Runtime::trace() const {
  const bool has_ended =
      core_->pool ? core_->pool->has_ended() : core_->current_thread->has_ended();
  if (!core_->recording().is_on()) {
    throw std::logic_error("nothing was traced: the runtime was built without Builder::trace()");
  }
  if (!has_ended) {
    throw std::logic_error("a trace can be had after shutdown() only: its writers are at work");
  }
  return core_->recording().collect();
}

void Runtime::discard_trace() { core_->recording().discard(); }

unsigned Runtime::worker_count() const noexcept {
  return core_->pool ? core_->pool->worker_count() : 1;
}

void Runtime::shutdown() {
  if (core_->pool) {
    core_->pool->close();
    static_cast<void>(core_->pool->join());
  } else {
    core_->current_thread->shut_down();
  }
}

bool Runtime::shutdown_timeout(std::chrono::nanoseconds limit) {
  if (!core_->pool) {
    core_->current_thread->shut_down();
    return true;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const bool endless = limit > Clock::time_point::max() - now;
  core_->pool->close();
  const bool done = core_->pool->join(endless ? Clock::time_point::max() : now + limit);
  if (!done) core_->gave_up = true;
  return done;
}

using Builder = Runtime::Builder;

Builder& Builder::scheduler(SchedulerKind kind) {
  options_.scheduler = kind;
  return *this;
}
Builder& Builder::workers(unsigned count) {
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
Builder& Builder::on_thread_start(std::function<void(unsigned)> hook) {
  options_.on_thread_start = std::move(hook);
  return *this;
}
Builder& Builder::on_thread_stop(std::function<void(unsigned)> hook) {
  options_.on_thread_stop = std::move(hook);
  return *this;
}

Runtime Builder::build() const {
  RuntimeOptions options = options_;
  if (options.injector_interval == 0) {
    throw std::invalid_argument("global_queue_interval must be at least 1");
  }
  if (options.trace_events > kMaxTraceEvents) {
    throw std::invalid_argument("a trace keeps at most 16777216 events of each worker");
  }
  auto core = std::make_unique<Core>();
  if (options.scheduler == SchedulerKind::current_thread) {
    if (options.workers > 1) {
      throw std::invalid_argument("the current_thread scheduler has exactly one worker");
    }
    core->current_thread = std::make_shared<scheduler::CurrentThread>(std::move(options));
  } else {
    if (options.workers == 0) options.workers = usable_cpus();
    core->pool = std::make_shared<work_stealing::Pool>(std::move(options));
    core->pool->start();
  }
  return Runtime(std::move(core));
}

}  // namespace taskbench::rt
