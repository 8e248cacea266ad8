// A future of one's own: it is ready when its time is over. A thread sleeps for it, and then wakes
// the task that waits. The scheduler is the executor of one page, `channel`; any other would do.
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <taskbench/runtime/runtime.hpp>

namespace rt = taskbench::rt;

namespace {

class TimerFuture {
 public:
  explicit TimerFuture(std::chrono::nanoseconds duration) {
    std::thread([state = state_, duration] {
      std::this_thread::sleep_for(duration);
      std::optional<rt::Waker> waker;
      {
        const std::lock_guard lock(state->mutex);
        state->is_over = true;
        waker = std::move(state->waker);
      }
      if (waker) std::move(*waker).wake();
    }).detach();
  }

  /// poll_fn asks at first, and each time that somebody has woken the task.
  auto operator co_await() const {
    return rt::poll_fn([state = state_](rt::PollContext& context) -> std::optional<bool> {
      const std::lock_guard lock(state->mutex);
      if (state->is_over) return true;
      state->waker = context.waker();
      return std::nullopt;
    });
  }

 private:
  // Shared by the thread and the task, as either may be gone before the other.
  struct State {
    std::mutex mutex;
    bool is_over = false;
    std::optional<rt::Waker> waker;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

rt::Task<> say_howdy_and_done() {
  std::puts("howdy!");
  co_await TimerFuture(std::chrono::seconds(2));
  std::puts("done!");
}

}  // namespace

int main() {
  auto executor = rt::Runtime::Builder{}.scheduler("channel").build();
  auto task = executor.spawn(say_howdy_and_done());
  executor.block_on([](auto handle) -> rt::Task<> { co_await std::move(handle); }(std::move(task)));
}
