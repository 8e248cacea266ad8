#include "harness/files/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "harness/os/left_behind.hpp"

namespace taskbench::harness {

namespace {

[[noreturn]] void refuse_temporary(const fs::path& folder, const std::error_code& why) {
  refuse("no room for temporary files at '{}': {}; set TMPDIR to a folder that can be written",
         folder.string(), why.message());
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* const named = std::getenv("TMPDIR");
    refuse_temporary(named != nullptr ? named : "/tmp", error);
  }
  // A prefix that no other program uses, since folders of such names are removed.
  constexpr std::string_view kBegin = "taskbench-scratch-";
  remove_left_behind(parent, kBegin, {});
  std::string name = (parent / kBegin).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    refuse_temporary(parent, std::error_code(errno, std::system_category()));
  }
  path_ = name;
  lock_ = lock_folder(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace taskbench::harness
