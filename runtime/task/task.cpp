#include "runtime/task/task.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/task/join_handle.hpp"

namespace taskbench::rt::task {

void destroy_stored_output(Header* header) noexcept {
  switch (std::exchange(header->outcome, Outcome::none)) {
    case Outcome::value:
      if (header->vtable->destroy_value != nullptr) header->vtable->destroy_value(header);
      break;
    case Outcome::exception: {
      const Failure untaken = std::move(*failure_of(header));
      std::destroy_at(failure_of(header));
      if (untaken.unhandled.get() != nullptr) untaken.unhandled->report(untaken.exception);
      break;
    }
    case Outcome::none:
    case Outcome::cancelled:
      break;
  }
}

void store_failure(Header* header, const std::exception_ptr& failure) noexcept {
  if (header->outcome == Outcome::exception) return;
  // A value is there already when the destructor of a local threw after co_return.
  destroy_stored_output(header);
  const bool is_spawned = (header->flags & Header::kSpawned) != 0;
  std::construct_at(failure_of(header),
                    Failure{failure, is_spawned ? header->scheduler->unhandled_exceptions()
                                                : base::Ref<UnhandledExceptions>()});
  header->outcome = Outcome::exception;
}

void PromiseBase::store_exception(Header* own) noexcept {
  store_failure(own, std::current_exception());
}

void rethrow_failure(Header* header) {
  if (header->outcome == Outcome::none) {
    throw std::logic_error(
        "a coroutine that returns an rt::Task of a value has come to its end without a co_return");
  }
  if (header->outcome == Outcome::cancelled) throw JoinError();
  const std::exception_ptr failure = failure_of(header)->exception;
  failure_of(header)->unhandled = {};  // it is taken
  destroy_stored_output(header);
  std::rethrow_exception(failure);
}

void end_unspawned(Header* own) noexcept {
  if ((own->flags & Header::kFrameGone) == 0) destroy_suspended(own);
  if (own->outcome == Outcome::exception) fail_task_being_destroyed(failure_of(own)->exception);
  destroy_stored_output(own);
  free_task(own);
}

}  // namespace taskbench::rt::task
