// Reads the text files of /proc and /sys, and parses texts. What does not exist or cannot be parsed
// is empty.
#pragma once

#include <concepts>
#include <cstdint>

#include "harness/os/names.hpp"
#include "reports/model/pieces.hpp"

namespace taskbench::harness {

/// The text without the blanks and line breaks around it.
[[nodiscard]] std::string trimmed(std::string_view text);

/// The first line of a file; empty if there is no such file.
[[nodiscard]] std::string first_line(const fs::path& path);

/// The value of an environment variable; empty if it is not set.
[[nodiscard]] std::string environment_value(const char* name);

/// The content of a file; empty if it cannot be read.
[[nodiscard]] std::optional<std::string> content_of(const fs::path& path);

/// The parts of a text between its separators. One part, if there is none.
[[nodiscard]] std::vector<std::string_view> parts_of(std::string_view text, char separator);

/// The lines of a text, without their breaks.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The words of a text, which blanks separate.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// The entries of a text, each of which ends with a NUL: `git -z`, /proc/PID/environ.
[[nodiscard]] Strings entries_of(std::string_view text);

/// Deleted, since the views would refer to a temporary text.
template <std::same_as<std::string> Text>
std::vector<std::string_view> lines_of(Text&&) = delete;
template <std::same_as<std::string> Text>
std::vector<std::string_view> words_of(Text&&) = delete;

/// The number that the whole text consists of; the base is optional.
template <class Number, class... Base>
[[nodiscard]] std::optional<Number> number(std::string_view text, Base... base) {
  Number value{};
  return model::read_number(text, value, base...) ? std::optional(value) : std::nullopt;
}

/// The number that a file's first line consists of.
[[nodiscard]] std::optional<std::int64_t> whole_number_in(const fs::path& path);

/// Parses "0-2,8" as 0, 1, 2, 8. Empty if it is not a list of CPUs.
[[nodiscard]] std::vector<unsigned> cpu_list(std::string_view text);

/// The value of "NAME: VALUE" in files like /proc/self/status; empty if there is none.
[[nodiscard]] std::string value_of_line(const fs::path& path, std::string_view name);

/// The CPUs that /proc/self/status allows this process. Empty if it does not say.
[[nodiscard]] std::vector<unsigned> allowed_cpus_below(const fs::path& root);

}  // namespace taskbench::harness
