// How `--help` looks: one column of options, descriptions wrapped to 100 columns, defaults last.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace taskbench::cli {

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat();
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* app) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace taskbench::cli
