// Runs a piece of code in every way that its threads and the C++ memory model allow.
//
//   const mc::Result result = mc::check({}, [] {
//     mc::Atomic<int> flag{0};
//     mc::Thread writer([&] { flag.store(1, mc::release); });
//     mc::sometimes("seen", flag.load(mc::acquire) == 1);
//     writer.join();
//     mc::require(flag.load(mc::relaxed) == 1, "the join hands over the store");
//   });
//
// docs/design/permutation_testing.md explains how, and what is not explored.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>

namespace mc {

enum class Search : std::uint8_t {
  exhaustive,  ///< every execution that differs in the order of two dependent operations
  random,      ///< `executions` of them, each choice drawn
  pct,         ///< likewise, but threads run by drawn priorities, which change only a few times
};

struct Options {
  int preemptions = -1;  ///< most switches away from a thread that could continue; -1: unlimited
  Search search = Search::exhaustive;
  std::uint64_t executions = UINT64_MAX;  ///< stops after this many
  std::uint64_t seed = 1;                 ///< of the random draws
  int depth = 3;                          ///< of pct: one more than the number of priority changes
  int length = 0;  ///< of pct: the steps to draw the changes from; 0: those of a first execution
  int jobs = 1;  ///< processes that share the search; what they write into caller variables is lost
  int spurious = 0;         ///< spurious wake-ups in one execution
  int weak_failures = 1;    ///< of weak compare-exchanges and try_lock, spurious, in one execution
  int stale = -1;           ///< most accesses that bypass the newest value; -1: unlimited
  bool timeouts = false;    ///< a wait may end at its deadline
  int early = -1;           ///< most such waits while any thread could go on; -1: unlimited
  int threads = -1;         ///< that the system gives, including the body's; then std::system_error
  bool reduction = true;    ///< false: every order of all operations, for comparison
  int steps = 20'000;       ///< operations of one execution; more count as a livelock; up to 30'000
  std::string name = {};    ///< of the model; names its checkpoint
  std::string replay = {};  ///< runs only the execution with this trace
};

struct Result {
  bool failed = false;
  std::string message;     ///< what was wrong
  std::string trace;       ///< replays the failure
  std::uint64_t seed = 0;  ///< of a search that draws
  std::string events;      ///< what happened in the failed execution, as a table
  std::uint64_t executions = 0;
  std::uint64_t pruned = 0;  ///< abandoned, as another execution does the same
  int depth = 0;             ///< number of choices in the longest execution
  int threads = 0;           ///< most threads in one execution
  bool complete = false;     ///< everything was explored
  double seconds = 0;
  std::set<std::string> outcomes{};  ///< reported by bodies through outcome()
};

/// Calls `body` once for each execution. Must not be called from a body. Environment variables:
/// MC_TRACE replays one execution; MC_SEED and MC_JOBS override the options; MC_PROGRESS is the
/// interval in seconds at which a search reports its progress, by default 10; MC_CHECKPOINT is a
/// folder in which a search that has a name keeps its state: if it is killed and run again with the
/// same options, it resumes from there.
[[nodiscard]] Result check(const Options& options, const std::function<void()>& body);

// --- for bodies

/// Fails the execution unless `condition` holds.
void require(bool condition, std::string_view what,
             std::source_location where = std::source_location::current());

/// `outcome` must be true in some execution, or the check fails: a test that never reaches the case
/// it is about shows nothing.
void sometimes(std::string_view name, bool outcome);

/// Adds the result of this execution to Result::outcomes.
void outcome(std::string_view text);

/// Returns a number in [0, count); each of them is returned in some execution. At most 255.
[[nodiscard]] int choose(int count);

}  // namespace mc
