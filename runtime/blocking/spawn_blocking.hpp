// spawn_blocking(): runs a blocking call on a thread of its own.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "runtime/task/awaitable.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/join_handle.hpp"

namespace taskbench::rt {

namespace blocking {

template <class Function>
using ResultOf = std::invoke_result_t<std::decay_t<Function>>;

// g++ 12 gives the frame of a coroutine linkage, and warns if it holds a lambda, which has none.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

/// Runs the call as a task, which never suspends.
template <class Function>
Task<ResultOf<Function>> run_once(Function function) {
  static_assert(task::kFitsIntoFrame<Function>,
                "the function captures something that is aligned more strictly than a coroutine's "
                "frame, in which it is kept: capture a pointer to it");
  co_return std::invoke(std::move(function));
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Throws std::logic_error outside of every runtime.
[[nodiscard]] task::Spawner& runtime_of_this_thread();

template <class Function>
JoinHandle<ResultOf<Function>> spawn_on(task::Spawner& runtime, Function&& function) {
  static_assert(!task::kIsTask<ResultOf<Function>>,
                "rt::spawn_blocking calls a plain function, and would not run the rt::Task that a "
                "coroutine returns: give that to rt::spawn");
  task::Header* const call = run_once<std::decay_t<Function>>(std::forward<Function>(function))
                                 .release_for_spawn(&runtime);
  JoinHandle<ResultOf<Function>> handle(call);
  runtime.spawn_blocking(call);
  return handle;
}

}  // namespace blocking

/// Calls `function`, which may block for as long as it likes, on one of the runtime's threads for
/// blocking calls, of which there are up to Builder::max_blocking_threads; if all are busy, it
/// waits its turn. The workers go on meanwhile. The handle gets its result or exception. If it is
/// aborted, or the runtime shuts down, before it has begun, it is never called, and awaiting the
/// handle throws JoinError. Once begun it cannot be stopped, and the shutdown waits for it.
///
/// A call that is aborted before it has begun ends, with what `function` holds, when its turn
/// comes: on the thread that would have run it or, while all are busy, in a later spawn_blocking(),
/// which ends the oldest of the calls that wait if they were aborted, a few each time.
///
/// In `function`, rt::spawn and rt::spawn_blocking go to the same runtime, and block_on, of any
/// runtime, is allowed. Throws std::logic_error outside of a runtime, and std::system_error when
/// the system gives not even one thread.
template <class Function>
JoinHandle<blocking::ResultOf<Function>> spawn_blocking(Function&& function) {
  return blocking::spawn_on(blocking::runtime_of_this_thread(), std::forward<Function>(function));
}

}  // namespace taskbench::rt
