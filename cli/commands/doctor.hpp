// `taskbench doctor`: what will disturb a measurement here, and the least that anything costs.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/commands/command.hpp"
#include "cli/options.hpp"

namespace taskbench::cli {

class DoctorCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  const PrintedForm* form_ = kTableOrJson;
  std::optional<std::filesystem::path> json_;
  bool quiet_ = false;
};

}  // namespace taskbench::cli
