#include "harness/os/left_behind.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <system_error>

namespace taskbench::harness {

namespace {

/// Opens and locks a leftover; a link is not one of ours, and would lead elsewhere.
Descriptor open_locked(const fs::path& path, int flags) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags));
  if (descriptor.is_open() && ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    static_cast<void>(descriptor.close());
  }
  return descriptor;
}

}  // namespace

Descriptor lock_folder(const fs::path& folder) { return open_locked(folder, O_DIRECTORY); }

Descriptor lock_file(const Descriptor& file) {
  Descriptor descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (descriptor.is_open() && ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    static_cast<void>(descriptor.close());
  }
  return descriptor;
}

void remove_left_behind(const fs::path& parent, std::string_view begin, std::string_view end,
                        fs::file_type type) {
  constexpr std::chrono::minutes kYoung{1};
  std::error_code failed;
  for (fs::directory_iterator each(parent, failed), last; !failed && each != last;
       each.increment(failed)) {
    const std::string name = each->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    std::error_code ignored;
    if (each->symlink_status(ignored).type() != type) continue;
    const auto written = fs::last_write_time(each->path(), ignored);
    if (ignored || fs::file_time_type::clock::now() - written < kYoung) continue;
    const Descriptor lock =
        open_locked(each->path(), type == fs::file_type::directory ? O_DIRECTORY : O_NONBLOCK);
    if (lock.is_open()) fs::remove_all(each->path(), ignored);
  }
}

}  // namespace taskbench::harness
