// A temporary folder.
#pragma once

#include "harness/files/names.hpp"
#include "harness/os/descriptor.hpp"

namespace taskbench::harness {

/// A folder for result files that is removed on destruction. The folder of a killed process is
/// removed by a later one.
class ScratchFolder {
 public:
  ScratchFolder();  ///< Throws UsageError, which says what to do.
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  Descriptor lock_;
};

}  // namespace taskbench::harness
