// `taskbench report`: results and comparisons as a page with plots.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/report_writer.hpp"

namespace taskbench::cli {

class ReportCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  std::vector<std::string> results_;
  ReportRequest request_;
};

}  // namespace taskbench::cli
