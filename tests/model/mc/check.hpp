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
// docs/design/permutation_testing.md says how, and what is not explored.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>

namespace mc {

enum class Search : std::uint8_t {
  exhaustive,  ///< every execution that differs in the order of two operations that matter
  random,      ///< `executions` of them, each choice drawn
  pct,         ///< likewise, but threads run by drawn priorities, of which few change on the way
};

struct Options {
  int preemptions = -1;  ///< most switches away from a thread that could go on; -1: any number
  Search search = Search::exhaustive;
  std::uint64_t executions = UINT64_MAX;  ///< after so many, stop
  std::uint64_t seed = 1;                 ///< of the random draws
  int depth = 3;                          ///< of pct: one more than the changes of a priority
  int length = 0;  ///< of pct: the steps among which these are drawn; 0: of a first execution
  int jobs = 1;  ///< processes that share the search; what they write for the body's caller is lost
  int spurious = 0;         ///< wake-ups for no reason, in one execution
  int weak_failures = 1;    ///< of weak compare-exchanges for no reason, likewise
  int stale = -1;           ///< most accesses that pass by the newest value; -1: any number
  bool timeouts = false;    ///< a wait may end at its deadline
  int early = -1;           ///< most that do though another thread could go on; -1: any number
  int threads = -1;         ///< that the system gives, the body's included; then std::system_error
  bool reduction = true;    ///< false: every order of all operations, to compare with
  int steps = 20'000;       ///< operations of one execution; more are a livelock
  std::string name = {};    ///< of the model, for MC_CHECKPOINT
  std::string replay = {};  ///< only the execution of this trace
};

struct Result {
  bool failed = false;
  std::string message;     ///< what was wrong
  std::string trace;       ///< replays it
  std::uint64_t seed = 0;  ///< of the search, if it draws
  std::string events;      ///< what happened, as a table
  std::uint64_t executions = 0;
  std::uint64_t pruned = 0;  ///< given up: another execution does the same
  int depth = 0;             ///< choices of the longest execution
  int threads = 0;           ///< the most of one execution
  bool complete = false;     ///< all was explored
  double seconds = 0;
  std::set<std::string> outcomes{};  ///< those that bodies have reported
};

/// Calls `body` once for each execution. It may be called anywhere but in a body. Environment
/// variables: MC_TRACE replays one execution; MC_SEED and MC_JOBS replace the options; a search
/// says how far it has got every MC_PROGRESS seconds, by default 10; MC_CHECKPOINT is a folder,
/// where a search that has a name keeps what it has done: killed, and run again with the same
/// options, it goes on from there.
[[nodiscard]] Result check(const Options& options, const std::function<void()>& body);

// --- for bodies

/// Fails the execution unless `condition` holds.
void require(bool condition, std::string_view what,
             std::source_location where = std::source_location::current());

/// `outcome` must be true in some execution, or the check fails: a test that never gets where it
/// wants to look shows nothing.
void sometimes(std::string_view name, bool outcome);

/// Adds what came of this execution to Result::outcomes.
void outcome(std::string_view text);

/// Returns a number in [0, count), each of them in some execution.
[[nodiscard]] int choose(int count);

}  // namespace mc
