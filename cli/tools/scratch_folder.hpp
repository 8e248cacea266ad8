// A temporary folder.
#pragma once

#include <filesystem>

namespace taskbench::cli {

/// A folder for result files that is gone at the end.
class ScratchFolder {
 public:
  ScratchFolder();  ///< Throws std::filesystem::filesystem_error.
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace taskbench::cli
