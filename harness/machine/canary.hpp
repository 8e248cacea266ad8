// The canary: a fixed piece of work that is timed between the processes of a measured program, to
// distinguish a slower program from a slower machine.
//
// FROZEN. Stored baselines contain its times, and measured times are divided by them: any change to
// the work of canary.cpp, even to a number of steps, invalidates every stored baseline and must
// raise kCanaryVersion.
//
// A measured program mostly uses all CPUs, and so does the canary: one thread on each available
// CPU, all at the same time, so that it reveals a delay on any of them. If there are more than
// sixteen CPUs, it uses sixteen.
//
// Four parts, since a machine has more than one speed: a chain of dependent integer operations (the
// clock rate of the cores), a walk from cache line to cache line in random order through a fresh
// buffer that is larger than the second-level cache (caches, memory, neighbours), two threads on
// each CPU that wake each other by futex (system calls, the scheduler of the kernel), and two CPUs
// that pass a cache line back and forth without sleeping (how far apart the host has placed them).
#pragma once

#include "harness/os/names.hpp"
#include "reports/model/baseline.hpp"
#include "reports/model/machine_key.hpp"

namespace taskbench::harness {

inline constexpr int kCanaryVersion = 2;

/// Times each part five times, which takes about 50 ms in total. Takes the minimum of each part and
/// its mean over the CPUs. Throws std::runtime_error if the system gives no memory or no thread.
[[nodiscard]] model::CanaryTimes time_canary();

/// The facts that the canary's times depend on besides the machine: its version, compiler and
/// flags. For the build fields of a key.
[[nodiscard]] std::vector<model::KeyField> canary_fields();

}  // namespace taskbench::harness
