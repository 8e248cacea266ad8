#include "cli/help_format.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace taskbench::cli {
namespace {

constexpr std::size_t kColumnWidth = 30;
constexpr std::size_t kDescriptionWidth = 100 - kColumnWidth;

// Breaks lines between words, but not inside `last`, which may be empty.
std::string wrapped(const std::string& text, const std::string& last) {
  std::istringstream stream(text);
  std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
  if (!last.empty()) words.push_back(last);
  std::string result;
  std::size_t line_length = 0;
  for (const std::string& word : words) {
    if (line_length > 0 && line_length + 1 + word.size() > kDescriptionWidth) {
      result += '\n';
      line_length = 0;
    } else if (line_length > 0) {
      result += ' ';
      ++line_length;
    }
    result += word;
    line_length += word.size();
  }
  return result;
}

}  // namespace

HelpFormat::HelpFormat() {
  column_width(kColumnWidth);
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
  label("SUBCOMMANDS", "COMMAND");
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  // CLI11 separates its groups both after the one and before the next.
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormat::make_description(const CLI::App* app) const {
  return app->get_description() + "\n\n";
}

std::string HelpFormat::make_subcommand(const CLI::App* app) const {
  const std::string description = app->get_description();
  std::ostringstream out;
  CLI::detail::format_help(out, app->get_name(), description.substr(0, description.find('\n')),
                           column_width_);
  return out.str();
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  // A positional's name is its label already.
  if (option->get_type_size() == 0 || option->get_positional()) return {};
  return " " + option->get_type_name();
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  const std::string& description = option->get_description();
  const std::string value = option->get_default_str();
  return wrapped(description, value.empty() ? "" : fmt::format("[default: {}]", value));
}

}  // namespace taskbench::cli
