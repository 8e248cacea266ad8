#include "cli/tools/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace taskbench::cli {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const named = std::getenv("TMPDIR");
    throw std::filesystem::filesystem_error("there is no folder for temporary files; set TMPDIR",
                                            named != nullptr ? named : "/tmp", error);
  }
  std::string name = (parent / "taskbench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::filesystem::filesystem_error("no folder for temporary files", name,
                                            std::error_code(errno, std::system_category()));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace taskbench::cli
