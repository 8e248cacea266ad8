#include "reports/perf/source_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "reports/model/pieces.hpp"

namespace taskbench::reports::perf {

using model::next_line;
using model::read_number;
namespace {

/// "/src/queue.hpp:120 (discriminator 3)"
std::optional<SourceFrame> frame_at(std::string_view function, std::string_view place) {
  place = place.substr(0, place.find(" (discriminator"));
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  SourceFrame frame{std::string(function), std::string(place.substr(0, colon)), 0};
  const bool is_known = read_number(place.substr(colon + 1), frame.line) && frame.line > 0;
  return is_known && frame.file != "??" ? std::optional(std::move(frame)) : std::nullopt;
}

/// Length of a name at `place` that contains brackets itself: "operator()", "operator<<",
/// "(anonymous namespace)".
std::size_t bracketed_name(std::string_view name, std::size_t place) {
  constexpr std::string_view kOperator = "operator";
  const std::string_view rest = name.substr(place);
  for (const std::string_view whole : {"(anonymous namespace)", "operator()"}) {
    if (rest.starts_with(whole)) return whole.size();
  }
  if (!rest.starts_with(kOperator)) return 0;
  return std::min(rest.find_first_not_of("<>=!+-*/%&|^~[],", kOperator.size()), rest.size());
}

/// The position after the bracket at `begin` and its content; npos if it is not closed.
std::size_t behind(std::string_view name, std::size_t begin) {
  constexpr std::string_view kOpening = "(<{[";
  constexpr std::string_view kClosing = ")>}]";
  int depth = 0;
  for (std::size_t i = begin; i < name.size(); ++i) {
    if (const std::size_t skipped = bracketed_name(name, i); skipped > 0) {
      i += skipped - 1;
      continue;
    }
    if (kOpening.find(name[i]) != std::string_view::npos) ++depth;
    if (kClosing.find(name[i]) != std::string_view::npos) --depth;
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

std::string without_clones(std::string_view name) {
  const std::string_view whole = name;
  name = name.substr(0, name.find(" [clone "));
  for (const std::string_view clone : {".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."}) {
    name = name.substr(0, name.find(clone));
  }
  return std::string(name.empty() ? whole : name);
}

/// The start of the parameters: the last bracket that is not inside another. npos if none.
std::size_t parameters_of(std::string_view name) {
  std::size_t found = std::string_view::npos;
  for (std::size_t i = 0; i < name.size();) {
    if (const std::size_t skipped = bracketed_name(name, i); skipped > 0) {
      i += skipped;
    } else if (name[i] == '(' || name[i] == '<' || name[i] == '{') {
      if (name[i] == '(') found = i;
      i = behind(name, i);
      if (i == std::string_view::npos) return found;
      // "f(int)::g": these are the parameters of the enclosing function.
      if (name[i - 1] == ')' && name.substr(i).starts_with("::")) found = std::string_view::npos;
    } else {
      ++i;
    }
  }
  return found;
}

/// The start of the name after a return type: after the last blank that is outside brackets, except
/// in operators.
std::size_t begin_of(std::string_view name) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size() && !name.substr(i).starts_with("operator");) {
    if (const std::size_t skipped = bracketed_name(name, i); skipped > 0) {
      i += skipped;
    } else if (name[i] == '(' || name[i] == '<' || name[i] == '{') {
      i = behind(name, i);
    } else if (name[i++] == ' ') {
      begin = i;
    }
  }
  return begin;
}

std::string without_template_arguments(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t skipped = bracketed_name(name, i);
    const std::size_t end = skipped == 0 && name[i] == '<' ? behind(name, i) : 0;
    if (end == 0 || end == std::string_view::npos) {
      text += name.substr(i, std::max<std::size_t>(skipped, 1));
      i += std::max<std::size_t>(skipped, 1);
    } else {
      text += "<…>";
      i = end;
    }
  }
  return text;
}

}  // namespace

SourceLines parse_addr2line(std::string_view text) {
  SourceLines result;
  std::vector<SourceFrame>* frames = nullptr;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with("0x")) {
      std::uint64_t address = 0;
      (void)read_number(line.substr(2), address, 16);
      frames = &result[address];
      continue;
    }
    const std::string_view place = next_line(text);
    if (frames == nullptr) continue;
    if (auto frame = frame_at(line, place)) frames->push_back(*std::move(frame));
  }
  return result;
}

std::string short_function_name(std::string_view name) {
  constexpr std::size_t kLong = 50;
  std::string text = without_clones(name);
  if (const std::size_t end = parameters_of(text); end != std::string::npos && end > 0) {
    text.resize(end);
  }
  text.erase(0, begin_of(text));
  if (text.size() > kLong) text = without_template_arguments(text);
  return text.empty() ? std::string(name) : text;
}

}  // namespace taskbench::reports::perf
