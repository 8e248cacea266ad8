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
  fs::path input{"/dev/null"};   ///< its standard input
  fs::path output{"/dev/null"};  ///< its standard output; empty: that of this process
  bool may_fail = false;         ///< whether a status other than 0 is no failure, but a counter
  double timeout_s = 0;          ///< of each run, and of its other commands; 0: none
};

/// Runs each command as often as `settings` say, repetitions of all commands interleaved at random;
/// an iteration is one run. Standard error is discarded. The commands before and after a run are
/// not timed. A command that fails or times out has an error in place of figures. Processes that it
/// leaves behind in its process group are killed when it ends. `stop` may be requested by a signal
/// handler: the running command is killed, and all that is complete is returned.
[[nodiscard]] Result measure_commands(std::span<const TimedCommand> commands,
                                      const Settings& settings,
                                      const std::function<void(const Progress&)>& progress,
                                      const std::stop_token& stop);

}  // namespace taskbench::harness
