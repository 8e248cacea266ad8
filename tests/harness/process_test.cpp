// run_process(): every way in which a program can end, or fail to end.
#include "harness/os/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>
#include <vector>

#include "harness/bench/usage.hpp"
#include "harness/os/descriptor.hpp"

namespace taskbench::harness {
namespace {

using End = ProcessOutcome::End;

ProcessOutcome shell(const std::string& script, double timeout_s = 30, double grace_s = 0) {
  return run_process({.command = {"sh", "-c", script}, .timeout_s = timeout_s, .grace_s = grace_s},
                     {});
}

double seconds_of(const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(process_test, a_good_end_with_its_output) {
  const ProcessOutcome outcome = shell("echo out; echo err >&2");
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.errors, "err\n");
}

TEST(process_test, a_status_is_told_with_the_last_line_of_its_errors) {
  ProcessOutcome outcome = shell("echo first >&2; echo no such thing >&2; exit 7");
  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.text(), "exited with status 7: no such thing");
  outcome.errors = "usage\nprog: error: unknown option\n  root: /there\n";
  EXPECT_EQ(outcome.text(), "exited with status 7: prog: error: unknown option");
}

TEST(process_test, a_signal_is_told_by_its_name) {
  const ProcessOutcome outcome = shell("kill -SEGV $$");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.text(), "was killed by signal 11 (Segmentation fault)");
}

TEST(process_test, what_cannot_be_started_is_told_why) {
  const ProcessOutcome missing = run_process({.command = {"/no/such/program"}, .timeout_s = 5}, {});
  EXPECT_EQ(missing.text(), "cannot be started: No such file or directory");
  const ProcessOutcome denied = run_process({.command = {"/etc"}, .timeout_s = 5}, {});
  EXPECT_EQ(denied.text(), "cannot be started: Permission denied");
}

TEST(process_test, one_that_hangs_is_killed_after_its_time) {
  ProcessOutcome outcome;
  EXPECT_LT(seconds_of([&] { outcome = shell("trap '' TERM INT; sleep 60", 0.2); }), 20);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outcome.text(), "did not end in time and was killed");
}

TEST(process_test, one_that_has_ended_while_this_process_was_stopped_is_not_late) {
  const auto as_if_stopped = [](double) {
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
  };
  const ProcessOutcome outcome =
      run_process({.command = {"sleep", "0.1"}, .timeout_s = 0.4, .waiting = as_if_stopped}, {});
  EXPECT_TRUE(outcome.ok()) << outcome.text();
}

TEST(process_test, stop_ends_it) {
  std::stop_source stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  const ProcessOutcome outcome =
      run_process({.command = {"sleep", "60"}, .timeout_s = 60}, stop.get_token());
  stopper.join();
  EXPECT_EQ(outcome.end, End::interrupted);
}

TEST(process_test, one_that_is_given_grace_may_end_by_itself) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const std::string ready = folder + "/process_test_ready" + std::to_string(::getpid());
  const std::string cleaned = folder + "/process_test_cleaned" + std::to_string(::getpid());
  const auto asked_to_end_when_ready = [&](const std::string& script, double grace_s) {
    std::filesystem::remove(ready);
    std::stop_source stop;
    const auto look = [&](double) {
      if (std::filesystem::exists(ready)) stop.request_stop();
    };
    return run_process(
        {.command = {"sh", "-c", script}, .timeout_s = 60, .grace_s = grace_s, .waiting = look},
        stop.get_token());
  };
  const std::string loop = "; : >" + ready + "; while :; do sleep 0.01; done";
  const std::string careful = "trap 'echo cleaned; exit' TERM" + loop;
  EXPECT_EQ(asked_to_end_when_ready(careful, 30).output, "cleaned\n");
  EXPECT_EQ(asked_to_end_when_ready(careful, 0).output, "");
  // A shell dies at once, but its children get their time to end, whatever they have closed.
  const std::string slow = "(trap 'sleep 0.3; echo cleaned >" + cleaned + "; exit' TERM" + loop +
                           ") >/dev/null 2>&1 & wait";
  std::filesystem::remove(cleaned);
  EXPECT_EQ(asked_to_end_when_ready(slow, 30).end, End::interrupted);
  EXPECT_TRUE(std::filesystem::remove(cleaned));
  std::filesystem::remove(ready);
  ProcessOutcome outcome;
  EXPECT_LT(seconds_of([&] { outcome = shell("trap '' TERM; sleep 60", 0.2, 0.2); }), 20);
  EXPECT_EQ(outcome.end, End::timed_out);
}

TEST(process_test, who_waits_is_told_the_time) {
  double last_s = -1;
  const ProcessOutcome outcome = run_process({.command = {"sleep", "0.3"},
                                              .timeout_s = 30,
                                              .waiting =
                                                  [&](double elapsed_s) {
                                                    EXPECT_GE(elapsed_s, last_s);
                                                    last_s = elapsed_s;
                                                  }},
                                             {});
  EXPECT_TRUE(outcome.ok());
  EXPECT_GT(last_s, 0.1);
}

/// Restricts its thread, and what that starts, to the first of its CPUs for as long as it lives.
class OnOneCpu {
 public:
  OnOneCpu() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    std::size_t first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_{};
};

// Runs next to more busy threads than there are CPUs. Since Linux 6.12, a task that falls asleep
// may stay in the run queue for a while, and if it is moved to another CPU during that time, its
// sleep counts as waiting.
TEST(process_test, what_waits_for_a_cpu_is_told_from_what_sleeps) {
  if (read_schedules().empty()) GTEST_SKIP() << "this kernel does not tell";
  std::stop_source stop;
  std::vector<std::jthread> hogs;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    hogs.emplace_back([&] {
      while (!stop.stop_requested()) {
      }
    });
  }
  const OnOneCpu on_one_cpu;
  const std::string computes = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
  const ProcessOutcome computed = shell(computes);
  ProcessOutcome slept;
  const double elapsed_s = seconds_of([&] {
    slept = run_process({.command = {"sleep", "0.3"}}, {});
  });
  const ProcessOutcome unknown = shell("(" + computes + "); true");
  stop.request_stop();
  ASSERT_TRUE(computed.ok() && slept.ok() && unknown.ok());
  EXPECT_GT(computed.queued_s.value(), 0.03);
  EXPECT_LT(slept.queued_s.value(), elapsed_s - 0.29);
  EXPECT_FALSE(unknown.queued_s) << "most of it was another process";
}

TEST(process_test, garbage_without_end_is_bounded) {
  const ProcessOutcome outcome = shell("yes garbage | head -c 50000000; echo end >&2");
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.output.size(), 1U << 20);
  EXPECT_EQ(outcome.errors, "end\n");
}

TEST(process_test, output_that_comes_as_fast_as_it_is_read_does_not_hold_its_reader) {
  const Descriptor endless(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  std::string kept;
  EXPECT_TRUE(drain(endless.get(), kept, 10, false));
  EXPECT_EQ(kept, std::string(10, '\0'));
}

/// Whether the process is gone, or will be in a moment.
bool ends(pid_t pid) {
  const std::filesystem::path stat = "/proc/" + std::to_string(pid) + "/stat";
  for (int i = 0; i < 500; ++i) {
    std::ifstream file(stat);
    std::string text;
    if (!std::getline(file, text)) return true;
    if (text.substr(text.rfind(')')).starts_with(") Z")) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// A command for a process that has left its group, session and parent, like a daemon.
std::string daemon_to(const std::string& file) {
  return "(setsid sh -c 'echo $$ >" + file + "; exec sleep 60' </dev/null >/dev/null 2>&1 &); " +
         "while ! test -s " + file + "; do sleep 0.01; done";
}

std::string scratch_file(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("process_test_" + name + std::to_string(::getpid()));
  std::filesystem::remove(path);
  return path.string();
}

pid_t taken_from(const std::string& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  std::filesystem::remove(file);
  return pid;
}

TEST(process_test, what_it_leaves_behind_is_killed_and_not_waited_for) {
  ProcessOutcome outcome;
  EXPECT_LT(seconds_of([&] { outcome = shell("sleep 60 & echo $!"); }), 20);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(ends(std::stoi(outcome.output)));
}

TEST(process_test, a_daemon_that_it_leaves_behind_is_killed) {
  const std::string file = scratch_file("daemon");
  ASSERT_TRUE(shell(daemon_to(file)).ok());
  EXPECT_TRUE(ends(taken_from(file)));
}

TEST(process_test, a_daemon_does_not_outlive_the_time_of_a_program_that_hangs) {
  for (const double grace_s : {0.0, 0.2}) {
    const std::string file = scratch_file("hangs");
    const ProcessOutcome outcome = shell(daemon_to(file) + "; sleep 60", 0.5, grace_s);
    EXPECT_EQ(outcome.end, End::timed_out);
    EXPECT_TRUE(ends(taken_from(file)));
  }
}

TEST(process_test, nothing_outlives_this_process_even_when_it_is_killed) {
  const std::string file = scratch_file("killed");
  const std::string own = file + ".program";
  const pid_t runner = ::fork();
  if (runner == 0) {
    (void)shell("echo $$ >" + own + "; " + daemon_to(file) + "; touch " + file +
                ".ready; sleep 60");
    ::_exit(0);
  }
  while (!std::filesystem::exists(file + ".ready")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_TRUE(ends(taken_from(file)));
  EXPECT_TRUE(ends(taken_from(own)));
  std::filesystem::remove(file + ".ready");
}

TEST(process_test, a_program_is_waited_for_where_this_process_ignores_its_children) {
  ::signal(SIGCHLD, SIG_IGN);
  const ProcessOutcome outcome = shell("exit 3");
  ::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(outcome.text(), "exited with status 3");
}

TEST(process_test, its_standard_input_is_empty) {
  EXPECT_EQ(shell("cat; echo done").output, "done\n");
}

TEST(process_test, its_standard_input_is_empty_even_if_this_process_has_none) {
  const Descriptor kept(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::close(STDIN_FILENO);
  const ProcessOutcome outcome = shell("cat && echo done");
  if (kept.is_open()) ::dup2(kept.get(), STDIN_FILENO);
  EXPECT_EQ(outcome.output, "done\n");
}

TEST(process_test, variables_are_added_and_replaced) {
  ::setenv("TASKBENCH_TEST_KEPT", "kept", 1);
  ::setenv("TASKBENCH_TEST_REPLACED", "old", 1);
  const ProcessOutcome outcome = run_process(
      {.command = {"sh", "-c", "echo $TASKBENCH_TEST_KEPT $TASKBENCH_TEST_REPLACED $NEW_ONE"},
       .environment = {"TASKBENCH_TEST_REPLACED=new", "NEW_ONE=1"},
       .timeout_s = 30},
      {});
  EXPECT_EQ(outcome.output, "kept new 1\n");
}

TEST(process_test, it_runs_in_the_folder_that_is_named) {
  const auto in = [](const std::string& folder) {
    return run_process({.command = {"pwd"}, .timeout_s = 30, .folder = folder}, {});
  };
  EXPECT_EQ(in("/usr").output, "/usr\n");
  EXPECT_EQ(in("/no/such/folder").text(), "cannot be started: No such file or directory");
}

TEST(process_test, it_takes_the_signals_that_this_process_ignores) {
  ::signal(SIGINT, SIG_IGN);
  const ProcessOutcome outcome = shell("kill -INT $$; echo survived");
  ::signal(SIGINT, SIG_DFL);
  EXPECT_EQ(outcome.end, End::killed);
}

}  // namespace
}  // namespace taskbench::harness
