#include "cli/options/help_format.hpp"

#include <sstream>

#include "harness/os/system_file.hpp"
#include "reports/render/columns.hpp"

namespace taskbench::cli {
namespace {

using render::display_width;
using render::wrap;

constexpr std::size_t kColumnWidth = 30;  // of the names of options
constexpr std::size_t kLeastTextWidth = 20;

/// Two spaces and the name, then the text in the column of descriptions.
std::string entry(const std::string& name, const std::string& text) {
  std::ostringstream out;
  CLI::detail::format_help(out, name, text, kColumnWidth);
  return out.str();
}

/// Wraps text in paragraphs: consecutive lines are joined first. Indented lines, as in examples,
/// stay as they are; the rest of one that is too wide is indented further.
std::string reflowed(std::string_view text, std::size_t width) {
  std::string result;
  std::string paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) result += joined(wrap(paragraph, width), "\n") + '\n';
    paragraph.clear();
  };
  for (const std::string_view line : lines_of(text)) {
    if (!line.empty() && line.front() != ' ') {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
      if (line.ends_with(':')) flush();  // a heading
      continue;
    }
    flush();
    if (line.empty() || display_width(line) <= width) {
      result += std::string(line) + '\n';
    } else {
      const auto indent = line.find_first_not_of(' ');
      for (const std::string& part : wrap(line.substr(indent), width - indent, "    ")) {
        result += std::string(indent, ' ') + part + '\n';
      }
    }
  }
  flush();
  return result;
}

}  // namespace

HelpFormat::HelpFormat(int width)
    : width_(static_cast<std::size_t>(
          std::clamp<int>(width, static_cast<int>(kColumnWidth + kLeastTextWidth), kHelpWidth))) {
  column_width(kColumnWidth);
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
  label("SUBCOMMANDS", "COMMAND");
}

/// Wraps text for the column of descriptions. `last`, which may be empty, stays on one line.
std::string HelpFormat::in_column(const std::string& text, const std::string& last) const {
  const std::size_t room = width_ - kColumnWidth;
  Strings lines = wrap(text, room);
  if (last.empty()) return joined(lines, "\n");
  if (text.empty()) {
    lines = wrap(last, room);
  } else if (display_width(lines.back()) + 1 + display_width(last) <= room) {
    lines.back() += ' ' + last;
  } else {
    std::ranges::move(wrap(last, room), std::back_inserter(lines));
  }
  return joined(lines, "\n");
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  // CLI11 puts a separator both after a group and before the next.
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormat::make_description(const CLI::App* app) const {
  return reflowed(app->get_description(), width_) + '\n';
}

std::string HelpFormat::make_footer(const CLI::App* app) const {
  const std::string footer = app->get_footer();
  return footer.empty() ? footer : '\n' + reflowed(footer, width_);
}

std::string HelpFormat::make_subcommand(const CLI::App* app) const {
  const std::string description = app->get_description();
  return entry(app->get_name(), in_column(description.substr(0, description.find('\n')), ""));
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  // A positional's name already serves as its label.
  if (option->get_type_size() == 0 || option->get_positional()) return {};
  return " " + option->get_type_name();
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  const std::string& description = option->get_description();
  const std::string value = option->get_default_str();
  return in_column(description, value.empty() ? "" : fmt::format("[default: {}]", value));
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

Strings command_names(const CLI::App& app) {
  return each_of(commands_of(app), [](const CLI::App* each) { return each->get_name(); });
}

std::string command_list(const CLI::App& app, int width) {
  const HelpFormat format(width);
  std::string text;
  for (const CLI::App* each : commands_of(app)) text += format.make_subcommand(each);
  return text;
}

}  // namespace taskbench::cli
