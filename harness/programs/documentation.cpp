#include "harness/programs/documentation.hpp"

#include <fnmatch.h>

namespace taskbench::harness {
namespace {

using Name = fs::path::const_iterator;

bool matches_names(Name pattern, Name pattern_end, Name name, Name end) {
  if (pattern == pattern_end) return name == end;
  if (*pattern == "**") {
    for (const Name rest = std::next(pattern);; ++name) {
      if (matches_names(rest, pattern_end, name, end)) return true;
      if (name == end) return false;
    }
  }
  return name != end && ::fnmatch(pattern->c_str(), name->c_str(), 0) == 0 &&
         matches_names(std::next(pattern), pattern_end, std::next(name), end);
}

bool is_at_or_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(path, folder).in2 == folder.end();
}

/// Why a symbolic link of the commit may lead to one of the files; empty if none does. A link that
/// leads out of the checkout leads to none of them.
std::string link_to_any(const std::map<fs::path, fs::path>& links, const Strings& files,
                        const Strings& patterns) {
  for (const auto& [path, text] : links) {
    const auto is_like_it = [&](const std::string& each) { return matches(each, path); };
    if (std::ranges::any_of(patterns, is_like_it)) continue;
    fs::path target = (path.parent_path() / text).lexically_normal();
    if (!target.has_filename()) target = target.parent_path();  // "docs/"
    if (target.is_absolute() || *target.begin() == "..") continue;
    for (const std::string& file : files) {
      if (target == "." || is_at_or_below(file, target)) {
        return fmt::format("{} differs, and the link {} leads to it", file, path.string());
      }
    }
    for (const auto& [other, unused] : links) {
      if (is_at_or_below(target, other)) {
        return fmt::format("the link {} leads to another link", path.string());
      }
    }
  }
  return {};
}

}  // namespace

bool matches(const std::string& pattern, const fs::path& path) {
  const fs::path names(pattern);
  return matches_names(names.begin(), names.end(), path.begin(), path.end());
}

DocumentationOnly difference_in_documentation(const GitRepository& repository,
                                              const std::string& base, const std::string& head,
                                              const Strings& patterns) {
  DocumentationOnly result;
  try {
    for (const ChangedFile& file : repository.changes(base, head)) {
      const auto is_like_it = [&](const std::string& each) { return matches(each, file.path); };
      const bool is_source = file.is_submodule || std::ranges::none_of(patterns, is_like_it);
      (is_source ? result.sources : result.changed).push_back(file.path);
    }
    if (!result.sources.empty()) {
      result.doubt = fmt::format("{} differs", result.sources.front());
    } else if (!result.changed.empty()) {
      result.doubt = link_to_any(repository.links(head), result.changed, patterns);
    }
  } catch (const GitError& error) {
    result.doubt = error.what();
  }
  result.holds = result.doubt.empty();
  return result;
}

}  // namespace taskbench::harness
