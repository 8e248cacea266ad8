#include "reports/files/line_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "reports/files/file_content.hpp"

namespace taskbench::reports::files {
namespace {

[[noreturn]] void fail_journal(const std::filesystem::path& path, std::string_view what) {
  throw JournalError(fmt::format("{}: {}", path.string(), what));
}

}  // namespace

std::string journal_text(const std::filesystem::path& path) {
  FileContent content = read_regular_file(path);
  if (!content.ok()) fail_journal(path, content.error);
  return std::move(content.bytes);
}

void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take) {
  std::size_t number = 0;
  for (std::size_t newline = 0; (newline = content.find('\n')) != std::string_view::npos;) {
    ++number;
    try {
      take(content.substr(0, newline), number);
    } catch (const std::exception& error) {
      fail_journal(path, fmt::format("line {} does not belong in a taskbench journal: {}", number,
                                     error.what()));
    }
    content.remove_prefix(newline + 1);
  }
  if (number == 0) {
    fail_journal(path,
                 "is not a journal: not even its first line is complete; delete it to begin anew");
  }
}

LineFile LineFile::create(const std::filesystem::path& path, std::string first) {
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    if (errno == EEXIST)
      fail_journal(path, "exists; continue it with --resume, or name another file");
    fail_journal(path, fmt::format("cannot be created: {}", std::strerror(errno)));
  }
  LineFile file(path, descriptor);
  file.lock();
  try {
    file.append(std::move(first));
  } catch (const JournalError&) {
    ::unlink(path.c_str());  // without its first line it is none
    throw;
  }
  return file;
}

LineFile LineFile::resume(const std::filesystem::path& path) {
  const std::string content = journal_text(path);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) fail_journal(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  LineFile file(path, descriptor);
  file.lock();
  const auto complete = static_cast<off_t>(content.rfind('\n') + 1);
  if (::ftruncate(descriptor, complete) != 0) {
    fail_journal(path,
                 fmt::format("cannot be cut to its last complete line: {}", std::strerror(errno)));
  }
  return file;
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineFile::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
    fail_journal(path_, "another taskbench is writing to it");
}

void LineFile::append(std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      fail_journal(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) {  // EINVAL: a pipe or /dev/null
    fail_journal(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

}  // namespace taskbench::reports::files
