// A folder of files that is written whole: into a temporary folder first, on the same disk, and
// from there by renaming.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace taskbench::cli {

class ReportFolder {
 public:
  /// Makes the temporary folder: in `target` when that exists, else beside it. Throws UsageError
  /// when a report could not be put there.
  explicit ReportFolder(std::filesystem::path target);
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  /// Leaves nothing behind of what was not published.
  ~ReportFolder();

  /// Where files are to be written before they are published.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  /// A file below the temporary folder. Throws UsageError.
  void write(const std::filesystem::path& name, std::string_view content) const;

  /// A folder below the temporary folder. Throws UsageError.
  void make_folder(const std::filesystem::path& name) const;

  /// A new target appears at once, with all files. In one that exists file after file is replaced,
  /// `last` after all others; its other files stay. Throws UsageError.
  void publish(const std::filesystem::path& last);

 private:
  [[noreturn]] void refuse(std::string_view what, const std::error_code& why) const;
  void check_target() const;
  void move_into_target(const std::filesystem::path& last) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
};

}  // namespace taskbench::cli
