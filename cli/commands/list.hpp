// `taskbench list`: what can be measured, and with which constants.
#pragma once

#include "cli/commands/command.hpp"
#include "cli/options.hpp"

namespace taskbench::cli {

struct ListTopic;

class ListCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  const ListTopic* topic_ = nullptr;  ///< none: all
  const PrintedForm* form_ = kTableOrJson;
};

}  // namespace taskbench::cli
