// Searches shared by several processes, and searches that are killed and resumed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>

#include "tests/model/program.hpp"

namespace mc::testing {
namespace {

const Program kReaders{{W(0, 1)}, {W(1, 1)}, {R(0), R(1), R(0)}, {R(1), R(0), R(1)}};

/// A program in which many orders matter.
const Program kOrdered{{W(0, 1, seq_cst), R(1, seq_cst), W(0, 2, seq_cst)},
                       {W(1, 1, seq_cst), R(0, seq_cst), W(1, 2, seq_cst)},
                       {Add(0, 2, seq_cst), Add(1, 2, seq_cst), Add(0, 1, seq_cst)},
                       {R(0, seq_cst), R(1, seq_cst), W(0, 3, seq_cst)}};

void expect_no_process_left() {
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
}

void expect_same(const Result& one, const Result& other) {
  EXPECT_FALSE(other.failed) << other.message;
  EXPECT_EQ(one.complete, other.complete);
  EXPECT_EQ(one.executions, other.executions);
  EXPECT_EQ(one.depth, other.depth);
  EXPECT_EQ(one.threads, other.threads);
  EXPECT_EQ(one.outcomes, other.outcomes);
  expect_no_process_left();
}

Result with_jobs(Options options, int jobs) {
  options.jobs = jobs;
  return outcomes_of(kReaders, options, true);
}

TEST(Jobs, make_the_executions_of_one_under_a_bound_by_brute_force_and_drawn) {
  for (const Options& options : {
           Options{.preemptions = 2, .stale = 1},
           Options{.preemptions = 1, .stale = 0, .reduction = false},
           Options{.search = Search::random, .executions = 3'000},
           Options{.search = Search::pct, .executions = 3'000},
       }) {
    const Result alone = with_jobs(options, 1);
    for (const int jobs : {2, 5}) expect_same(alone, with_jobs(options, jobs));
  }
}

TEST(Jobs, find_the_outcomes_of_one_without_a_bound) {
  const Result alone = outcomes_of(kOrdered, {}, true);
  const Result together = outcomes_of(kOrdered, {.jobs = 3}, true);
  EXPECT_TRUE(together.complete);
  EXPECT_EQ(alone.outcomes, together.outcomes);
}

TEST(Progress, is_reported_with_what_was_done_the_rate_and_what_is_left) {
  setenv("MC_PROGRESS", "0.01", 1);
  ::testing::internal::CaptureStderr();
  const Result result =
      outcomes_of(kReaders, {.search = Search::random, .executions = 20'000}, true);
  const std::string told = ::testing::internal::GetCapturedStderr();
  unsetenv("MC_PROGRESS");
  const std::regex form(R"((\d+) executions, \d+ pruned, depth (\d+), (\d+) a second, )"
                        R"(about (\S+) % done, (\S+) s left)");
  std::istringstream lines(told);
  int count = 0;
  double before = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::smatch figures;
    ASSERT_TRUE(std::regex_match(line, figures, form)) << line;
    const double executions = std::stod(figures[1]);
    EXPECT_GT(executions, before);
    EXPECT_LE(executions, 20'000);
    before = executions;
    EXPECT_LE(std::stoi(figures[2]), result.depth);
    EXPECT_GT(std::stod(figures[3]), 0);
    // The percentage is printed with two digits.
    EXPECT_NEAR(std::stod(figures[4]), executions / 200, 0.05 * executions / 200);
  }
  EXPECT_GE(count, 1);
}

TEST(Jobs, make_no_more_executions_than_asked_for) {
  EXPECT_EQ(with_jobs({.preemptions = 2, .executions = 1'001}, 2).executions, 1'001U);
}

TEST(Jobs, report_a_failure_that_one_has_found_and_end) {
  const auto body = [] {
    const int number = choose(200);
    Atomic<int> x{0};
    Thread one([&] { x.store(1, relaxed); });
    Thread two([&] { x.store(2, relaxed); });
    require(number != 150 || x.load(relaxed) != 2, "another number");
    one.join();
    two.join();
    sometimes("never seen", false);
  };
  const Result found = check({.preemptions = 3, .jobs = 2}, body);
  expect_no_process_left();
  ASSERT_TRUE(found.failed);
  EXPECT_FALSE(found.complete);
  EXPECT_NE(found.message.find("another number"), std::string::npos) << found.message;
  EXPECT_NE(found.events.find("jobs_test.cpp:"), std::string::npos) << found.events;
  EXPECT_EQ(check({.replay = found.trace}, body).message, found.message);
}

TEST(Jobs, that_are_killed_are_reported_with_the_prefix_they_were_at) {
  const Result found = check({.jobs = 2}, [] {
    if (choose(2) == 1 && choose(100) == 70) (void)raise(SIGKILL);
    for (int i = 0; i < 4; ++i) (void)choose(4);
  });
  expect_no_process_left();
  ASSERT_TRUE(found.failed);
  EXPECT_NE(found.message.find("Killed, in one of the executions whose traces begin with \"01"),
            std::string::npos)
      << found.message;
}

TEST(Jobs, all_see_what_happens_sometimes) {
  const auto body = [] {
    const int number = choose(250);
    for (int i = 0; i < 4; ++i) (void)choose(3);
    sometimes("the last", number == 249);
    sometimes("more than there are", number == 250);
  };
  const Result result = check({.jobs = 2}, body);
  EXPECT_EQ(result.executions, 250U * 81U);
  EXPECT_EQ(result.message, "never: more than there are");
}

class Checkpoint : public ::testing::Test {
 protected:
  Checkpoint() { setenv("MC_CHECKPOINT", folder_.c_str(), 1); }
  ~Checkpoint() override {
    unsetenv("MC_CHECKPOINT");
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string file(const Options& options) const {
    return folder_ + '/' + options.name;
  }

  /// Runs the search in a child process, and sends it the signal once it has written a checkpoint.
  void begin(const Program& program, const Options& options, int signal) {
    begin([&] { (void)outcomes_of(program, options, true); }, options, signal);
  }
  void begin(const std::function<void()>& search, const Options& options, int signal) {
    const pid_t process = fork();
    if (process == 0) {
      search();
      _exit(1);
    }
    int status = 0;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ASSERT_EQ(waitpid(process, &status, WNOHANG), 0) << "the program is too small";
    } while (!std::filesystem::exists(file(options)));
    if (signal == SIGTERM) std::filesystem::remove(file(options));  // SIGTERM writes another
    kill(process, signal);
    waitpid(process, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(WTERMSIG(status), signal);
    ASSERT_TRUE(std::filesystem::exists(file(options)));
  }

  void kill_and_go_on(const Program& program, Options options, int signal) {
    options.name = "searched";
    const Result whole = outcomes_of(program, options, true);
    options.name += std::to_string(++searches_);  // or it would be the second search of its name
    begin(program, options, signal);
    expect_same(whole, outcomes_of(program, options, true));
    EXPECT_FALSE(std::filesystem::exists(file(options)));
  }

  std::string folder_ = ::testing::TempDir() + "checkpoints." + std::to_string(getpid());
  inline static int searches_ = 0;
};

const Options kBounded{.preemptions = 4, .stale = 1};

TEST_F(Checkpoint, a_killed_search_makes_the_executions_that_are_left) {
  kill_and_go_on(kReaders, kBounded, SIGKILL);
  kill_and_go_on(kOrdered, {}, SIGKILL);
  kill_and_go_on(kReaders, {.search = Search::random, .executions = 50'000}, SIGKILL);
}

TEST_F(Checkpoint, is_gone_on_from_and_not_begun_again) {
  const Options options{.search = Search::random, .executions = 300'000, .name = "gone_on"};
  std::uint64_t executions = 0;
  const auto search = [&] {
    return check(options, [&] {
      ++executions;
      (void)choose(3);
    });
  };
  begin([&] { (void)search(); }, options, SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  const Result result = search();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.executions, options.executions);
  EXPECT_LT(executions, options.executions);
  EXPECT_GT(result.seconds, taken.count()) << "the time of the killed one counts, too";
}

TEST_F(Checkpoint, is_of_all_jobs) {
  Options shared = kBounded;
  shared.jobs = 3;
  kill_and_go_on(kReaders, shared, SIGKILL);
}

TEST_F(Checkpoint, is_written_when_the_search_is_asked_to_end) {
  kill_and_go_on(kReaders, kBounded, SIGTERM);
}

TEST_F(Checkpoint, does_not_keep_that_a_job_was_killed) {
  const Options options{.jobs = 2, .name = "killed"};
  std::filesystem::create_directories(folder_);
  const std::string mark = folder_ + "/mark";
  const auto search = [&] {
    return check(options, [&] {
      const int first = open(mark.c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0600);
      if (first >= 0) (void)raise(SIGKILL);
      (void)choose(3);
    });
  };
  const pid_t process = fork();
  if (process == 0) _exit(search().failed ? 0 : 1);  // a child, as each search has its own file
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  ASSERT_EQ(status, 0);
  const Result again = search();
  EXPECT_FALSE(again.failed) << again.message;
  EXPECT_EQ(again.executions, 3U);
}

TEST_F(Checkpoint, that_does_not_fit_is_refused) {
  Options options = kBounded;
  options.name = "other";
  begin(kReaders, options, SIGKILL);
  const std::string text = (std::ostringstream() << std::ifstream(file(options)).rdbuf()).str();
  const auto refused = [&](const char* name, const std::string& content, const std::string& why) {
    Options other = kBounded;
    other.name = name;
    other.stale = 2;
    std::ofstream(file(other)) << content;
    const Result result = outcomes_of(kReaders, other);
    EXPECT_EQ(result.message, file(other) + why + "; remove it to begin anew");
    EXPECT_EQ(result.executions, 0U);
    EXPECT_TRUE(std::filesystem::exists(file(other)));
  };
  refused("other", text, " is of another model, other options or another build");
  refused("another", text, " is of another model, other options or another build");
  refused("short", text.substr(0, text.size() / 2), " is damaged");
  std::string flipped = text;
  flipped[flipped.size() / 2] ^= 1;
  refused("flipped", flipped, " is damaged");
  refused("strange", "something else\n", " is not a checkpoint of a search");
}

}  // namespace
}  // namespace mc::testing
