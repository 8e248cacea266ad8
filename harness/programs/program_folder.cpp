#include "harness/programs/program_folder.hpp"

#include <system_error>

#include "harness/os/atomic_file.hpp"
#include "harness/os/file_content.hpp"
#include "harness/programs/program.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::harness {
namespace {

using model::kBothSides;
using model::PairedProgram;
using model::Side;

constexpr const char* kList = "programs.json";

/// Copies the files of a checkout at `from` to the same place below `into`.
void copy_below(const fs::path& checkout, const fs::path& from, const fs::path& into) {
  const fs::path place = into / from.lexically_relative(checkout);
  std::error_code failed;
  fs::create_directories(place.parent_path(), failed);
  fs::copy(from, place,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing |
               fs::copy_options::copy_symlinks,
           failed);
  if (failed) refuse("--out: {} cannot be copied: {}", from.string(), failed.message());
}

/// The command and the layouts of a program, with `change` applied to each path.
template <class Change>
void change_paths(PairedProgram& program, const Change& change) {
  Strings words = split_command(program.command);
  if (!is_looked_up(words.front())) words.front() = change(fs::path(words.front())).string();
  program.command = command_of(words);
  for (std::string& layout : program.layouts) layout = change(fs::path(layout)).string();
}

std::string digest_of_file(const fs::path& file) {
  const FileContent content = read_file(file);
  if (!content.ok()) refuse("{}: {}", file.string(), content.error);
  return digest_of(content.bytes);
}

Strings executables_of(const PairedProgram& program) {
  Strings files = program.layouts;
  const std::string first = split_command(program.command).front();
  if (!is_looked_up(first)) files.insert(files.begin(), first);
  return files;
}

/// Adds the digest of the file at `place`, or of each below it, relative to `folder`. Python writes
/// into __pycache__ when it imports.
void add_digests(const fs::path& folder, const fs::path& place,
                 std::map<std::string, std::string>& digests) {
  const auto add = [&](const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(fs::symlink_status(file, ignored))) return;
    digests[file.lexically_relative(folder).string()] = digest_of_file(file);
  };
  add(place);
  std::error_code failed;
  auto each = fs::recursive_directory_iterator(place, failed);
  for (; !failed && each != fs::end(each); each.increment(failed)) {
    if (each->path().filename() == "__pycache__") {
      each.disable_recursion_pending();
    } else {
      add(each->path());
    }
  }
}

}  // namespace

void refuse_other_folder(const fs::path& folder) {
  std::error_code failed;
  if (!fs::exists(folder) || fs::is_empty(folder, failed) || fs::exists(folder / kList)) return;
  refuse("--out '{}': it has other files; name a new folder", folder.string());
}

void save_programs(const fs::path& folder, const model::PairedSetup& setup, const Strings& outputs,
                   const fs::path& cwd) {
  refuse_other_folder(folder);
  Strings also = outputs;
  if (!cwd.empty()) also.push_back(cwd.string());
  std::error_code failed;
  fs::remove(folder / kList, failed);  // first: without it, the rest is ignored
  fs::create_directories(folder, failed);
  if (failed) refuse("--out '{}': {}", folder.string(), failed.message());
  model::BuiltPrograms saved{setup.base,      setup.head, setup.identical,
                             setup.reproduce, {},         setup.changed_files};
  for (const Side side : kBothSides) {
    const fs::path into = folder / name_of(side);
    fs::remove_all(into, failed);
    if (!setup.identical.empty()) continue;
    PairedProgram& program = of(saved, side);
    const fs::path checkout = program.checkout;
    if (executables_of(program).empty() && also.empty()) {
      refuse("--out: what '{}' reads is not known: name it by --outputs", program.command);
    }
    for (const std::string& file : executables_of(program)) copy_below(checkout, file, into);
    for (const std::string& each : also) {
      if (fs::exists(checkout / each)) copy_below(checkout, checkout / each, into);
    }
    change_paths(program, [&](const fs::path& path) {
      return name_of(side) / path.lexically_relative(checkout);
    });
    program.checkout.clear();
    for (const std::string& file : executables_of(program)) {
      saved.files[file] = digest_of_file(folder / file);
    }
    for (const std::string& each : outputs) add_digests(folder, into / each, saved.files);
  }
  const WriteOutcome written = write_atomically(folder / kList, json::to_json(saved));
  if (!written.ok()) refuse("--out: {}", written.error);
}

void load_programs(const fs::path& folder, model::PairedSetup& setup) {
  const fs::path list = folder / kList;
  const FileContent content = read_file(list);
  if (!content.ok()) {
    refuse("--programs '{}': {} {}; taskbench gate --build-only both --out makes the folder",
           folder.string(), kList, content.error);
  }
  model::BuiltPrograms saved;
  try {
    saved = json::parse_programs(list, content.bytes);
  } catch (const json::ReadError& error) {
    refuse("--programs: {}", error.what());
  }
  for (const auto& [file, digest] : saved.files) {
    if (digest_of_file(folder / file) != digest) {
      refuse("--programs: {} is not the file that was built; copy the folder again",
             (folder / file).string());
    }
  }
  const fs::path whole = fs::absolute(folder).lexically_normal();
  for (const Side side : kBothSides) {
    PairedProgram& program = of(saved, side);
    if (saved.identical.empty()) {
      for (const std::string& file : executables_of(program)) {
        std::error_code ignored;  // artifact stores keep no permissions
        fs::permissions(folder / file, fs::perms::owner_exec, fs::perm_options::add, ignored);
      }
      change_paths(program, [&](const fs::path& path) { return whole / path; });
      program.checkout = (whole / name_of(side)).string();
    }
    of(setup, side) = std::move(program);
  }
  setup.identical = std::move(saved.identical);
  setup.reproduce = std::move(saved.reproduce);
  setup.changed_files = std::move(saved.changed_files);
}

}  // namespace taskbench::harness
