// Checks of programmer errors that stay in release builds: each costs a predicted branch.
#pragma once

namespace taskbench::rt::base {

/// Prints where and why, then aborts. Never returns.
[[noreturn]] void fail_assertion(const char* what, const char* file, int line) noexcept;

}  // namespace taskbench::rt::base

/// `what` is a sentence that says which rule was broken.
#define TASKBENCH_ASSERT(condition, what)            \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::taskbench::rt::base::fail_assertion(what, __FILE__, __LINE__))
