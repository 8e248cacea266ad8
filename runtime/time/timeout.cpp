#include "runtime/time/timeout.hpp"

#include "runtime/task/harness.hpp"

namespace taskbench::rt::time::detail {

bool BranchOrSleep::poll_both(task::Leaf* leaf, task::Header* task) noexcept {
  using task::Disposition;
  BranchOrSleep& self = *static_cast<BranchOrSleep*>(leaf);
  task::begin_budget(task);
  const Disposition branch = task::poll_branch(self.branch_, task);
  self.branch_has_ended_ = branch == Disposition::finished;
  task->disposition = Disposition::spending;
  if (self.branch_has_ended_ || self.sleep_.is_over(task)) return true;
  if (branch == Disposition::yielded) task->disposition = branch;
  return false;
}

}  // namespace taskbench::rt::time::detail
