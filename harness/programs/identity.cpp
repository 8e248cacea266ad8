#include "harness/programs/identity.hpp"

#include <map>

#include "harness/os/file_content.hpp"
#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

fs::path root_of(const InstalledProgram& each) {
  return each.root.empty() ? each.program->executable().parent_path() : fs::canonical(each.root);
}

/// The output of ldd without the addresses, which differ each time. A library that is below the
/// program's root, or is found relative to its working folder, is named relative to that, with a
/// digest of its bytes. Empty if ldd fails, as it does for a static binary.
std::string libraries_of(const InstalledProgram& each, const std::stop_token& stop) {
  const Program& program = *each.program;
  const std::string root = root_of(each).string() + '/';
  std::string result;
  for (const std::string& word : words_of_ldd(program.executable(), program.folder(), stop)) {
    if (word.starts_with('(')) continue;
    const bool is_below = word.starts_with(root);
    result += fmt::format("{}\n", is_below ? word.substr(root.size()) : word);
    if (is_below || (word.find('/') != std::string::npos && !word.starts_with('/'))) {
      result += digest_of(content_of(program.folder() / word).value_or("")) + '\n';
    }
  }
  return result;
}

/// Whether a link leads to the same file on both sides: only if it stays within its folder.
bool stays_inside(const fs::path& link, const fs::path& target) {
  if (target.is_absolute()) return true;  // and equal texts mean one file
  const fs::path end = (link.parent_path() / target).lexically_normal();
  return end.empty() || *end.begin() != "..";
}

using Listing = std::map<fs::path, fs::file_status>;

/// Everything below a folder, by relative path. Empty if there is too much, or something cannot be
/// read.
std::optional<Listing> list(const fs::path& folder) {
  Listing entries;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  auto each = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && each != fs::end(each); each.increment(failed)) {
    const auto status = each->symlink_status(failed);
    if (failed) return std::nullopt;
    if (status.type() == fs::file_type::regular) bytes += each->file_size(failed);
    entries.emplace(each->path().lexically_relative(folder), status);
    if (entries.size() > kMostComparedFiles || bytes > kMostComparedBytes) return std::nullopt;
  }
  return failed ? std::nullopt : std::optional(std::move(entries));
}

/// Whether the entries at `below` in both folders are equal.
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
  const auto ours = list(base);
  const auto theirs = ours ? list(head) : std::nullopt;
  if (!theirs) {
    return fmt::format(
        "{} or {} contains more than {} files or {} MiB, or something that cannot be read",
        base.string(), head.string(), kMostComparedFiles, kMostComparedBytes >> 20);
  }
  for (const auto& [path, status] : *ours) {
    const auto other = theirs->find(path);
    if (other == theirs->end()) return fmt::format("head has no {}", path.string());
    if (!are_equal(base, head, path, status, other->second)) {
      return fmt::format("{} differs", path.string());
    }
  }
  for (const auto& [path, status] : *theirs) {
    if (!ours->contains(path)) return fmt::format("base has no {}", path.string());
  }
  return std::nullopt;
}

/// The first difference between two folders or files: the path below them, and how it differs.
/// Empty if they are equal in names, bytes, permissions and links.
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

std::optional<std::string> difference_of_outputs(const InstalledProgram& base,
                                                 const InstalledProgram& head,
                                                 const Strings& outputs) {
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

/// Whether both are one file, called by one path in one folder: then they find the same files
/// wherever they look.
bool are_one_call(const Program& base, const Program& head) {
  return called_path(base.command()) == called_path(head.command()) &&
         base.folder() == head.folder();
}

/// The differences below the roots that the user named, or in the programs' places there.
std::string difference_of_roots(const InstalledProgram& base, const InstalledProgram& head) {
  const fs::path ours = root_of(base);
  const fs::path theirs = root_of(head);
  const auto place = [](const InstalledProgram& each, const fs::path& root) {
    return called_path(each.program->command()).lexically_relative(root);
  };
  const fs::path below = place(base, ours);
  if (below.empty() || *below.begin() == "..") {
    return fmt::format("{} is not below {}", base.program->command().front(), ours.string());
  }
  if (place(head, theirs) != below) {
    return fmt::format("{} is called by another path", head.program->command().front());
  }
  const auto difference = difference_of_folders(ours, theirs);
  return difference ? fmt::format("below the roots, {}", *difference) : std::string();
}

}  // namespace

Identity identity_of(const InstalledProgram& base, const InstalledProgram& head,
                     const Strings& outputs, const std::stop_token& stop) {
  const auto content = content_of(base.program->executable());
  if (!content || !content->starts_with(kElf) ||
      content != content_of(head.program->executable()) ||
      base.program->own_arguments() != head.program->own_arguments()) {
    return {};
  }
  if (libraries_of(base, stop) != libraries_of(head, stop)) {
    return {.doubt = "they load libraries from different places"};
  }
  if (!outputs.empty()) {
    const auto difference = difference_of_outputs(base, head, outputs);
    if (difference) return {.doubt = *difference};
    return {.reason =
                fmt::format("the executables, their libraries and {} are equal, byte for byte",
                            joined(outputs))};
  }
  if (are_one_call(*base.program, *head.program)) {
    return {.reason = "base and head are the same program, called in the same way"};
  }
  const auto reads_none = [](const InstalledProgram& each) {
    return each.program->kind().reads_no_files(each.program->command());
  };
  if (reads_none(base) && reads_none(head)) {
    return {.reason = "both are the same taskbench, byte for byte, which reads no other files"};
  }
  if (!base.root_has_all || !head.root_has_all) {
    return {.doubt = "they may read other files that differ"};
  }
  const std::string difference = difference_of_roots(base, head);
  if (!difference.empty()) return {.doubt = difference};
  return {.reason = fmt::format("everything below {} and {} is equal, byte for byte",
                                base.root.string(), head.root.string())};
}

}  // namespace taskbench::harness
