// Measures commands as a whole, each from its start to its end.
#pragma once

#include "harness/bench/measure.hpp"
#include "harness/os/names.hpp"

namespace taskbench::harness {

struct TimedCommand {
  std::string name;
  Strings words;       ///< the program, looked up in PATH, and its arguments; no shell reads them
  Strings setup{};     ///< a command before its first run; empty: none
  Strings prepare{};   ///< a command before each run
  Strings conclude{};  ///< a command after each run
  fs::path input{"/dev/null"};   ///< what it reads
  fs::path output{"/dev/null"};  ///< where it prints to; empty: where this process does
  bool may_fail = false;         ///< whether it may end with another status than 0
  double timeout_s = 0;          ///< of it, and of those beside it; 0: none
};

/// Runs each command as often as `settings` say, repetitions of all commands interleaved at random;
/// an iteration is one run. What it prints on standard error is thrown away. What is run before and
/// after it is not timed. A command that fails, or does not end in time, has an error in place of
/// figures. Whatever it has started in its process group and left behind is killed when it ends.
/// `stop` may be requested by a signal handler: the command that runs is killed, and what is
/// complete is returned.
[[nodiscard]] Result measure_commands(std::span<const TimedCommand> commands,
                                      const Settings& settings,
                                      const std::function<void(const Progress&)>& progress,
                                      const std::stop_token& stop);

}  // namespace taskbench::harness
