#include "runtime/task/branches.hpp"

namespace taskbench::rt::task {

bool Branches::poll_branches(Leaf* leaf, Header* task) noexcept {
  Branches& self = *static_cast<Branches*>(leaf);
  begin_budget(task);
  Disposition whole = Disposition::spending;
  bool all_ended = true;
  for (Header* const branch : self.all_) {
    if (branch->resume == 0) continue;
    const Disposition disposition = poll_branch(branch, task);
    if (disposition != Disposition::finished) {
      all_ended = false;
      if (disposition == Disposition::yielded) whole = disposition;
    } else if (self.until_ == Until::one_ends || branch->outcome == Outcome::exception) {
      self.decisive_ = branch;
      all_ended = true;
      whole = Disposition::spending;
      break;
    }
  }
  task->disposition = whole;
  return all_ended;
}

}  // namespace taskbench::rt::task
