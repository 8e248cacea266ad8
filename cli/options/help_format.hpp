// The layout of `--help`: one column of options, text wrapped to the terminal, defaults last.
#pragma once

#include <cstddef>

#include <CLI/CLI.hpp>

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// Width of the help text if no terminal determines it.
inline constexpr int kHelpWidth = 100;

class HelpFormat : public CLI::Formatter {
 public:
  /// `width` is the terminal's; columns beyond kHelpWidth are not used.
  explicit HelpFormat(int width);
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* app) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;

 private:
  [[nodiscard]] std::string in_column(const std::string& text, const std::string& last) const;

  std::size_t width_;
};

/// The subcommands of `app`, in their order.
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// Names of the subcommands of `app`.
[[nodiscard]] Strings command_names(const CLI::App& app);

/// A line for each subcommand, as in the help of `app`: its name, and what it does.
[[nodiscard]] std::string command_list(const CLI::App& app, int width);

}  // namespace taskbench::cli
