#include "cli/tools/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace taskbench::cli {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* const named = std::getenv("TMPDIR");
    throw fs::filesystem_error("there is no folder for temporary files; set TMPDIR",
                               named != nullptr ? named : "/tmp", error);
  }
  std::string name = (parent / "taskbench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw fs::filesystem_error("no folder for temporary files", name,
                               std::error_code(errno, std::system_category()));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace taskbench::cli
