// Reads the text files of /proc and /sys, and whole executables. What does not exist, or is not
// understood, is empty.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taskbench::harness {

/// The text without the blanks and line breaks around it.
[[nodiscard]] std::string trimmed(std::string_view text);

/// The first line of a file; empty if there is no such file.
[[nodiscard]] std::string first_line(const std::filesystem::path& path);

/// Where reading stops by default: none of the system's texts is that long.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kWholeFile = std::numeric_limits<std::size_t>::max();

/// The content of a file, or at least this much of it; empty if it cannot be read.
[[nodiscard]] std::optional<std::string> content_of(const std::filesystem::path& path,
                                                    std::size_t most_bytes = kMostTextBytes);

/// The lines of a text, without their breaks.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The words of a text, which blanks separate.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// The entries of a text, each of which ends with a zero: `git -z`, /proc/PID/environ.
[[nodiscard]] std::vector<std::string> entries_of(std::string_view text);

/// The views would refer to a temporary text.
template <std::same_as<std::string> Text>
std::vector<std::string_view> lines_of(Text&&) = delete;
template <std::same_as<std::string> Text>
std::vector<std::string_view> words_of(Text&&) = delete;

/// The number that `text` consists of.
template <class Number>
[[nodiscard]] std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The number that a file's first line consists of.
[[nodiscard]] std::optional<std::int64_t> whole_number_in(const std::filesystem::path& path);

/// Parses "0-2,8" as 0, 1, 2, 8. Empty if it is no list of CPUs.
[[nodiscard]] std::vector<unsigned> cpu_list(std::string_view text);

/// The value of "NAME: VALUE" in files like /proc/self/status; empty if there is none.
[[nodiscard]] std::string value_of_line(const std::filesystem::path& path, std::string_view name);

/// The CPUs that /proc/self/status allows this process. Empty if it does not say.
[[nodiscard]] std::vector<unsigned> allowed_cpus_below(const std::filesystem::path& root);

}  // namespace taskbench::harness
