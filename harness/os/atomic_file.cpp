#include "harness/os/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "harness/os/descriptor.hpp"
#include "harness/os/left_behind.hpp"
#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

/// Blocks, for the calling thread, the two signals that a write may raise and that would kill the
/// process: SIGXFSZ (file size limit) and SIGPIPE (no reader). write() then fails with EFBIG or
/// EPIPE, which gives a message.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    for (const int number : {SIGXFSZ, SIGPIPE}) {
      // A signal that is already pending has another cause and must stay pending.
      if (sigismember(&pending, number) == 0) sigaddset(&held_, number);
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    const timespec now{};
    while (sigtimedwait(&held_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

/// The destination of a path after following its symbolic links.
struct Target {
  fs::path file;                     ///< no symbolic link, unless `descriptor` is set
  fs::path folder;                   ///< of the file
  std::optional<int> descriptor;     ///< one of this process's own, e.g. 1 for /dev/stdout
  std::optional<struct stat> state;  ///< of the file, when it exists
  [[nodiscard]] bool is_replaceable() const {
    return !descriptor && (!state || S_ISREG(state->st_mode));
  }
};

/// A failed system call on a path.
struct Failure {
  const char* step = "";  ///< "create a file", "write", …
  int error = 0;          ///< 0: success
};

std::string folder_name(const fs::path& folder) {
  return folder == "." ? "the current folder" : fmt::format("\"{}\"", folder.native());
}

/// An error, and what to do about it; {0} is the folder, {1} the number of bytes, {2} the step.
using ErrorAdvice = std::pair<int, const char*>;
constexpr std::array<ErrorAdvice, 13> kAdvice{{
    {ENOENT, "there is no folder {0}; create it, or name another file"},
    {ENOTDIR, "{0} is not a folder; name another file"},
    {EACCES, "permission denied to {2} in {0}; change its permissions, or name another file"},
    {EPERM, "permission denied to {2} in {0}; change its permissions, or name another file"},
    {EISDIR, "it is a folder; name a file in it"},
    {EROFS, "{0} is on a read-only file system; name a file elsewhere"},
    {ENOSPC,
     "no space is left for {1} bytes on the disk that holds {0}; free some, or name a file "
     "elsewhere"},
    {EDQUOT, "{1} bytes exceed your disk quota for {0}; free some, or name a file elsewhere"},
    {EFBIG,
     "{1} bytes exceed the limit for file sizes; raise it (ulimit -f), or name a file elsewhere"},
    {ENAMETOOLONG, "the name is too long; name another file"},
    {ELOOP, "its symbolic links lead in a circle; name another file"},
    {EPIPE, "nobody is reading from it any more"},
    {EBUSY, "it is a mount point and cannot be replaced; name another file"},
}};

std::string advice(const Failure& failure, const Target& target, std::size_t bytes) {
  const std::string folder = folder_name(target.folder);
  std::error_code ignored;
  if (failure.error == ENOENT && fs::is_directory(target.folder, ignored)) {  // /proc
    return fmt::format("{} takes no files; name a file elsewhere", folder);
  }
  const auto* const known = model::element_of(kAdvice, failure.error, &ErrorAdvice::first);
  if (known != nullptr)
    return fmt::format(fmt::runtime(known->second), folder, bytes, failure.step);
  return fmt::format("cannot {}: {}", failure.step, std::strerror(failure.error));
}

WriteOutcome refused(const fs::path& path, std::string_view reason) {
  return {fmt::format("cannot write \"{}\": {}", path.native(), reason)};
}

/// 1 for "/dev/stdout", 3 for "/dev/fd/3". Reopening these would write to the start of a file that
/// the shell redirected to, over earlier output; the descriptor itself does not.
std::optional<int> own_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.starts_with(prefix)) {
      const auto fd = number<int>(path.substr(prefix.size()));
      return fd && *fd >= 0 ? fd : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Follows symbolic links, including dangling ones; returns 0 or an errno.
int resolve(const fs::path& path, Target& target) {
  constexpr int kMostLinks = 40;  // Linux's own limit
  target.file = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    target.folder = target.file.parent_path();
    if (target.folder.empty()) target.folder = ".";
    target.descriptor = own_descriptor(target.file.native());
    if (target.descriptor) return 0;
    if (!target.file.has_filename()) {
      return EISDIR;  // "results/"
    }
    struct stat state {};
    if (::lstat(target.file.c_str(), &state) != 0) return errno == ENOENT ? 0 : errno;
    if (!S_ISLNK(state.st_mode)) {
      target.state = state;
      return S_ISDIR(state.st_mode) ? EISDIR : 0;
    }
    std::error_code error;
    const fs::path link = fs::read_symlink(target.file, error);
    if (error) return error.value();
    target.file = target.folder / link;  // an absolute link replaces the folder
  }
  return ELOOP;
}

/// Why an existing regular file must not be replaced although its folder would permit it; empty if
/// it may be.
std::string protection(const Target& target) {
  if (!target.state) return {};
  if (::faccessat(AT_FDCWD, target.file.c_str(), W_OK, AT_EACCESS) != 0) {
    return errno == EROFS ? advice({"write", EROFS}, target, 0)
                          : "permission denied: the file is write-protected; change its "
                            "permissions (chmod u+w), or name another file";
  }
  struct stat folder {};
  const bool is_elsewhere =
      ::stat(target.folder.c_str(), &folder) == 0 && folder.st_dev != target.state->st_dev;
  return is_elsewhere ? advice({"replace it", EBUSY}, target, 0) : "";
}

constexpr std::string_view kTemporaryBegin = ".taskbench-";
constexpr std::string_view kTemporaryEnd = ".tmp";

/// A new file beside the target, removed on destruction unless it was renamed. Locked meanwhile, so
/// that no other process mistakes it for the leftover of a killed process.
class TemporaryFile {
 public:
  /// Creates the file. The length of its name does not depend on the target's, which may be the
  /// longest that the file system allows. Its mode is that of any newly created file, so that umask
  /// and default ACLs apply.
  explicit TemporaryFile(const fs::path& folder) {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      path_ = folder /
              fmt::format("{}{}-{:09}{}", kTemporaryBegin, ::getpid(), now.tv_nsec, kTemporaryEnd);
      file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (file_.is_open() || errno != EEXIST) break;
    }
    error_ = file_.is_open() ? 0 : errno;
    if (error_ == 0) lock_ = lock_file(file_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (error_ == 0 && !renamed_) ::unlink(path_.c_str());
  }

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] Descriptor& file() { return file_; }

  int rename_to(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
    renamed_ = true;
    return 0;
  }

 private:
  fs::path path_;
  Descriptor file_;
  Descriptor lock_;  // outlives file_, until after the rename
  int error_ = 0;
  bool renamed_ = false;
};

bool is_scratch(const fs::path& path) {
  return environment_value(kScratchVariable) == path.string();
}

int sync_to_disk(int fd) {
  while (::fsync(fd) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// Gives the new file the old one's permissions, then its owner, if permitted. In this order: after
/// giving a file away, a process may no longer change it.
int keep_mode_and_owner(int fd, const struct stat& old) {
  if (::fchmod(fd, old.st_mode & 0777) != 0) return errno;
  struct stat fresh {};
  if (::fstat(fd, &fresh) == 0 && (fresh.st_uid != old.st_uid || fresh.st_gid != old.st_gid)) {
    static_cast<void>(::fchown(fd, old.st_uid, old.st_gid) == 0 ||
                      ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0);
  }
  return 0;
}

/// Does everything up to and including the rename; returns the failure, if any.
Failure replace(const Target& target, std::string_view content, bool syncs) {
  remove_left_behind(target.folder, kTemporaryBegin, kTemporaryEnd, fs::file_type::regular);
  TemporaryFile temporary(target.folder);
  if (temporary.error() != 0) return {"create a file", temporary.error()};
  const int fd = temporary.file().get();
  if (const int error = write_all(fd, content)) return {"write a file", error};
  if (target.state) {
    const int error = keep_mode_and_owner(fd, *target.state);
    if (error != 0) return {"set a file's permissions", error};
  }
  if (syncs) {
    if (const int error = sync_to_disk(fd)) return {"sync a file to the disk", error};
  }
  // A network file system reports a full disk only on close.
  if (const int error = temporary.file().close()) return {"write a file", error};
  return {"replace the file", temporary.rename_to(target.file)};
}

/// Syncs the folder after the rename, as well as the system can. Not every file system syncs
/// folders, and a folder without read permission cannot be opened. Returns no error: every reader
/// already sees the new content, and an error would suggest that the old file is still there.
void sync_folder(const fs::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) static_cast<void>(sync_to_disk(opened.get()));
}

Failure write_directly(const Target& target, std::string_view content) {
  if (target.descriptor) return {"write", write_all(*target.descriptor, content)};
  Descriptor device(::open(target.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!device.is_open()) return {"open it", errno};
  if (const int error = write_all(device.get(), content)) return {"write", error};
  return {"write", device.close()};
}

/// Checks without opening the file, which would wait for a pipe's reader, or signal end of file to
/// it.
Failure check_directly(const Target& target) {
  if (target.descriptor) {
    const int flags = ::fcntl(*target.descriptor, F_GETFL);
    if (flags < 0) return {"write", errno};
    return {"write", (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0};
  }
  return {"write", ::faccessat(AT_FDCWD, target.file.c_str(), W_OK, AT_EACCESS) == 0 ? 0 : errno};
}

Failure check_new_file(const Target& target, std::size_t expected_bytes) {
  TemporaryFile temporary(target.folder);
  if (temporary.error() != 0) return {"create a file", temporary.error()};
  const auto bytes = static_cast<off_t>(std::max<std::size_t>(expected_bytes, 1));
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(temporary.file().get(), 0, bytes);
  // A file system that cannot reserve space says so; then only writing would tell.
  return {"write a file", error == EOPNOTSUPP || error == EINVAL ? 0 : error};
}

/// The common part of write_atomically() and check_writable(): resolves the path, then refuses or
/// performs one of the two actions.
template <class Directly, class Replacing>
WriteOutcome with_target(const fs::path& path, std::size_t bytes, Directly directly,
                         Replacing replacing) {
  if (path.empty()) return refused(path, "the name is empty; name a file");
  const HeldSignals held;
  Target target;
  const auto failed = [&](const Failure& at) { return refused(path, advice(at, target, bytes)); };
  if (const int error = resolve(path, target)) return failed({"look it up", error});
  const bool replaces = target.is_replaceable();
  const std::string reason = replaces ? protection(target) : "";
  if (!reason.empty()) return refused(path, reason);
  const Failure failure = replaces ? replacing(target) : directly(target);
  return failure.error != 0 ? failed(failure) : WriteOutcome{};
}

}  // namespace

WriteOutcome write_atomically(const fs::path& path, std::string_view content) {
  return with_target(
      path, content.size(), [&](const Target& target) { return write_directly(target, content); },
      [&](const Target& target) {
        const bool syncs = !is_scratch(path);
        const Failure failure = replace(target, content, syncs);
        if (failure.error == 0 && syncs) sync_folder(target.folder);
        return failure;
      });
}

bool is_replaced(const fs::path& path) {
  Target target;
  return resolve(path, target) == 0 && target.is_replaceable();
}

void remove_replaced(const fs::path& path) {
  Target target;
  if (resolve(path, target) != 0 || !target.is_replaceable() || !target.state) return;
  if (::unlink(target.file.c_str()) == 0) return;
  static_cast<void>(::truncate(target.file.c_str(), 0) == 0);
}

WriteOutcome check_writable(const fs::path& path, std::size_t expected_bytes) {
  return with_target(path, expected_bytes, check_directly,
                     [&](const Target& target) { return check_new_file(target, expected_bytes); });
}

}  // namespace taskbench::harness
