// `--format table|json` of the commands that print one or the other.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/option_values.hpp"

namespace taskbench::cli {

class FormatOption {
 public:
  void declare(CLI::App& app, OptionValueTable& values);

  /// Otherwise a table is wanted. Throws UsageError.
  [[nodiscard]] bool wants_json() const;

 private:
  std::vector<std::string> given_;
};

}  // namespace taskbench::cli
