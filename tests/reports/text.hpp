// Helpers for tests of text.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace taskbench::reports {

inline testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

inline void expect_parts(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) EXPECT_TRUE(contains(text, part));
}

inline std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Replaces the first `from` in the text, which must contain it.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return place == std::string::npos ? text : text.replace(place, from.size(), to);
}

/// The message of what the call throws; it may throw nothing but an Error.
template <class Error>
std::string what_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace taskbench::reports
