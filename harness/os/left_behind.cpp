#include "harness/os/left_behind.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <system_error>

namespace taskbench::harness {

Descriptor lock_folder(const fs::path& folder) {
  // A link is none of ours, and would lead elsewhere.
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (descriptor.is_open() && ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    static_cast<void>(descriptor.close());
  }
  return descriptor;
}

void remove_left_behind(const fs::path& parent, std::string_view begin, std::string_view end) {
  constexpr std::chrono::minutes kYoung{1};
  std::error_code failed;
  for (fs::directory_iterator each(parent, failed), last; !failed && each != last;
       each.increment(failed)) {
    const std::string name = each->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    std::error_code ignored;
    const auto written = fs::last_write_time(each->path(), ignored);
    if (ignored || fs::file_time_type::clock::now() - written < kYoung) continue;
    const Descriptor lock = lock_folder(each->path());
    if (lock.is_open()) fs::remove_all(each->path(), ignored);
  }
}

}  // namespace taskbench::harness
