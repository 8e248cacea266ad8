// `taskbench baseline list`, `show`, `promote` and `rm`: those that only look into the store.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/format_option.hpp"

namespace taskbench::cli {

struct StoredArguments {
  std::vector<std::string> name;
  std::vector<std::string> store;
  std::vector<std::string> key;
  FormatOption format;
  bool all_keys = false;
};

class BaselineListCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

class BaselineShowCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

class BaselinePromoteCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

class BaselineRemoveCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

}  // namespace taskbench::cli
