// split_command(), and how the kind of a program is found out and how it is called.
#include "harness/programs/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "harness/programs/identity.hpp"
#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

using Words = std::vector<std::string>;

TEST(program_test, commands_are_split_as_a_shell_does) {
  EXPECT_EQ(split_command("a b  c"), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_command("  'a b' \"c d\"e\\ f '' "), (Words{"a b", "c de f", ""}));
  EXPECT_EQ(split_command(R"("a\"b" 'c\d')"), (Words{"a\"b", "c\\d"}));
  EXPECT_EQ(split_command("a\\"), (Words{"a\\"}));
  EXPECT_EQ(split_command(R"("a\.b" "\$\`\\" a\.b)"), (Words{R"(a\.b)", R"($`\)", "a.b"}));
  EXPECT_EQ(split_command("a \\\n b\\\nc \"d\\\ne\""), (Words{"a", "bc", "de"}));
}

TEST(program_test, commands_without_words_or_with_an_open_quote_are_refused) {
  EXPECT_THROW((void)split_command("  "), std::invalid_argument);
  EXPECT_THROW((void)split_command("a 'b"), std::invalid_argument);
}

class Scripts : public testing::Test {
 protected:
  /// Makes a program that runs `body`.
  std::string script(const std::string& name, const std::string& body) {
    return root_.script(name, body);
  }

  std::string failure(Words command) {
    try {
      (void)Program::find_out(std::move(command), {});
    } catch (const ProgramError& error) {
      return error.what();
    }
    return "";
  }

  FakeRoot root_;
  const std::filesystem::path& folder_ = root_.path();
};

TEST_F(Scripts, taskbench_is_known_by_its_version) {
  const auto path = script("t", "[ \"$1\" = --version ] && echo taskbench 1.2.3");
  const Program program = Program::find_out({path, "--workers", "2"}, {});
  EXPECT_EQ(&program.kind(), &taskbench_kind());
  SampleRequest request;
  request.benchmarks = {"a/b:2"};
  request.iterations = {{"a/b:2", 7}};
  request.repetitions = 3;
  request.min_time_s = 0.5;
  request.seed = 9;
  const Words words = program.arguments(request, "r.json");
  EXPECT_EQ(words, (Words{path, "run", "--workers", "2", "--repetitions", "3", "--min-time", "0.5s",
                          "--seed", "9", "--json", "r.json", "--quiet", "--filter", "^(a/b:2)$",
                          "--iterations", "a/b:2=7"}));
}

TEST_F(Scripts, a_google_benchmark_program_is_known_by_its_list) {
  const auto path =
      script("g", "case $1 in --benchmark_list_tests=true) echo BM_a;; *) exit 1;; esac");
  const Program program = Program::find_out({path}, {});
  EXPECT_EQ(&program.kind(), &google_benchmark_kind());
  EXPECT_FALSE(program.kind().takes_iterations());
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

TEST_F(Scripts, a_google_benchmark_program_that_does_not_know_of_interleaving_is_measured) {
  const auto path =
      script("g",
             "[ \"$1\" = --benchmark_list_tests=true ] && echo BM_a && exit\n"
             "for word; do\n"
             "  case $word in\n"
             "    --benchmark_out=*) out=${word#*=} ;;\n"
             "    *interleaving*) exit 1 ;;\n"
             "  esac\n"
             "done\n"
             "[ \"$BENCHMARK_ENABLE_RANDOM_INTERLEAVING\" = true ] && [ -n \"$out\" ] || exit 1\n"
             "echo '{\"benchmarks\": [{\"name\": \"BM_a\", \"iterations\": 1, \"real_time\": 7, "
             "\"cpu_time\": 7}]}' >\"$out\"");
  const Program program = Program::find_out({path}, {});
  EXPECT_EQ(&program.kind(), &google_benchmark_kind());
  const model::Run run = program.measure({}, folder_ / "r.json", {});
  EXPECT_EQ(run.cases.at(0).repetitions.at(0).real_ns, 7);
}

/// Names of `beginning` and a number, together at least as long as `bytes`.
Words many_names(const std::string& beginning, std::size_t bytes) {
  Words names;
  for (int i = 10'000; names.size() * (beginning.size() + 6) < bytes; ++i) {
    names.push_back(beginning + std::to_string(i));
  }
  return names;
}

TEST_F(Scripts, names_that_are_too_long_for_an_argument_are_left_to_their_beginnings_or_left_out) {
  const auto path =
      script("g", "case $1 in --benchmark_list_tests=true) echo BM_a;; *) exit 1;; esac");
  const Program program = Program::find_out({path}, {});
  const std::string family = "BM_" + std::string(36, 'x');
  constexpr std::size_t kMoreThanARegularExpressionTakes = 70'000;
  SampleRequest request;
  request.benchmarks = many_names(family + '/', kMoreThanARegularExpressionTakes);
  EXPECT_EQ(program.arguments(request, "r.json").back(),
            "--benchmark_filter=^(" + family + ")(/|$)");
  request.benchmarks = many_names(family, kMoreThanARegularExpressionTakes);
  EXPECT_FALSE(program.arguments(request, "r.json").back().starts_with("--benchmark_filter"));
}

TEST_F(Scripts, of_a_program_that_cannot_be_told_so_many_names_only_these_are_taken) {
  const auto path = script("l", "echo one 1 ms; echo two 2 ms");
  const Program program = Program::find_out({path}, {}, {.folder = folder_, .kind = &lines_kind()});
  SampleRequest request;
  constexpr std::size_t kMoreThanAVariableHolds = 140'000;
  request.benchmarks = many_names("sort/" + std::string(36, 'x'), kMoreThanAVariableHolds);
  request.benchmarks.emplace_back("two");
  const model::Run run = program.measure(request, folder_ / "unused", {});
  ASSERT_EQ(run.cases.size(), 1U);
  EXPECT_EQ(run.cases.at(0).name, "two");
}

TEST_F(Scripts, anything_else_is_refused_with_what_it_answered) {
  EXPECT_EQ(failure({script("x", "echo what? >&2; exit 3")}),
            "'" + (folder_ / "x").string() +
                "' is not a benchmark of a known kind: asked with "
                "--benchmark_list_tests=true for what it measures, it exited with status 3: what?; "
                "it is a script, which has to hand its arguments on to a benchmark (exec "
                "path/to/benchmark \"$@\"), or is measured by what it prints (--kind lines) or as "
                "a whole (--kind command)");
  EXPECT_NE(failure({script("e", "exit 0")}).find("lists no benchmarks"), std::string::npos);
  EXPECT_NE(failure({"/no/such"}).find("cannot be started"), std::string::npos);
}

// The program ignores words that it does not know.
TEST_F(Scripts, a_benchmark_that_overlooks_the_question_for_a_version_runs_nothing) {
  const auto path =
      script("b", "case \"$*\" in *list_tests*) echo a; echo b ;; *) touch \"$0.ran\" ;; esac");
  const Program program = Program::find_out({path}, {});
  EXPECT_EQ(program.listed(), (Words{"a", "b"}));
  EXPECT_FALSE(std::filesystem::exists(path + ".ran"));
}

TEST_F(Scripts, a_process_that_fails_is_told_with_its_command) {
  const auto path = script("t", "[ \"$1\" = --version ] && echo taskbench 1 && exit 0; kill -9 $$");
  const Program program = Program::find_out({path}, {});
  try {
    (void)program.measure({}, folder_ / "r.json", {});
    FAIL() << "nothing was thrown";
  } catch (const ProgramError& error) {
    EXPECT_EQ(std::string(error.what()), "'" + path + "' was killed by signal 9 (Killed)");
  }
}

TEST_F(Scripts, each_question_ends_with_the_time_that_a_process_may_take) {
  const auto path = script("s", "sleep 60");
  double told_s = 0;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW((void)Program::find_out(
                   {path}, {}, {.timeout_s = 0.2, .waiting = [&](double s) { told_s = s; }}),
               ProgramError);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  EXPECT_GT(told_s, 0.2);  // over both questions
}

TEST_F(Scripts, what_never_ran_and_what_measures_nothing_is_told_from_what_failed) {
  const auto find_out = [](Words command) { (void)Program::find_out(std::move(command), {}); };
  EXPECT_THROW(find_out({"/no/such"}), NotMeasurable);
  EXPECT_THROW(find_out({script("e", "exit 0")}), NotMeasurable);
  try {
    find_out({script("c", "kill -SEGV $$")});
    FAIL() << "nothing was thrown";
  } catch (const NotMeasurable&) {
    FAIL() << "it has crashed";
  } catch (const ProgramError& error) {
    EXPECT_NE(std::string(error.what()).find("was killed by signal 11"), std::string::npos);
  }
}

TEST_F(Scripts, a_plug_in_that_was_built_anew_is_noticed) {
  std::filesystem::create_directory(folder_ / "plugins");
  std::filesystem::copy("/bin/echo", folder_ / "program");
  const Words command{(folder_ / "program").string()};
  const std::string alone = digest_of_program(command);
  std::ofstream(folder_ / "results.json") << "{}";
  EXPECT_EQ(digest_of_program(command), alone);
  std::ofstream(folder_ / "plugins/fast.so.1") << "code";
  const std::string with_plug_in = digest_of_program(command);
  EXPECT_NE(with_plug_in, alone);
  std::ofstream(folder_ / "plugins/fast.so.1") << "other";
  EXPECT_NE(digest_of_program(command), with_plug_in);
}

TEST_F(Scripts, what_would_do_in_place_of_a_script_or_another_program_is_said) {
  EXPECT_NE(failure({script("x", "exit 3")}).find("it is a script, which has to hand"),
            std::string::npos);
  EXPECT_NE(failure({"/bin/false"}).find("what can be measured is"), std::string::npos);
  EXPECT_NE(failure({"/bin/true"}).find("what can be measured is"), std::string::npos);
}

TEST_F(Scripts, what_answers_every_question_alike_is_not_surely_a_benchmark) {
  const auto is_sure = [](const std::string& path) {
    return Program::find_out({path}, {}).is_sure({});
  };
  EXPECT_FALSE(is_sure("/bin/echo"));
  EXPECT_FALSE(is_sure(script("hello", "echo Hello, world!")));
  EXPECT_TRUE(is_sure(
      script("g", "echo prose; case $* in *filter=^*) ;; *--benchmark_list*) echo BM_a;; esac")));
}

TEST_F(Scripts, all_processes_run_in_the_folder_that_is_asked_for) {
  std::filesystem::create_directory(folder_ / "there");
  const auto path =
      script("g", "pwd >>cwd; echo BM_a; echo '{\"benchmarks\": []}' >\"${1#--benchmark_out=}\"");
  const Program program = Program::find_out({path}, {}, {.folder = folder_ / "there"});
  EXPECT_FALSE(program.is_sure({}));
  (void)program.measure({}, folder_ / "r.json", {});
  std::ifstream file(folder_ / "there/cwd");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    EXPECT_EQ(line, std::filesystem::canonical(folder_ / "there").string());
  }
  EXPECT_EQ(lines, 4);
}

TEST_F(Scripts, a_relative_command_means_the_same_in_another_folder) {
  (void)script("g", "echo BM_a");
  const auto path = std::filesystem::relative(folder_ / "g");
  EXPECT_EQ(Program::find_out({path.string()}, {}, {.folder = "/"}).listed(), Words{"BM_a"});
}

TEST_F(Scripts, a_list_of_criterion_in_which_names_are_cut_off_is_not_used) {
  const auto listing = [&](const std::string& name) {
    const auto path = script("c", "case $* in *--list*) echo '" + name + ": bench' ;; esac");
    const Program program = Program::find_out({path}, {}, {.kind = &criterion_kind()});
    EXPECT_EQ(&program.kind(), &criterion_kind());
    return program.listed();
  };
  EXPECT_EQ(listing("sort..."), Words{"sort..."});
  const std::string long_name(100, 'x');
  EXPECT_EQ(listing(long_name), Words{long_name});
  EXPECT_EQ(listing(long_name + "..."), Words{});
}

/// Answers like a test binary of Go, without Go.
class Go : public Scripts {
 protected:
  Program program(const std::string& prints = "BenchmarkSort-2 100 1500 ns/op 3 B/op") {
    const auto path = script("sort.test",
                             "case $1 in -test.list=*) echo TestSort; echo "
                             "BenchmarkSort; exit ;; esac\n" +
                                 std::string("echo '") + prints + "'");
    return Program::find_out({path}, {}, {.kind = &go_kind()});
  }
};

TEST_F(Go, lists_its_benchmarks_and_prints_their_times) {
  const Program sort = program();
  EXPECT_EQ(sort.listed(), Words{"BenchmarkSort"});
  const model::Run run = sort.measure({}, folder_ / "unused", {});
  EXPECT_EQ(run.cases.at(0).name, "BenchmarkSort");
  EXPECT_EQ(run.cases.at(0).repetitions.at(0).real_ns, 1500);
  EXPECT_FALSE(sort.kind().cpu_time_of("BenchmarkSort"));
}

TEST_F(Go, is_asked_for_names_by_their_levels) {
  SampleRequest request;
  request.repetitions = 3;
  request.min_time_s = 0.001;
  EXPECT_EQ(program().arguments(request, "")[3], "-test.bench=.");
  request.benchmarks = {"BenchmarkA/size=1+", "BenchmarkB/size=2/x", "BenchmarkA/size=2"};
  const Words words = program().arguments(request, "");
  EXPECT_EQ(words[3], "-test.bench=^(BenchmarkA|BenchmarkB)$/^(size=1\\+|size=2)$");
  EXPECT_EQ(words[4], "-test.count=3");
  EXPECT_EQ(words[5], "-test.benchtime=1000000ns");
  request.benchmarks.emplace_back("BenchmarkC");
  EXPECT_EQ(program().arguments(request, "")[3],
            "-test.bench=^(BenchmarkA|BenchmarkB|BenchmarkC)$");
  request.benchmarks.clear();
  request.families = {"BenchmarkA"};
  EXPECT_EQ(program().arguments(request, "")[3], "-test.bench=^(BenchmarkA)$");
}

TEST_F(Go, is_asked_for_names_without_the_number_of_cpus_while_these_are_not_known) {
  const Program fib = program("BenchmarkFib\nBenchmarkFib/n-30\nBenchmarkFib/n-30 1 1500 ns/op");
  SampleRequest request;
  EXPECT_EQ(fib.arguments(request, "").back(), "-test.v");
  EXPECT_EQ(fib.measure(request, folder_ / "unused", {}).cases.at(0).name, "BenchmarkFib/n-30");
  request.benchmarks = {"BenchmarkFib/n-30"};
  EXPECT_EQ(fib.arguments(request, "").back(), "-test.benchmem");
}

TEST_F(Go, is_asked_for_names_without_a_number_of_cpus_that_the_command_chooses) {
  const auto path = script("sort.test", "echo BenchmarkSort");
  const Program sort = Program::find_out({path, "-test.cpu=2,4"}, {}, {.kind = &go_kind()});
  EXPECT_EQ(sort.listed(), Words{}) << "results have other names";
  const Program two = Program::find_out({path, "-test.cpu", "2"}, {}, {.kind = &go_kind()});
  EXPECT_EQ(two.listed(), Words{"BenchmarkSort"});
  SampleRequest request;
  request.benchmarks = {"BenchmarkSort-2"};
  EXPECT_EQ(sort.arguments(request, "")[4], "-test.bench=^(BenchmarkSort-2|BenchmarkSort)$");
  request.benchmarks = {"BenchmarkHash/sha-256-4", "BenchmarkHash/md-5-2"};
  EXPECT_EQ(sort.arguments(request, "")[4],
            "-test.bench=^(BenchmarkHash)$/^(sha-256-4|sha-256|md-5-2|md-5)$");
}

TEST_F(Go, keeps_digits_at_the_end_of_what_is_requested) {
  SampleRequest request;
  request.benchmarks = {"BenchmarkHash/sha-256"};
  const model::Run run =
      program("BenchmarkHash/sha-256 1 1500 ns/op").measure(request, folder_ / "unused", {});
  ASSERT_EQ(run.cases.size(), 1U);
  EXPECT_EQ(run.cases[0].name, "BenchmarkHash/sha-256");
}

TEST_F(Go, that_prints_no_result_has_failed) {
  EXPECT_THROW((void)program("PASS").measure({}, folder_ / "unused", {}), ProgramError);
}

TEST_F(Scripts, another_program_is_not_what_the_user_says_it_is) {
  const Asking asking{.kind = &go_kind()};
  EXPECT_THROW((void)Program::find_out({"/bin/false"}, {}, asking), NotMeasurable);
  EXPECT_THROW((void)Program::find_out({"/bin/true"}, {}, asking), NotMeasurable);
  EXPECT_THROW((void)Program::find_out({"/no/such"}, {}, asking), NotMeasurable);
  EXPECT_THROW((void)Program::find_out({"/etc/passwd"}, {}, {.kind = &command_kind()}),
               NotMeasurable);
}

TEST_F(Scripts, a_program_that_prints_lines_is_told_what_is_wanted) {
  const auto path = script(
      "l",
      "echo one $TASKBENCH_REPETITIONS ms; echo a two $TASKBENCH_MIN_TIME_S s; echo three 3 s; "
      "echo \"$TASKBENCH_ONLY\" >only");
  const Program program = Program::find_out({path}, {}, {.folder = folder_, .kind = &lines_kind()});
  SampleRequest request;
  request.repetitions = 7;
  request.min_time_s = 0.25;
  request.benchmarks = {"one", "a two"};  // but not "three", which it prints all the same
  const model::Run run = program.measure(request, folder_ / "unused", {});
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases.at(0).repetitions.at(0).real_ns, 7e6);
  EXPECT_EQ(run.cases.at(1).repetitions.at(0).real_ns, 0.25e9);
  std::ifstream file(folder_ / "only");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "one");
  std::getline(file, line);
  EXPECT_EQ(line, "a two");
  EXPECT_THROW((void)Program::find_out({script("n", "echo hello")}, {}, {.kind = &lines_kind()})
                   .measure(request, folder_ / "unused", {}),
               ProgramError);
}

TEST_F(Scripts, pytest_is_asked_for_functions_whatever_their_parameters_are_called) {
  const Program program =
      Program::find_out({script("p", "exit 0"), "PYTHONPATH=src"}, {}, {.kind = &pytest_kind()});
  SampleRequest request;
  request.benchmarks = {"t.py::test_a[std::map]", "t.py::test_a[2]", "t.py::Tests::test_b[a[0]-x]",
                        "[old]/t.py::test_c"};
  const Words words = program.arguments(request, folder_ / "r.json");
  EXPECT_EQ(words.at(1), "PYTHONPATH=src:" + folder_.string()) << "where the plugin is";
  EXPECT_EQ(words.at(words.size() - 2), "-k");
  EXPECT_EQ(words.back(), "test_a or test_b or test_c");
}

TEST(Kinds, have_different_names) {
  Words names;
  for (const ProgramKind* kind : program_kinds()) names.emplace_back(kind->name());
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(named_kind("go"), &go_kind());
  EXPECT_EQ(named_kind(""), nullptr);
  EXPECT_THROW((void)named_kind("goo"), UsageError);
}

/// Two folders, each with a copy of one binary. Any that answers will do: /bin/echo prints its
/// arguments, so it "lists" something.
class Identical : public Scripts {
 protected:
  Identical() {
    for (const std::string side : {"base", "head"}) {
      std::filesystem::create_directories(folder_ / side / "out");
      std::filesystem::copy("/bin/echo", folder_ / side / "out/program");
    }
  }

  void write(const std::string& file, const std::string& text) { root_.write(file, text); }

  Identity identity(const std::string& base, const std::string& head, const Words& outputs = {},
                    const Words& options = {}) {
    const auto program = [&](const std::string& file, const Words& more) {
      Words words{(folder_ / file).string()};
      words.insert(words.end(), more.begin(), more.end());
      return Program::find_out(words, {});
    };
    const Program ours = program(base, {});
    const Program theirs = program(head, options);
    return identity_of({&ours, roots_ ? folder_ / "base" : "", roots_},
                       {&theirs, roots_ ? folder_ / "head" : "", roots_}, outputs, {});
  }

  Identity both(const Words& outputs = {}) {
    return identity("base/out/program", "head/out/program", outputs);
  }

  bool roots_ = true;  ///< whether the user names the folders base and head
};

TEST_F(Identical, not_unless_the_user_says_where_all_lies_that_they_read) {
  EXPECT_TRUE(both().holds());
  roots_ = false;
  EXPECT_EQ(both().doubt, "they may read other files that differ");
}

TEST_F(Identical, where_all_that_lies_below_their_roots_is_equal) {
  for (const std::string side : {"base", "head"}) {
    write(side + "/lib/fast.so", "code");
    std::filesystem::create_symlink("lib", folder_ / side / "current");
  }
  EXPECT_TRUE(both().holds()) << both().doubt;
  write("head/lib/fast.so", "other");
  EXPECT_EQ(both().doubt, "below the roots, lib/fast.so differs");
}

TEST_F(Identical, not_where_one_side_has_more_or_other_permissions) {
  write("base/config", "x");
  EXPECT_EQ(both().doubt, "below the roots, head has no config");
  std::filesystem::rename(folder_ / "base/config", folder_ / "head/config");
  EXPECT_EQ(both().doubt, "below the roots, base has no config");
  write("base/config", "x");
  EXPECT_TRUE(both().holds());
  std::filesystem::permissions(folder_ / "base/config", std::filesystem::perms::owner_all);
  EXPECT_EQ(both().doubt, "below the roots, config differs");
}

TEST_F(Identical, not_where_a_link_leads_out_of_the_roots) {
  for (const std::string side : {"base", "head"}) {
    std::filesystem::create_symlink("../shared", folder_ / side / "shared");
  }
  EXPECT_EQ(both().doubt, "below the roots, shared differs");
}

TEST_F(Identical, not_where_a_root_has_too_much_to_compare) {
  for (std::size_t i = 0; i < kMostComparedFiles; ++i) write("head/" + std::to_string(i), "");
  EXPECT_NE(both().doubt.find("more than 2000 files"), std::string::npos) << both().doubt;
}

TEST_F(Identical, only_by_their_bytes_arguments_and_places) {
  EXPECT_FALSE(identity("base/out/program", "head/out/program", {}, {"x"}).holds());
  std::filesystem::rename(folder_ / "head/out/program", folder_ / "head/program");
  EXPECT_NE(identity("base/out/program", "head/program").doubt.find("is called by another path"),
            std::string::npos);
  std::ofstream(folder_ / "head/program", std::ios::app) << "x";
  const Identity changed = identity("base/out/program", "head/program");
  EXPECT_FALSE(changed.holds());
  EXPECT_EQ(changed.doubt, "");
}

TEST_F(Identical, not_where_one_lies_outside_of_its_root) {
  std::filesystem::create_directory(folder_ / "else");
  std::filesystem::copy("/bin/echo", folder_ / "else/program");
  EXPECT_NE(identity("else/program", "head/out/program").doubt.find("is not below"),
            std::string::npos);
}

TEST_F(Identical, one_file_by_one_path_in_one_folder_but_not_by_links_from_elsewhere) {
  roots_ = false;
  EXPECT_TRUE(identity("base/out/program", "base/out/program").holds());
  const Words command{(folder_ / "base/out/program").string()};
  const Program here = Program::find_out(command, {});
  const Program there = Program::find_out(command, {}, {.folder = folder_});
  EXPECT_FALSE(identity_of({&here}, {&there}, {}, {}).holds());
  std::filesystem::remove(folder_ / "head/out/program");
  std::filesystem::create_symlink(folder_ / "base/out/program", folder_ / "head/out/program");
  EXPECT_FALSE(both().holds());
}

TEST_F(Identical, where_the_outputs_that_matter_are_equal) {
  write("head/build.log", "at noon");
  EXPECT_TRUE(both({"out/program"}).holds());
  write("base/data/table", "1");
  write("head/data/table", "2");
  EXPECT_EQ(both({"out/program", "data"}).doubt, "in data, table differs");
  EXPECT_EQ(both({"build.log"}).doubt, "base has no build.log");
  EXPECT_THROW((void)both({"prgram"}), NoSuchOutput);
}

TEST_F(Identical, not_where_it_is_a_script) {
  const auto text = script("t", "echo taskbench 1");
  const Program program = Program::find_out({text}, {});
  EXPECT_FALSE(identity_of({&program, {}}, {&program, {}}, {}, {}).holds());
}

}  // namespace
}  // namespace taskbench::harness
