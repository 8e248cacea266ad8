#include "runtime/testing/engine.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/base/assert.hpp"
#include "runtime/base/deadline.hpp"
#include "runtime/scheduler/drain.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::testing {
namespace {

/// This many polls in a row at one time mean a loop that waits for the clock to move.
constexpr std::uint64_t kMostPollsAtOneTime = 1'000'000;

}  // namespace

class Engine::Root final : public task::Schedule {
 public:
  explicit Root(Engine& engine) noexcept : engine_(engine) {}

  void schedule(task::Header* root) noexcept override { engine_.schedule(root); }

 private:
  Engine& engine_;
};

base::Ref<Engine> Engine::make(std::uint64_t seed, const Options& options) {
  if (driver::simulation() != nullptr) {
    throw std::logic_error("this thread has a runtime for tests already: one at a time");
  }
  // The hook may outlive the engine.
  const auto unhandled = std::make_shared<std::exception_ptr>();
  RuntimeOptions common;
  common.workers = 1;
  if (options.unhandled_exceptions_fail) {
    common.on_unhandled_exception = [unhandled](const std::exception_ptr& exception) {
      if (*unhandled == nullptr) *unhandled = exception;
    };
  }
  auto surroundings = std::make_unique<Surroundings>(seed, options);
  driver::enter_simulation(&surroundings->network);
  return base::Ref<Engine>(new Engine(common, unhandled, options, std::move(surroundings)));
}

Engine::Engine(const RuntimeOptions& common, Failure unhandled, const Options& options,
               std::unique_ptr<Surroundings> surroundings)
    : scheduler::Engine(common),
      surroundings_(std::move(surroundings)),
      world_(surroundings_->world),
      network_(surroundings_->network),
      options_(options),
      unhandled_(std::move(unhandled)),
      recording_(1, 0),
      owned_(1) {}

void Engine::schedule(task::Header* task) noexcept {
  TASKBENCH_ASSERT(driver::simulation() == &network_,
                   "a task of a runtime for tests was woken on another thread");
  ready_.push_back(task);
}

void Engine::spawn(task::Header* task) noexcept {
  TASKBENCH_ASSERT(is_closed_ || driver::simulation() == &network_,
                   "a task was spawned on a runtime for tests by another thread");
  if (is_closed_) {
    task::cancel(task);
    return;
  }
  add(task);
  schedule(task);
}

void Engine::add(task::Header* task) {
  const Record& record =
      tasks_.insert_or_assign(task, Record{++spawned_, world_.host}).first->second;
  if (!world_.traces()) return;
  world_.note("task " + std::to_string(record.number) + " is spawned on " +
              network_.name(record.host));
}

task::Header* Engine::poll_one() noexcept {
  const auto chosen = world_.below(static_cast<std::uint32_t>(ready_.size()));
  task::Header* const task = std::exchange(ready_[chosen], ready_.back());
  ready_.pop_back();
  // Taken out, as the task's memory may be reused when the poll is over.
  auto node = tasks_.extract(task);
  const Record record = node.mapped();
  world_.task = record.number;
  world_.host = record.host;
  world_.mark(record.number);
  ++polls_;
  if (world_.traces()) world_.note("task " + std::to_string(record.number) + " runs");
  polled_ = task;
  const task::Polled polled = task::poll(task);
  polled_ = nullptr;
  world_.task = 0;
  world_.host = 0;
  if (polled == task::Polled::finished) {
    if (world_.traces()) world_.note("task " + std::to_string(record.number) + " has ended");
    return task;
  }
  tasks_.insert(std::move(node));
  if (polled != task::Polled::idle) ready_.push_back(task);
  return nullptr;
}

void Engine::run_root(task::Header* root) noexcept {
  Root schedule(*this);
  root->scheduler = &schedule;
  const task::EnterContext enter(this, this);
  add(root);
  ready_.push_back(root);
  for (;;) {
    do_what_is_due();
    look_for_failure();
    if (failure_ == nullptr && ready_.empty() && move_on()) continue;
    if (failure_ != nullptr) break;
    if (poll_one() == root) return;
  }
  // Only the root still runs, and ends at its next poll.
  task::abort(root);
  std::erase(ready_, root);
  std::vector<task::Header*> others = std::exchange(ready_, {root});
  static_cast<void>(poll_one());
  ready_.insert(ready_.end(), others.begin(), others.end());
}

void Engine::do_what_is_due() noexcept {
  while (world_.do_what_is_due()) {
  }
  if (driver().next_timer() <= world_.now()) driver().look(&timers());
}

bool Engine::move_on() {
  // What was given up is not waited for: a time-out that was not needed, a connect that gets no
  // answer, or an advance().
  timers().forget_cancelled(driver::Wheel::By::owner);
  world_.forget_needless();
  std::erase_if(stops_, [](const auto& stop) { return stop.second.use_count() == 1; });
  const World::Time timer = driver().next_timer();
  const World::Time next = std::min(timer, world_.next_action());
  const World::Time stop = stops_.empty() ? World::Time::max() : stops_.begin()->first;
  if (stop < next) {
    const auto over = stops_.extract(stops_.begin());
    world_.move_to(stop);
    over.mapped()->notify_one();
  } else if (next == World::Time::max()) {
    fail(Stuck::Reason::deadlock,
         "all tasks are asleep; no timer is set, and the network carries nothing");
    return false;
  } else if (!options_.advances_by_itself && stops_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - world_.now());
    fail(Stuck::Reason::clock_stands_still,
         "all tasks are asleep, and the clock stands still: advance() it; something is due in " +
             std::to_string(left.count()) + " ms");
    return false;
  } else {
    world_.move_to(next);
  }
  polls_ = 0;
  return true;
}

void Engine::look_for_failure() {
  if (failure_ != nullptr) return;
  if (*unhandled_ != nullptr) {
    failure_ = std::exchange(*unhandled_, nullptr);
  } else if (world_.elapsed() > options_.time_limit) {
    fail(Stuck::Reason::time_limit, "the test is not over after its time limit");
  } else if (polls_ > kMostPollsAtOneTime) {
    fail(
        Stuck::Reason::no_time_passes,
        "a million polls, and no time has passed: some task yields in a loop, and time passes only "
        "while all are asleep");
  }
}

void Engine::fail(Stuck::Reason reason, const std::string& what) {
  failure_ = std::make_exception_ptr(
      Stuck(reason, what + " (" + as_seconds(world_.elapsed()) + ")" + describe_tasks()));
}

std::string Engine::describe_tasks() const {
  constexpr std::size_t kMost = 20;
  const std::map<std::uint64_t, std::string> waiting = network_.waiting();
  std::map<std::uint64_t, HostNumber> all;
  for (const auto& [task, record] : tasks_) all.emplace(record.number, record.host);
  std::string text;
  std::size_t described = 0;
  std::size_t others = 0;
  for (const auto& [number, host] : all) {
    const auto found = waiting.find(number);
    if (found == waiting.end() || described == kMost) {
      ++others;
      continue;
    }
    ++described;
    text += "\n  task " + std::to_string(number) + " on " + network_.name(host) + " waits " +
            found->second;
  }
  if (others != 0) {
    text += "\n  " + std::to_string(others) + (described == 0 ? "" : " more") +
            (others == 1 ? " task waits" : " tasks wait") +
            " for something else: a time, a channel, a lock, another task";
  }
  return text;
}

void Engine::rethrow_late_failure() {
  look_for_failure();
  rethrow_failure();
}

void Engine::rethrow_failure() {
  *unhandled_ = nullptr;  // failures at the end of the root are a consequence
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::shared_ptr<sync::Notify> Engine::stop_after(std::chrono::nanoseconds time) {
  auto over = std::make_shared<sync::Notify>();
  stops_.emplace(base::later(world_.now(), time), over);
  return over;
}

void Engine::abort_tasks_of(HostNumber host) noexcept {
  std::map<std::uint64_t, task::Header*> found;
  for (const auto& [task, record] : tasks_) {
    if (record.host == host) found.emplace(record.number, task);
  }
  if (polled_ != nullptr && world_.host == host) found.emplace(world_.task, polled_);
  for (const auto& [number, task] : found) task::abort(task);
}

void Engine::close() noexcept {
  if (std::exchange(is_closed_, true)) return;
  scheduler::drain(*this, owned_, [this] {
    const bool any = !ready_.empty();
    while (!ready_.empty()) {
      task::Header* const task = ready_.back();
      ready_.pop_back();
      task::cancel(task);
    }
    return any;
  });
}

}  // namespace taskbench::rt::testing
