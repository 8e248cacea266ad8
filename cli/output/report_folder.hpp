// A folder of files that is written whole: into a temporary folder first, on the same disk, and
// from there by renaming.
#pragma once

#include "cli/names.hpp"

namespace taskbench::cli {

class ReportFolder {
 public:
  /// Makes the temporary folder: in `target` when that exists, else beside it. Throws UsageError
  /// when a report could not be put there.
  explicit ReportFolder(fs::path target);
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  /// Leaves nothing behind of what was not published.
  ~ReportFolder();

  /// Where files are to be written before they are published.
  [[nodiscard]] const fs::path& temporary() const { return temporary_; }

  /// A file below the temporary folder. Throws UsageError.
  void write(const fs::path& name, std::string_view content) const;

  /// A folder below the temporary folder. Throws UsageError.
  void make_folder(const fs::path& name) const;

  /// A new target appears at once, with all files. In one that exists file after file is replaced,
  /// `last` after all others; its other files stay. Throws UsageError.
  void publish(const fs::path& last);

 private:
  [[noreturn]] void refuse(std::string_view what, const std::error_code& why) const;
  void check_target() const;
  void move_into_target(const fs::path& last) const;

  fs::path target_;
  fs::path temporary_;
};

}  // namespace taskbench::cli
