#include "runtime/task/task.hpp"

#include <new>

#include "runtime/task/join_handle.hpp"

namespace taskbench::rt::task {

void destroy_stored_output(Header* header) noexcept {
  switch (header->outcome) {
    case Outcome::value:
      header->vtable->destroy_value(header);
      break;
    case Outcome::exception:
      trailer_of(header).failure()->~exception_ptr();
      break;
    case Outcome::none:
    case Outcome::cancelled:
      break;
  }
  header->outcome = Outcome::none;
}

void PromiseBase::store_exception(Header* own) noexcept {
  // A value is there already when the destructor of a local threw after co_return.
  destroy_stored_output(own);
  new (trailer_of(own).failure()) std::exception_ptr(std::current_exception());
  own->outcome = Outcome::exception;
}

void rethrow_failure(Header* header) {
  if (header->outcome != Outcome::exception) throw JoinError();
  const std::exception_ptr failure = *trailer_of(header).failure();
  destroy_stored_output(header);
  std::rethrow_exception(failure);
}

void end_unspawned(Header* own) noexcept {
  destroy_coroutine(own);
  if (own->outcome == Outcome::exception) fail_task_being_destroyed(*trailer_of(own).failure());
  destroy_stored_output(own);
  free_task(own);
}

}  // namespace taskbench::rt::task
