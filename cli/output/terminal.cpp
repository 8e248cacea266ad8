#include "cli/output/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <charconv>
#include <cstdlib>

namespace taskbench::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

}  // namespace

int columns(int descriptor, int otherwise) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view text = environment("COLUMNS");
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 ? value : otherwise;
}

bool takes_escapes(int descriptor) {
  const std::string_view term = environment("TERM");
  return ::isatty(descriptor) == 1 && !term.empty() && term != "dumb";
}

namespace {

/// The user has not asked for plain text by NO_COLOR (https://no-color.org).
bool takes_colour(int descriptor) {
  return takes_escapes(descriptor) && environment("NO_COLOR").empty();
}

/// A terminal that shows more than ASCII, by the locale of whoever started this process.
bool takes_utf8(int descriptor) {
  if (!takes_escapes(descriptor)) return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set counts
    std::string locale(environment(name));
    if (locale.empty()) continue;
    for (char& each : locale)
      each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

render::TableStyle table_style(int descriptor) {
  render::TableStyle style;
  const int known = columns(descriptor, 0);
  style.colour = takes_colour(descriptor);
  style.folds = known > 0;
  if (style.folds) style.width = known;
  style.distribution = takes_utf8(descriptor);
  return style;
}

}  // namespace taskbench::cli
