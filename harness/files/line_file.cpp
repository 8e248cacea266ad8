#include "harness/files/line_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/os/file_content.hpp"
#include "reports/json/parse.hpp"

namespace taskbench::harness {

using reports::json::fail_journal;

std::string journal_text(const fs::path& path) {
  FileContent content = read_regular_file(path);
  if (!content.ok()) fail_journal(path, content.error);
  return std::move(content.bytes);
}

LineFile LineFile::create(const fs::path& path, const std::string& first) {
  if (path.empty()) return LineFile({}, Descriptor());
  Descriptor created(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (!created.is_open()) {
    if (errno == EEXIST)
      fail_journal(path, "exists; continue it with --resume, or name another file");
    fail_journal(path, fmt::format("cannot be created: {}", std::strerror(errno)));
  }
  LineFile file(path, std::move(created));
  try {
    file.append(first);
  } catch (const reports::json::JournalError&) {
    ::unlink(path.c_str());  // a journal needs its first line
    throw;
  }
  return file;
}

LineFile LineFile::resume(const fs::path& path) {
  const std::string content = journal_text(path);
  Descriptor opened(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!opened.is_open()) {
    fail_journal(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  LineFile file(path, std::move(opened));
  const auto complete = static_cast<off_t>(content.rfind('\n') + 1);
  if (::ftruncate(file.descriptor_.get(), complete) != 0) {
    fail_journal(path,
                 fmt::format("cannot be cut to its last complete line: {}", std::strerror(errno)));
  }
  return file;
}

void LineFile::refuse_in_use(const fs::path& path) {
  // For writing, as NFS locks no other descriptor.
  const LineFile locked(path, Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC)));
}

LineFile::LineFile(fs::path path, Descriptor descriptor)
    : path_(std::move(path)), descriptor_(std::move(descriptor)) {
  if (descriptor_.is_open() && ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail_journal(path_, "another taskbench is writing to it");
  }
}

void LineFile::append(const std::string& line) {
  if (!descriptor_.is_open()) return;
  int error = write_all(descriptor_.get(), line + '\n');
  if (error == 0 && ::fdatasync(descriptor_.get()) != 0 && errno != EINVAL) error = errno;
  if (error == 0) return;  // EINVAL: a pipe or /dev/null, which cannot be synced
  fail_journal(path_, fmt::format("cannot be written: {}", std::strerror(error)));
}

}  // namespace taskbench::harness
