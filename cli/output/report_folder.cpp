#include "cli/output/report_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "reports/files/atomic_file.hpp"

namespace taskbench::cli {
namespace {

/// "out/" is "out"; "." and "/" stay.
fs::path without_trailing_slash(const fs::path& path) {
  fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_parent_path() || normal == normal.root_path()
             ? normal
             : normal.parent_path();
}

std::string advice(const std::error_code& why) {
  switch (why.value()) {
    case EACCES:
    case EPERM:
      return "permission denied; change its permissions, or name another folder";
    case EROFS:
      return "it is on a read-only file system; name a folder elsewhere";
    case ENOSPC:
    case EDQUOT:
      return "no space is left on the disk; free some, or name a folder elsewhere";
    case ENAMETOOLONG:
      return "the name is too long; name another folder";
    default:
      return why.message();
  }
}

}  // namespace

ReportFolder::ReportFolder(fs::path target) : target_(without_trailing_slash(target)) {
  check_target();
  std::error_code failed;
  fs::path beside = target_;
  if (!fs::is_directory(target_, failed)) {
    beside = target_.parent_path().empty() ? fs::path(".") : target_.parent_path();
    if (!fs::is_directory(beside, failed)) {
      throw UsageError(
          fmt::format("cannot write the report to \"{}\": there is no folder \"{}\"; create it, or "
                      "name another",
                      target_.string(), beside.string()));
    }
  }
  for (int attempt = 0;; ++attempt) {
    const fs::path candidate =
        beside / fmt::format(".taskbench-report-{}-{}.tmp", ::getpid(), attempt);
    if (fs::create_directory(candidate, failed)) {
      temporary_ = candidate;
      return;
    }
    constexpr int kAttempts = 100;  // what a killed process of the same number has left behind
    if (failed || attempt == kAttempts) refuse("", failed);
  }
}

ReportFolder::~ReportFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void ReportFolder::refuse(std::string_view what, const std::error_code& why) const {
  throw UsageError(
      fmt::format("cannot write the report to \"{}\"{}: {}", target_.string(), what, advice(why)));
}

void ReportFolder::check_target() const {
  std::error_code failed;
  const auto status = fs::status(target_, failed);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() == fs::file_type::none) refuse("", failed);
  if (!fs::is_directory(status)) {
    throw UsageError(fmt::format("cannot write the report to \"{}\": it is a file; name a folder",
                                 target_.string()));
  }
}

void ReportFolder::write(const fs::path& name, std::string_view content) const {
  const auto outcome = files::write_atomically(temporary_ / name, content);
  if (!outcome.ok()) {
    throw UsageError(
        fmt::format("the report in \"{}\" was not written: {}", target_.string(), outcome.error));
  }
}

void ReportFolder::make_folder(const fs::path& name) const {
  std::error_code failed;
  fs::create_directory(temporary_ / name, failed);
  if (failed) refuse("", failed);
}

void ReportFolder::publish(const fs::path& last) {
  std::error_code failed;
  if (!fs::exists(target_, failed)) {
    fs::rename(temporary_, target_, failed);
    if (!failed) {
      temporary_.clear();
      return;
    }
    if (!fs::is_directory(target_)) refuse("", failed);  // else somebody has made it since
  }
  move_into_target(last);
}

void ReportFolder::move_into_target(const fs::path& last) const {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(temporary_)) {
    const fs::path name = entry.path().lexically_relative(temporary_);
    (entry.is_directory() ? folders : files).push_back(name);
  }
  std::ranges::sort(files, {}, [&](const fs::path& name) { return std::pair(name == last, name); });
  // All that can be known before the first file is replaced.
  std::error_code failed;
  for (const fs::path& name : folders) {
    const fs::path there = target_ / name;
    if (fs::exists(there, failed) && !fs::is_directory(there, failed)) {
      refuse(fmt::format(", where \"{}\" is a file", name.string()),
             std::make_error_code(std::errc::not_a_directory));
    }
  }
  for (const fs::path& name : files) {
    if (fs::is_directory(target_ / name, failed)) {
      refuse(fmt::format(", where \"{}\" is a folder", name.string()),
             std::make_error_code(std::errc::is_a_directory));
    }
  }
  for (const fs::path& name : folders) {
    fs::create_directory(target_ / name, failed);
    if (failed) refuse(fmt::format(", folder \"{}\"", name.string()), failed);
  }
  for (const fs::path& name : files) {
    fs::rename(temporary_ / name, target_ / name, failed);
    if (failed) refuse(fmt::format(", file \"{}\"", name.string()), failed);
  }
}

}  // namespace taskbench::cli
