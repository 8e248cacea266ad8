// split_command(), and how a program is found out and spoken to.
#include "workloads/measure/program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/workloads/never_stop.hpp"

namespace taskbench::workloads::measure {
namespace {

using Words = std::vector<std::string>;

TEST(program_test, commands_are_split_as_a_shell_does) {
  EXPECT_EQ(split_command("a b  c"), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_command("  'a b' \"c d\"e\\ f '' "), (Words{"a b", "c de f", ""}));
  EXPECT_EQ(split_command(R"("a\"b" 'c\d')"), (Words{"a\"b", "c\\d"}));
  EXPECT_EQ(split_command("a\\"), (Words{"a\\"}));
}

TEST(program_test, commands_without_words_or_with_an_open_quote_are_refused) {
  EXPECT_THROW((void)split_command("  "), std::invalid_argument);
  EXPECT_THROW((void)split_command("a 'b"), std::invalid_argument);
}

class Scripts : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "program-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A program that does this.
  std::string script(const std::string& name, const std::string& body) {
    const auto path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

  std::string failure(Words command) {
    try {
      (void)Program::find_out(std::move(command), kNeverStop);
    } catch (const ProgramError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(Scripts, taskbench_is_known_by_its_version) {
  const auto path = script("t", "[ \"$1\" = --version ] && echo taskbench 1.2.3");
  const Program program = Program::find_out({path, "--workers", "2"}, kNeverStop);
  EXPECT_EQ(program.kind(), Program::Kind::taskbench);
  const Words words = program.arguments({.benchmarks = {"a/b:2"},
                                         .families = {},
                                         .iterations = {{"a/b:2", 7}},
                                         .repetitions = 3,
                                         .min_time_s = 0.5,
                                         .seed = 9},
                                        "r.json");
  EXPECT_EQ(words, (Words{path, "run", "--workers", "2", "--repetitions", "3", "--min-time", "0.5s",
                          "--seed", "9", "--json", "r.json", "--quiet", "--filter", "^(a/b:2)$",
                          "--iterations", "a/b:2=7"}));
}

TEST_F(Scripts, a_google_benchmark_program_is_known_by_its_list) {
  const auto path =
      script("g", "case $1 in --benchmark_list_tests=true) echo BM_a;; *) exit 1;; esac");
  const Program program = Program::find_out({path}, kNeverStop);
  EXPECT_EQ(program.kind(), Program::Kind::google_benchmark);
  EXPECT_FALSE(program.takes_iterations());
  SampleRequest request;
  request.benchmarks = {"BM_a<int>(1)", "BM_b"};
  const Words words = program.arguments(request, "r.json");
  EXPECT_EQ(words.back(), "--benchmark_filter=^(BM_a<int>\\(1\\)|BM_b)$");
  EXPECT_EQ(words[1], "--benchmark_out=r.json");
  request.benchmarks.clear();
  EXPECT_FALSE(program.arguments(request, "r.json").back().starts_with("--benchmark_filter"));
  request.families = {"BM_a<int>(1)", "BM_b"};
  EXPECT_EQ(program.arguments(request, "r.json").back(),
            "--benchmark_filter=^(BM_a<int>\\(1\\)|BM_b)(/|$)");
}

TEST_F(Scripts, anything_else_is_refused_with_what_it_answered) {
  EXPECT_EQ(failure({script("x", "echo what? >&2; exit 3")}),
            "'" + (folder_ / "x").string() +
                "' is neither taskbench nor a Google Benchmark program: asked with "
                "--benchmark_list_tests=true for what it measures, it exited with status 3: what?");
  EXPECT_NE(failure({script("e", "exit 0")}).find("lists no benchmarks"), std::string::npos);
  EXPECT_NE(failure({"/no/such"}).find("cannot be started"), std::string::npos);
}

TEST_F(Scripts, a_process_that_fails_is_told_with_its_command) {
  const auto path = script("t", "[ \"$1\" = --version ] && echo taskbench 1 && exit 0; kill -9 $$");
  const Program program = Program::find_out({path}, kNeverStop);
  try {
    program.measure({}, folder_ / "r.json", kNeverStop);
    FAIL() << "nothing was thrown";
  } catch (const ProgramError& error) {
    EXPECT_EQ(std::string(error.what()), "'" + path + "' was killed by signal 9 (Killed)");
  }
}

TEST_F(Scripts, scripts_are_never_identical_and_binaries_are_by_their_bytes) {
  const auto program = [](const std::string& path, Words options = {}) {
    options.insert(options.begin(), path);
    return Program::find_out(options, kNeverStop);
  };
  const auto text = script("t", "echo taskbench 1");
  EXPECT_FALSE(are_identical(program(text), program(text), kNeverStop));
  // Any binary will do that answers; /bin/echo prints its arguments, so that it "lists" something.
  std::filesystem::copy("/bin/echo", folder_ / "a");
  std::filesystem::copy("/bin/echo", folder_ / "b");
  const auto a = (folder_ / "a").string();
  const auto b = (folder_ / "b").string();
  EXPECT_TRUE(are_identical(program(a), program(b), kNeverStop));
  EXPECT_FALSE(are_identical(program(a, {"x"}), program(b), kNeverStop));
  EXPECT_EQ(program(a).digest(), program(b).digest());
  std::ofstream(b, std::ios::app) << "x";
  EXPECT_FALSE(are_identical(program(a), program(b), kNeverStop));
  EXPECT_NE(program(a).digest(), program(b).digest());
}

}  // namespace
}  // namespace taskbench::workloads::measure
