#include "harness/files/near_miss.hpp"

#include <array>

namespace taskbench::harness {
namespace {

std::string fold(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return folded;
}

// Number of edits that are forgiven: four in a name of twelve letters, one in the shortest.
std::size_t tolerance(std::string_view text) { return std::max<std::size_t>(1, text.size() / 3); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = fold(a);
  const std::string to = fold(b);
  // Three rows of the usual table suffice: a swap looks two rows back.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    const auto& above = rows[(i - 1) % 3];
    const auto& two_above = rows[(i + 1) % 3];  // i - 2, modulo 3
    auto& row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return rows[from.size() % 3][to.size()];
}

std::optional<std::string_view> nearest(std::string_view text, const Names& names) {
  constexpr std::size_t kLongest = 200;  // longer than any name; comparing long texts takes time
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  const std::string beginning = fold(text);
  const auto begins = [&](std::string_view name) { return fold(name).starts_with(beginning); };
  if (text.size() >= 2 && std::ranges::count_if(names, begins) == 1) {
    return *std::ranges::find_if(names, begins);
  }
  std::optional<std::string_view> best;
  std::size_t best_distance = tolerance(text) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view text, const Names& names) {
  const std::string problem = fmt::format("unknown {} '{}'", kind, shortened(text));
  if (const auto near = nearest(text, names)) {
    return fmt::format("{}; did you mean '{}'?", problem, *near);
  }
  if (names.empty()) return problem;
  return fmt::format("{}; there {} {}", problem, names.size() == 1 ? "is only" : "are",
                     fmt::join(names, ", "));
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (starts && ++characters > kMost) break;
  }
  end = std::min(end, 4 * kMost);  // invalid UTF-8 may be continuation bytes only
  return end < text.size() ? fmt::format("{}…", text.substr(0, end)) : std::string(text);
}

}  // namespace taskbench::harness
