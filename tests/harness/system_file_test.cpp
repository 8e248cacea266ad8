#include "harness/os/system_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <set>

#include "harness/os/atomic_file.hpp"
#include "harness/os/descriptor.hpp"
#include "harness/os/file_content.hpp"
#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

using Cpus = std::vector<unsigned>;

TEST(system_file, cpu_lists_have_ranges_and_single_cpus) {
  EXPECT_EQ(cpu_list("0"), (Cpus{0}));
  EXPECT_EQ(cpu_list("0-2,8"), (Cpus{0, 1, 2, 8}));
}

TEST(system_file, what_is_no_cpu_list_is_empty) {
  for (const char* text : {"", "-", "a", "0-", "2-1", "0,,1", "0-4294967295", "1 2"}) {
    EXPECT_EQ(cpu_list(text), Cpus{}) << text;
  }
}

TEST(system_file, entries_end_with_a_zero_and_may_be_empty) {
  EXPECT_EQ(entries_of(std::string_view("a\0\0b c\0cut", 10)),
            (std::vector<std::string>{"a", "", "b c"}));
}

TEST(system_file, numbers_are_all_of_the_text) {
  EXPECT_EQ(number<int>("12"), 12);
  EXPECT_EQ(number<double>("0.25"), 0.25);
  for (const char* text : {"", "12 ", "x", "1x"})
    EXPECT_EQ(number<int>(text), std::nullopt) << text;
}

TEST(system_file, words_and_lines_leave_out_what_is_between_them) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(words_of("  a\tb  c\n"), (Parts{"a", "b", "c"}));
  EXPECT_EQ(words_of(" "), Parts{});
  EXPECT_EQ(lines_of("a\n\nb"), (Parts{"a", "", "b"}));
}

TEST(system_file, a_missing_file_and_a_folder_are_empty) {
  const FakeRoot root;
  EXPECT_EQ(content_of(root.path() / "none"), std::nullopt);
  EXPECT_EQ(content_of(root.path()), std::nullopt);
  EXPECT_EQ(first_line(root.path() / "none"), "");
  EXPECT_EQ(first_line(root.path()), "");
  EXPECT_EQ(whole_number_in(root.path() / "none"), std::nullopt);
  EXPECT_EQ(value_of_line(root.path() / "none", "a"), "");
}

TEST(system_file, values_are_found_by_their_whole_name) {
  const FakeRoot root;
  root.write("status", "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\n");
  EXPECT_EQ(value_of_line(root.path() / "status", "Cpus_allowed_list"), "0-1");
  EXPECT_EQ(value_of_line(root.path() / "status", "Cpus"), "");
}

TEST(system_file, files_longer_than_a_block_are_read_whole) {
  const FakeRoot root;
  const std::string content(10'000, 'x');
  root.write("long", content);
  EXPECT_EQ(content_of(root.path() / "long"), content);
}

/// The number of the page frame that holds the first page of a file; 0 if this process may not
/// know.
std::uint64_t frame_of(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
  const volatile char* const byte = static_cast<const char*>(page);
  static_cast<void>(*byte);
  const Descriptor map(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  std::uint64_t entry = 0;
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page) / 4096 * 8);
  const bool is_read = ::pread(map.get(), &entry, sizeof entry, at) == sizeof entry;
  ::munmap(page, 4096);
  return is_read ? entry & ((std::uint64_t{1} << 55) - 1) : 0;
}

TEST(FileContent, of_a_file_that_is_placed_anew_lies_elsewhere_and_is_the_same) {
  const FakeRoot root;
  const std::filesystem::path path = root.path() / "program";
  const std::string bytes(1 << 20, 'x');
  ASSERT_TRUE(write_atomically(path, bytes).ok());  // synced, as unsynced pages cannot be dropped
  const std::uint64_t before = frame_of(path);
  place_anew(root.path() / "missing");
  std::set<std::uint64_t> frames;
  for (int i = 0; i < 8; ++i) {
    place_anew(path);
    frames.insert(frame_of(path));
  }
  EXPECT_EQ(read_file(path).bytes, bytes);
  struct statfs system {};
  ASSERT_EQ(::statfs(path.c_str(), &system), 0);
  if (before == 0 || system.f_type == TMPFS_MAGIC) {
    GTEST_SKIP() << "only root may know where a file lies in memory, and tmpfs is nothing else";
  }
  EXPECT_GT(frames.size(), 1U);
}

}  // namespace
}  // namespace taskbench::harness
