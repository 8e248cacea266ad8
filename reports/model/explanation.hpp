// Why a benchmark fails, as far as its instructions show: what was counted in a pass of its own
// after the trial. Plain values.
#pragma once

#include <string>
#include <vector>

namespace taskbench::reports::model {

/// A function that executes more instructions in head, with those of the system's libraries that it
/// calls. Per iteration.
struct GrownFunction {
  std::string function;  ///< shortened for readers
  std::string file{};    ///< where it grew most; empty if the program has no debug information
  int line = 0;
  double base = 0;
  double head = 0;
  double base_calls = 0;  ///< 0 also for a function that is inlined
  double head_calls = 0;
};

/// Executed instructions or calls of one kind, per iteration.
struct MovedKind {
  std::string kind;
  double base = 0;
  double head = 0;
  std::string function{};  ///< in which there are most more; empty if that is the system's
  std::string file{};      ///< empty if the program has no debug information
  int line = 0;
};

struct Explanation {
  std::string benchmark;
  double base = 0;  ///< instructions per iteration; 0 if they were not counted
  double head = 0;
  double scatter = 0;  ///< relative: by how much two counts of one side differ at most
  std::vector<GrownFunction> functions;  ///< at most three, the one that grew most first
  std::vector<MovedKind> kinds;
  std::string unavailable;  ///< why nothing was counted; else empty
  double took_s = 0;        ///< of the budget
};

}  // namespace taskbench::reports::model
