#include "workloads/measure/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stop_token>
#include <string_view>
#include <utility>

#include "workloads/machine/system_file.hpp"

namespace taskbench::workloads::measure {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> arguments_of(const Program& program) {
  return {program.command().begin() + 1, program.command().end()};
}

/// Where its own files are: beside it, or, as installed programs have them, beside "bin".
fs::path folder_of(const Program& program) {
  fs::path folder = program.executable().parent_path();
  return folder.filename() == "bin" ? folder.parent_path() : folder;
}

/// What ldd says of it, without the addresses, which differ each time. A library of its own folder
/// is named from there, with a digest of its bytes. Empty when ldd fails, as it does for a static
/// binary.
std::string libraries_of(const Program& program, const std::stop_token& stop) {
  const std::string folder = folder_of(program).string() + '/';
  std::string result;
  for (const std::string_view word : words_of_ldd(program.executable(), stop)) {
    if (word.starts_with('(')) continue;
    if (word.starts_with(folder)) {
      const auto content = content_of(fs::path(word), kWholeFile);
      result += fmt::format("{} {}\n", word.substr(folder.size()), digest_of(content.value_or("")));
    } else {
      result += fmt::format("{}\n", word);
    }
  }
  return result;
}

/// A link leads to the same file on both sides only when it leads out of neither folder.
bool stays_inside(const fs::path& link, const fs::path& target) {
  if (target.is_absolute()) return true;  // and equal texts are one file
  const fs::path end = (link.parent_path() / target).lexically_normal();
  return end.empty() || *end.begin() != "..";
}

/// All that is below a folder, by its path there.
class Listing {
 public:
  /// False when there is too much, or what cannot be read.
  bool read(const fs::path& folder) {
    std::error_code failed;
    auto each = fs::recursive_directory_iterator(folder, failed);
    for (; !failed && each != fs::end(each); each.increment(failed)) {
      const auto status = each->symlink_status(failed);
      if (failed) return false;
      if (status.type() == fs::file_type::regular) bytes_ += each->file_size(failed);
      entries_.emplace(each->path().lexically_relative(folder), status);
      if (entries_.size() > kMostComparedFiles || bytes_ > kMostComparedBytes) return false;
    }
    return !failed;
  }
  [[nodiscard]] const std::map<fs::path, fs::file_status>& entries() const { return entries_; }

 private:
  std::map<fs::path, fs::file_status> entries_;
  std::uintmax_t bytes_ = 0;
};

bool have_equal_bytes(const fs::path& base, const fs::path& head) {
  std::error_code failed;
  if (fs::file_size(base, failed) != fs::file_size(head, failed) || failed) return false;
  const auto content = content_of(base, kWholeFile);
  return content && content == content_of(head, kWholeFile);
}

/// What lies at `below` in both folders.
bool are_equal(const fs::path& base, const fs::path& head, const fs::path& below,
               const fs::file_status& one, const fs::file_status& other) {
  if (one.type() != other.type() || one.permissions() != other.permissions()) return false;
  if (one.type() == fs::file_type::directory) return true;
  if (one.type() == fs::file_type::regular) return have_equal_bytes(base / below, head / below);
  if (one.type() != fs::file_type::symlink) return false;
  std::error_code failed;
  const fs::path target = fs::read_symlink(base / below, failed);
  const fs::path other_target = fs::read_symlink(head / below, failed);
  return !failed && target == other_target && stays_inside(below, target);
}

std::optional<std::string> difference_of_folders(const fs::path& base, const fs::path& head) {
  Listing ours;
  Listing theirs;
  if (!ours.read(base) || !theirs.read(head)) {
    return fmt::format("more than {} files or {} MiB, or what cannot be read, lie in {} or {}",
                       kMostComparedFiles, kMostComparedBytes >> 20, base.string(), head.string());
  }
  for (const auto& [path, status] : ours.entries()) {
    const auto other = theirs.entries().find(path);
    if (other == theirs.entries().end()) {
      return fmt::format("head has no {}", path.string());
    }
    if (!are_equal(base, head, path, status, other->second)) {
      return fmt::format("{} differs", path.string());
    }
  }
  for (const auto& [path, status] : theirs.entries()) {
    if (!ours.entries().contains(path)) return fmt::format("base has no {}", path.string());
  }
  return std::nullopt;
}

fs::path root_of(const InstalledProgram& each) {
  return each.root.empty() ? each.program->executable().parent_path() : each.root;
}

std::optional<std::string> difference_of_outputs(const InstalledProgram& base,
                                                 const InstalledProgram& head,
                                                 const std::vector<std::string>& outputs) {
  for (const std::string& name : outputs) {
    const fs::path ours = root_of(base) / name;
    const fs::path theirs = root_of(head) / name;
    const bool one = fs::exists(ours);
    const bool other = fs::exists(theirs);
    if (!one && !other) {
      throw NoSuchOutput(fmt::format("neither {} nor {} exists", ours.string(), theirs.string()));
    }
    if (one != other) return fmt::format("{} has no {}", one ? "head" : "base", name);
    if (const auto difference = first_difference(ours, theirs)) {
      return fs::is_directory(ours) ? fmt::format("in {}, {}", name, *difference)
                                    : fmt::format("{} differs", name);
    }
  }
  return std::nullopt;
}

/// What may make programs of equal bytes, arguments and libraries different ones.
std::string doubt_about(const InstalledProgram& base, const InstalledProgram& head,
                        const std::vector<std::string>& outputs) {
  if (!outputs.empty()) return difference_of_outputs(base, head, outputs).value_or("");
  const bool is_taskbench = base.program->kind() == Program::Kind::taskbench &&
                            head.program->kind() == Program::Kind::taskbench;
  if (is_taskbench) return {};
  // A program may look beside the path by which it is called, or beside the file that this leads
  // to.
  const fs::path called = called_path(base.program->command());
  const fs::path other = called_path(head.program->command());
  if (called == other) return {};
  if (called.filename() != other.filename()) return "they have different names";
  if (called != base.program->executable() || other != head.program->executable()) {
    return "one of them is called by a link";
  }
  const auto difference = difference_of_folders(folder_of(*base.program), folder_of(*head.program));
  return difference ? fmt::format("beside them, {}", *difference) : std::string();
}

}  // namespace

std::optional<std::string> first_difference(const fs::path& base, const fs::path& head) {
  std::error_code failed;
  const auto one = fs::status(base, failed);
  const auto other = fs::status(head, failed);
  if (one.type() == fs::file_type::directory && other.type() == fs::file_type::directory) {
    return difference_of_folders(base, head);
  }
  const bool equal = one.type() == fs::file_type::regular && one.type() == other.type() &&
                     one.permissions() == other.permissions() && have_equal_bytes(base, head);
  return equal ? std::nullopt : std::optional<std::string>("they differ");
}

Identity identity_of(const InstalledProgram& base, const InstalledProgram& head,
                     const std::vector<std::string>& outputs, const std::stop_token& stop) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  const auto content = content_of(base.program->executable(), kWholeFile);
  if (!content || !content->starts_with(kElf) ||
      content != content_of(head.program->executable(), kWholeFile) ||
      arguments_of(*base.program) != arguments_of(*head.program)) {
    return {};
  }
  if (libraries_of(*base.program, stop) != libraries_of(*head.program, stop)) {
    return {.holds = false, .doubt = "they load libraries from different places"};
  }
  const std::string doubt = doubt_about(base, head, outputs);
  return {.holds = doubt.empty(), .doubt = doubt};
}

}  // namespace taskbench::workloads::measure
