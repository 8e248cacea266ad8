// What clang's thread safety analysis reads (-Wthread-safety): which lock guards a member, and
// which locks a function takes, gives up or needs. Reading a member outside of its lock then does
// not compile. The permutation tester cannot see that: to it, plain memory is not an operation.
//
// These expand to nothing for other compilers, and with the tester's primitives, whose locks are
// other types: each source is compiled with the real ones, too.
//
// Not expressed: a guard that belongs to another object, such as the lock of the list that a
// sync::detail::Waiter is in. The comment of such a member names the lock.
//
// Reference: Hutchins, Ballman & Sutherland, "C/C++ Thread Safety Analysis" (SCAM 2014).
#pragma once

#if defined(__clang__) && !defined(TASKBENCH_MODEL)
#define TASKBENCH_THREAD_SAFETY(...) __attribute__((__VA_ARGS__))
#else
#define TASKBENCH_THREAD_SAFETY(...)
#endif

// For types: a lock; and an object that holds one from its constructor to its destructor.
#define TASKBENCH_LOCK TASKBENCH_THREAD_SAFETY(capability("mutex"))
#define TASKBENCH_LOCK_SCOPE TASKBENCH_THREAD_SAFETY(scoped_lockable)

// For members: read and written with the lock held; and what a pointer points to.
#define TASKBENCH_GUARDED_BY(...) TASKBENCH_THREAD_SAFETY(guarded_by(__VA_ARGS__))

// For functions: called with the lock held; called without it; takes it, tries to, gives it up.
#define TASKBENCH_REQUIRES(...) TASKBENCH_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define TASKBENCH_EXCLUDES(...) TASKBENCH_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define TASKBENCH_ACQUIRE(...) TASKBENCH_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define TASKBENCH_TRY_ACQUIRE(...) TASKBENCH_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define TASKBENCH_RELEASE(...) TASKBENCH_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define TASKBENCH_RETURNS_LOCK(...) TASKBENCH_THREAD_SAFETY(lock_returned(__VA_ARGS__))

// For functions: not analysed. Locks are made of such functions; elsewhere a comment says why.
#define TASKBENCH_UNCHECKED TASKBENCH_THREAD_SAFETY(no_thread_safety_analysis)
