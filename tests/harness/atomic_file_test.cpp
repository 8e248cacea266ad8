#include "harness/os/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/reports/text.hpp"

namespace {

/// What fsync() saw, for tests of order and of a failing disk.
struct SyncWatch {
  bool active = false;
  int fail_file_with = 0;
  std::filesystem::path target;
  std::vector<std::string> events;
  std::function<void()> meanwhile = [] {};  ///< called once, during the sync of the file
};
SyncWatch sync_watch;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

/// Replaces the C library's fsync() in this executable. Other tests sync nothing, so that they stay
/// fast on slow disks.
extern "C" int fsync(int fd) {
  if (!sync_watch.active) return 0;
  struct stat state {};
  if (::fstat(fd, &state) != 0) return -1;
  const bool is_folder = S_ISDIR(state.st_mode);
  sync_watch.events.push_back((is_folder ? "folder" : "file") +
                              (" synced, target holds " + content_of(sync_watch.target)));
  if (!is_folder) std::exchange(sync_watch.meanwhile, [] {})();
  if (!is_folder && sync_watch.fail_file_with != 0) {
    errno = sync_watch.fail_file_with;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace taskbench::harness {
namespace {

using reports::contains;

namespace fs = std::filesystem;

/// Runs `body` in a forked child and returns its result, or how the child died.
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  std::fflush(nullptr);  // or the child might write what the parent has buffered
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const std::string result = body();
    const bool sent =
        ::write(ends[1], result.data(), result.size()) == static_cast<ssize_t>(result.size());
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  std::string result;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(ends[0], buffer, sizeof buffer)) > 0) {
    result.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status)) : result;
}

/// Runs `body` as a user who is bound by permissions, unlike root.
std::string as_ordinary_user(const std::function<std::string()>& body) {
  return in_child([&]() -> std::string {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && (::setegid(kNobody) != 0 || ::seteuid(kNobody) != 0)) {
      return "cannot give up root";
    }
    return body();
  });
}

/// The answer of the check and of the write, which must agree.
std::string answer_of_both(const fs::path& path, std::size_t bytes = 1) {
  const std::string checked = check_writable(path, bytes).error;
  const std::string written = write_atomically(path, std::string(bytes, 'x')).error;
  return checked == written ? written : "they do not say the same";
}

class AtomicFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "atomic_file_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    // The ordinary user in the tests needs access.
    fs::permissions(folder_, fs::perms::all);
  }

  void TearDown() override {
    sync_watch = {};
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  void put(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /// Makes all files look two minutes old.
  void age_all() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::minutes(2));
    }
  }

  static fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions(); }

  fs::path folder_;
};

TEST_F(AtomicFile, new_file_holds_the_content_and_nothing_else_is_left) {
  const std::string content("a\0b\n", 4);
  const WriteOutcome outcome = write_atomically(folder_ / "run.json", content);
  EXPECT_TRUE(outcome.ok()) << outcome.error;
  EXPECT_EQ(content_of(folder_ / "run.json"), content);
  EXPECT_EQ(entries(), std::vector<std::string>{"run.json"});
}

TEST_F(AtomicFile, old_content_is_replaced_also_by_shorter_and_by_none) {
  for (const char* content : {"a long old content", "short", ""}) {
    ASSERT_TRUE(write_atomically(folder_ / "f", content).ok());
    EXPECT_EQ(content_of(folder_ / "f"), content);
  }
}

TEST_F(AtomicFile, is_replaced_where_it_is_a_regular_file_or_not_there) {
  const std::filesystem::path file = folder_ / "file";
  EXPECT_TRUE(is_replaced(file));
  ASSERT_TRUE(write_atomically(file, "text").ok());
  EXPECT_TRUE(is_replaced(file));
  std::filesystem::create_symlink(file, folder_ / "link");
  EXPECT_TRUE(is_replaced(folder_ / "link"));
  EXPECT_FALSE(is_replaced(folder_));
  EXPECT_FALSE(is_replaced("/dev/null"));
  EXPECT_FALSE(is_replaced("/dev/stdout"));
}

TEST_F(AtomicFile, megabytes_arrive_whole) {
  std::string content(5'000'000, 'x');
  content.back() = '!';
  ASSERT_TRUE(write_atomically(folder_ / "f", content).ok());
  EXPECT_EQ(content_of(folder_ / "f"), content);
}

TEST_F(AtomicFile, file_is_synced_before_the_rename_and_the_folder_after_it) {
  put(folder_ / "f", "old");
  sync_watch = {true, 0, folder_ / "f", {}};
  ASSERT_TRUE(write_atomically(folder_ / "f", "new").ok());
  EXPECT_EQ(sync_watch.events, (std::vector<std::string>{"file synced, target holds old",
                                                         "folder synced, target holds new"}));
}

TEST_F(AtomicFile, syncs_nothing_for_the_scratch_file_that_the_environment_names) {
  ::setenv(kScratchVariable, (folder_ / "f").c_str(), 1);
  sync_watch = {true, 0, folder_ / "f", {}};
  EXPECT_TRUE(write_atomically(folder_ / "f", "scratch").ok());
  EXPECT_EQ(sync_watch.events, std::vector<std::string>{});
  EXPECT_EQ(content_of(folder_ / "f"), "scratch");
  EXPECT_TRUE(write_atomically(folder_ / "g", "kept").ok());
  EXPECT_EQ(sync_watch.events.size(), 2U) << "a file and its folder";
  ::unsetenv(kScratchVariable);
}

TEST_F(AtomicFile, failing_disk_leaves_the_old_file_and_says_what_failed) {
  put(folder_ / "f", "old");
  sync_watch = {true, EIO, folder_ / "f", {}};
  const WriteOutcome outcome = write_atomically(folder_ / "f", "new");
  EXPECT_TRUE(contains(outcome.error, "cannot sync a file to the disk"));
  EXPECT_EQ(content_of(folder_ / "f"), "old");
  EXPECT_EQ(entries(), std::vector<std::string>{"f"});
}

TEST_F(AtomicFile, permissions_of_an_existing_file_are_kept) {
  put(folder_ / "f", "old");
  const fs::perms secret = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  fs::permissions(folder_ / "f", secret);
  ASSERT_TRUE(write_atomically(folder_ / "f", "new").ok());
  EXPECT_EQ(mode_of(folder_ / "f"), secret);
}

TEST_F(AtomicFile, new_file_gets_the_permissions_that_the_umask_leaves) {
  const mode_t before = ::umask(027);
  const WriteOutcome outcome = write_atomically(folder_ / "f", "new");
  ::umask(before);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(mode_of(folder_ / "f"), static_cast<fs::perms>(0640));
}

TEST_F(AtomicFile, root_does_not_take_a_users_file_away) {
  put(folder_ / "f", "old");
  const uid_t owner = ::geteuid() == 0 ? 65534 : ::geteuid();
  ASSERT_EQ(::chown((folder_ / "f").c_str(), owner, static_cast<gid_t>(-1)), 0);
  ASSERT_TRUE(write_atomically(folder_ / "f", "new").ok());
  struct stat state {};
  ASSERT_EQ(::stat((folder_ / "f").c_str(), &state), 0);
  EXPECT_EQ(state.st_uid, owner);
}

TEST_F(AtomicFile, symbolic_link_stays_and_its_target_is_replaced) {
  fs::create_directory(folder_ / "elsewhere");
  put(folder_ / "elsewhere" / "target", "old");
  fs::create_symlink("elsewhere/target", folder_ / "relative");
  fs::create_symlink(folder_ / "relative", folder_ / "absolute");
  ASSERT_TRUE(write_atomically(folder_ / "absolute", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "absolute"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "relative"));
  EXPECT_EQ(content_of(folder_ / "elsewhere" / "target"), "new");
}

TEST_F(AtomicFile, dangling_link_gets_its_target) {
  fs::create_symlink("not_yet", folder_ / "link");
  ASSERT_TRUE(check_writable(folder_ / "link", 10).ok());
  ASSERT_TRUE(write_atomically(folder_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content_of(folder_ / "not_yet"), "new");
}

TEST_F(AtomicFile, names_that_can_be_no_file_are_refused_by_the_check_and_by_the_writing) {
  put(folder_ / "f", "old");
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  const std::string missing = (folder_ / "missing").string();
  for (const auto& [path, says] : std::initializer_list<std::pair<fs::path, std::string>>{
           {folder_ / "a", "in a circle"},
           {folder_, "it is a folder"},
           {folder_ / "", "it is a folder"},
           {folder_ / "f/run.json", "\" is not a folder"},
           {folder_ / "missing/run.json", "cannot write \"" + missing +
                                              "/run.json\": there is no folder \"" + missing +
                                              "\"; create it, or name another file"},
           {"", "the name is empty"},
           {folder_ / std::string(300, 'n'), "too long"},
           {"/proc/run.json",
            "cannot write \"/proc/run.json\": \"/proc\" takes no files; name a file elsewhere"}}) {
    EXPECT_TRUE(contains(answer_of_both(path), says)) << path;
  }
}

TEST_F(AtomicFile, the_longest_possible_name_can_be_written) {
  const fs::path longest = folder_ / std::string(255, 'n');  // the temporary file's name is short
  EXPECT_EQ(answer_of_both(longest), "");
  EXPECT_EQ(content_of(longest), "x");
}

TEST_F(AtomicFile, name_without_a_folder_is_in_the_current_one) {
  const std::string result = in_child([&]() -> std::string {
    return ::chdir(folder_.c_str()) != 0 ? "no chdir" : write_atomically("f", "new").error;
  });
  EXPECT_EQ(result, "");
  EXPECT_EQ(content_of(folder_ / "f"), "new");
}

TEST_F(AtomicFile, folder_without_permission_is_refused) {
  put(folder_ / "f", "old");
  fs::permissions(folder_ / "f", fs::perms::all);
  fs::permissions(folder_, static_cast<fs::perms>(0555));
  const std::string said = as_ordinary_user([&] { return answer_of_both(folder_ / "f"); });
  EXPECT_TRUE(contains(said, "permission denied to create a file in \"" + folder_.string()));
  EXPECT_EQ(content_of(folder_ / "f"), "old");
}

TEST_F(AtomicFile, write_protected_file_is_refused_though_its_folder_would_allow_it) {
  put(folder_ / "f", "old");
  fs::permissions(folder_ / "f", static_cast<fs::perms>(0444));
  const std::string said = as_ordinary_user([&] { return answer_of_both(folder_ / "f"); });
  EXPECT_TRUE(contains(said, "write-protected"));
  EXPECT_EQ(content_of(folder_ / "f"), "old");
}

TEST_F(AtomicFile, check_leaves_no_trace) {
  EXPECT_TRUE(check_writable(folder_ / "new", 100'000).ok());
  EXPECT_EQ(entries(), std::vector<std::string>{});
  put(folder_ / "old", "old");
  EXPECT_TRUE(check_writable(folder_ / "old", 100'000).ok());
  EXPECT_TRUE(check_writable(folder_ / "old", 0).ok());
  EXPECT_EQ(entries(), std::vector<std::string>{"old"});
  EXPECT_EQ(content_of(folder_ / "old"), "old");
}

TEST_F(AtomicFile, file_size_limit_is_a_message_and_not_a_signal) {
  put(folder_ / "f", "old");
  const auto limited = [&](const std::function<std::string()>& body) {
    return in_child([&]() -> std::string {
      const rlimit limit{4096, 4096};
      return ::setrlimit(RLIMIT_FSIZE, &limit) != 0 ? "no limit" : body();
    });
  };
  EXPECT_TRUE(contains(limited([&] { return answer_of_both(folder_ / "f", 10'000); }),
                       "10000 bytes exceed the limit for file sizes"));
  EXPECT_EQ(content_of(folder_ / "f"), "old");
  EXPECT_EQ(entries(), std::vector<std::string>{"f"});
  EXPECT_EQ(limited([&] { return check_writable(folder_ / "f", 4'096).error; }), "");
}

TEST_F(AtomicFile, full_device_is_a_message) {
  const WriteOutcome outcome = write_atomically("/dev/full", "x");
  EXPECT_TRUE(contains(outcome.error, "no space is left"));
}

/// Lets the calling process mount, for itself only; false if the system forbids it.
bool may_mount() {
  if (::geteuid() == 0) return ::unshare(CLONE_NEWNS) == 0;
  const std::string uid = std::to_string(::geteuid());
  const std::string gid = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  // Without these maps, the user owns nothing in the new namespace and can create no file.
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
  return ::geteuid() == 0;
}

/// Runs `body` in a child for which `where` is a disk of 64 KiB; "cannot mount" if the system does
/// not permit it.
std::string on_tiny_disk(const fs::path& where, const std::function<std::string()>& body) {
  return in_child([&]() -> std::string {
    if (!may_mount() || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tiny", where.c_str(), "tmpfs", 0, "size=64k") != 0) {
      return "cannot mount";
    }
    return body();
  });
}

TEST_F(AtomicFile, full_disk_leaves_the_old_file_and_says_what_to_do) {
  fs::create_directory(folder_ / "disk");
  const fs::path path = folder_ / "disk" / "run.json";
  const std::string old(40'000, 'o');
  const std::string result = on_tiny_disk(folder_ / "disk", [&]() -> std::string {
    if (!write_atomically(path, old).ok()) return "first write failed";
    const std::string said = answer_of_both(path, 40'000);
    if (content_of(path) != old) return "old file was touched";
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "disk")) ++files;
    return files != 1 ? "something was left" : said;
  });
  if (result == "cannot mount") {
    // In that case, the file size limit is tested above, and the message for a full device here.
    EXPECT_TRUE(contains(write_atomically("/dev/full", "x").error, "no space is left"));
    return;
  }
  EXPECT_TRUE(contains(result, "no space is left for 40000 bytes on the disk that holds \"" +
                                   (folder_ / "disk").string()))
      << result;
}

TEST_F(AtomicFile, read_only_file_system_is_a_message) {
  fs::create_directory(folder_ / "disk");
  const std::string result = on_tiny_disk(folder_ / "disk", [&]() -> std::string {
    const fs::path disk = folder_ / "disk";
    put(disk / "old", "old");
    if (::mount("tiny", disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return "cannot mount";
    }
    const std::string fresh = check_writable(disk / "new", 1).error;
    const std::string old = check_writable(disk / "old", 1).error;
    return contains(fresh, "read-only file system") ? old : fresh;
  });
  EXPECT_TRUE(contains(result, "is on a read-only file system") || result == "cannot mount")
      << result;
}

TEST_F(AtomicFile, mount_point_is_refused_before_anything_is_measured) {
  put(folder_ / "f", "old");
  const std::string result = on_tiny_disk("/dev/shm", [&]() -> std::string {
    put("/dev/shm/other", "other");
    if (::mount("/dev/shm/other", (folder_ / "f").c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return "cannot mount";
    }
    return answer_of_both(folder_ / "f");
  });
  EXPECT_TRUE(contains(result, "it is a mount point") || result == "cannot mount") << result;
}

TEST_F(AtomicFile, null_device_swallows_it_and_stays_a_device) {
  EXPECT_TRUE(check_writable("/dev/null", 1000).ok());
  EXPECT_TRUE(write_atomically("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFile, standard_output_is_appended_to_when_it_is_a_file) {
  const std::string result = in_child([&]() -> std::string {
    const int file = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0 || ::write(STDOUT_FILENO, "table\n", 6) != 6) {
      return "no redirection";
    }
    std::string errors = check_writable("/dev/stdout", 5).error;
    errors += write_atomically("/dev/stdout", "json\n").error;
    errors += write_atomically("/dev/fd/1", "again\n").error;
    return errors;
  });
  EXPECT_EQ(result, "");
  EXPECT_EQ(content_of(folder_ / "out"), "table\njson\nagain\n");
}

TEST_F(AtomicFile, descriptor_that_is_closed_or_only_read_is_refused) {
  EXPECT_FALSE(check_writable("/dev/fd/987", 1).ok());
  EXPECT_FALSE(write_atomically("/dev/fd/987", "x").ok());
  const int reading = ::open("/dev/null", O_RDONLY);
  EXPECT_FALSE(check_writable("/dev/fd/" + std::to_string(reading), 1).ok());
  ::close(reading);
}

TEST_F(AtomicFile, pipe_is_written_directly_and_not_opened_by_the_check) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(check_writable(pipe, 1'000'000).ok());  // an open would wait forever for a reader
  std::string received;
  std::thread reader([&] { received = content_of(pipe); });
  const std::string content(200'000, 'x');
  EXPECT_TRUE(write_atomically(pipe, content).ok());
  reader.join();
  EXPECT_EQ(received, content);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(AtomicFile, pipe_without_a_reader_is_a_message_and_not_a_signal) {
  const std::string result = in_child([]() -> std::string {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) return "no pipe";
    ::close(ends[0]);
    return write_atomically("/dev/stdout", "x").error;
  });
  EXPECT_TRUE(contains(result, "nobody is reading from it any more"));
}

TEST_F(AtomicFile, signals_are_as_before_afterwards) {
  const std::string result = in_child([]() -> std::string {
    static_cast<void>(write_atomically("/dev/null", "x"));
    sigset_t mask;
    sigemptyset(&mask);
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, SIGPIPE) != 0 || sigismember(&mask, SIGXFSZ) != 0 ? "still held" : "";
  });
  EXPECT_EQ(result, "");
}

TEST_F(AtomicFile, what_killed_processes_have_left_beside_it_is_removed) {
  const std::string left = ".taskbench-1-000000001.tmp";
  const std::string fresh = ".taskbench-2-000000001.tmp";
  for (const std::string& name : {left, std::string(".other.tmp"), std::string("taskbench.tmp")}) {
    put(folder_ / name, "half");
  }
  age_all();
  put(folder_ / fresh, "half");
  ASSERT_TRUE(check_writable(folder_ / "f", 1).ok());
  EXPECT_TRUE(fs::exists(folder_ / left));  // a check changes nothing
  ASSERT_TRUE(write_atomically(folder_ / "f", "new").ok());
  EXPECT_EQ(entries(), (std::vector<std::string>{".other.tmp", fresh, "f", "taskbench.tmp"}));
}

TEST_F(AtomicFile, slow_write_keeps_its_temporary_file_while_others_write_to_the_folder) {
  sync_watch = {true, 0, folder_ / "f", {}, [&] {
                  age_all();
                  EXPECT_TRUE(write_atomically(folder_ / "g", "another").ok());
                }};
  const WriteOutcome outcome = write_atomically(folder_ / "f", "new");
  EXPECT_TRUE(outcome.ok()) << outcome.error;
  EXPECT_EQ(content_of(folder_ / "f"), "new");
  EXPECT_EQ(entries(), (std::vector<std::string>{"f", "g"}));
}

TEST_F(AtomicFile, kill_in_the_middle_leaves_the_old_or_the_new_file_whole) {
  const fs::path path = folder_ / "f";
  const std::string even(400'000, 'e');
  const std::string odd(300'000, 'o');
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(write_atomically(path, even).ok());
  const auto of_a_write = std::chrono::steady_clock::now() - begun;
  constexpr int kRounds = 40;
  int seen_odd = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (bool is_odd = true;; is_odd = !is_odd) {
        static_cast<void>(write_atomically(path, is_odd ? odd : even));
      }
    }
    // From "before anything happened" to "many times over", however slow the disk is.
    std::this_thread::sleep_for(5 * of_a_write * round / kRounds);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::string content = content_of(path);
    ASSERT_TRUE(content == even || content == odd)
        << content.size() << " bytes after round " << round;
    seen_odd += content == odd ? 1 : 0;
  }
  EXPECT_GT(seen_odd, 0) << "no kill came late enough: nothing was tested";
  // Only the file is left, and what the killed processes could not remove.
  for (const std::string& name : entries()) {
    EXPECT_TRUE(name == "f" || name.starts_with(".taskbench-")) << name;
  }
}

}  // namespace
}  // namespace taskbench::harness
