// The counting region, with the tests as perf at the other end of the pipes.
#include "harness/bench/counting_region.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace taskbench::harness {
namespace {

class Pipes {
 public:
  Pipes() {
    std::string name = (std::filesystem::temp_directory_path() / "taskbench-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    for (const char* each : {"commands", "answers"}) ::mkfifo((folder_ / each).c_str(), 0600);
    // Opened like perf does, before it starts the program.
    commands_ = ::open((folder_ / "commands").c_str(), O_RDWR);
    answers_ = ::open((folder_ / "answers").c_str(), O_RDWR);
  }
  ~Pipes() {
    close();
    std::filesystem::remove_all(folder_);
    ::prctl(PR_SET_PDEATHSIG, 0);
  }
  Pipes(const Pipes&) = delete;
  Pipes& operator=(const Pipes&) = delete;

  void close() {
    for (int* each : {&commands_, &answers_}) {
      if (*each >= 0) ::close(*each);
      *each = -1;
    }
  }

  [[nodiscard]] std::string names() const {
    return (folder_ / "commands").string() + "," + (folder_ / "answers").string();
  }

  /// Returns one command as perf reads it.
  [[nodiscard]] std::string command() const {
    std::string text;
    for (char each = 0; each != '\n' && ::read(commands_, &each, 1) == 1;) text += each;
    return text;
  }

  void answer(std::string_view text) const {
    ASSERT_EQ(::write(answers_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  std::filesystem::path folder_;
  int commands_ = -1;
  int answers_ = -1;
};

TEST(counting_region_test, asks_for_on_and_off_and_waits_for_the_answers) {
  using namespace std::string_view_literals;
  for (const std::string_view answer : {"ack\n\0"sv, "ack\n"sv}) {
    const Pipes pipes;
    CountingRegion region(pipes.names());
    std::string heard;
    std::thread perf([&] {
      for (int i = 0; i < 2; ++i) {
        heard += pipes.command();
        // In two parts, as a pipe may deliver it.
        pipes.answer(answer.substr(0, 2));
        pipes.answer(answer.substr(2));
      }
    });
    region.begin();
    region.end();
    perf.join();
    EXPECT_EQ(heard, "enable\ndisable\n");
  }
}

TEST(counting_region_test, perf_that_is_not_there_is_an_error_at_once) {
  Pipes pipes;
  pipes.close();
  EXPECT_THROW(CountingRegion(pipes.names()), std::runtime_error);
  EXPECT_THROW(CountingRegion("/nonexistent/a,/nonexistent/b"), std::runtime_error);
  EXPECT_THROW(CountingRegion("no comma"), std::runtime_error);
}

TEST(counting_region_test, perf_that_goes_away_is_an_error_at_once) {
  Pipes pipes;
  CountingRegion region(pipes.names());
  pipes.close();
  try {
    region.begin();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    // The words by which the code that started perf tells its failures from those of the measured
    // program.
    EXPECT_TRUE(std::string_view(error.what()).starts_with(kPerfDidNot)) << error.what();
  }
}

TEST(counting_region_test, environment_without_pipes_asks_for_none) {
  ::unsetenv(kPerfControlVariable);
  EXPECT_FALSE(perf_control_pipes());
  ::setenv(kPerfControlVariable, "", 1);
  EXPECT_FALSE(perf_control_pipes());
  ::setenv(kPerfControlVariable, "a,b", 1);
  EXPECT_EQ(perf_control_pipes(), "a,b");
  ::unsetenv(kPerfControlVariable);
}

}  // namespace
}  // namespace taskbench::harness
