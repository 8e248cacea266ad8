// `taskbench baseline list`, `show`, `promote` and `rm`: those that only look into the store.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/baseline_store.hpp"
#include "cli/commands/command.hpp"
#include "cli/options.hpp"

namespace taskbench::cli {

struct StoredArguments {
  std::optional<std::string> name;
  std::filesystem::path store{kDefaultStore};
  std::optional<std::string> key;
  const PrintedForm* form = kTableOrJson;
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
