// The journal: what was written is read back, a torn last line is dropped, and anything else is
// refused.
#include "reports/json/paired.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/files/line_file.hpp"
#include "harness/files/stored.hpp"
#include "reports/json/parse.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::harness {
namespace {

using namespace reports;
using reports::contains;
using namespace reports::json;

using model::Side;

model::PairedSetup setup() {
  model::PairedSetup result;
  result.base = {"old/bench --x 'a b'", "00ff"};
  result.head = {"new/bench", "", "origin/main", std::string(40, 'a')};
  result.reproduce = "taskbench ab --base x";
  result.seed = 0xFFFFFFFFFFFFFFFF;
  result.repetitions = 5;
  result.min_time_s = 0.02;
  result.max_blocks = 64;
  result.benchmarks = {"b", "a"};
  result.only_base = {"gone"};
  result.iterations = {{"a", 7}, {"b", 9}};
  result.noise_floors = {{"a", {0.01, "assumed"}}, {"b", {0.02, "calibrated"}}};
  return result;
}

model::ProcessSample sample(int number) {
  model::ProcessSample result;
  result.block = number / 4;
  result.position = number % 4;
  result.side = number % 2 == 0 ? Side::base : Side::head;
  result.took_s = 0.1;
  result.real_ns = {{"a", 0.1 + number}, {"b", 1e9 / 3}};
  result.counters = {{"a", {{"steals", 2.5}}}, {"b", {}}};
  return result;
}

TEST(journal_test, one_without_revisions_and_command_is_read) {
  std::string line = journal_line(setup());
  for (const std::string_view key : {R"(,"revision":"origin/main")", R"(,"reproduce":)"}) {
    ASSERT_TRUE(contains(line, key));
  }
  line.replace(line.find(R"(,"reproduce":)"), std::string::npos, "}\n");
  const std::string revision =
      R"(,"revision":"origin/main","commit":")" + std::string(40, 'a') + '"';
  line.erase(line.find(revision), revision.size());
  const model::PairedTrial trial = parse_journal("j", line);
  EXPECT_EQ(trial.setup.head.command, "new/bench");
  EXPECT_EQ(trial.setup.head.commit, "");
  EXPECT_EQ(trial.setup.reproduce, "");
}

model::PairedSetup counting_setup() {
  model::PairedSetup result = setup();
  result.counts_instructions = true;
  return result;
}

std::string line_of(Side side, const std::string& benchmark, std::vector<double> counts,
                    const std::string& reason = "") {
  return journal_line(model::InstructionSample{side, benchmark, std::move(counts), reason}) + '\n';
}

TEST(journal_test, counts_of_instructions_are_read) {
  const std::string text =
      journal_line(counting_setup()) + '\n' + line_of(Side::base, "b", {1e9 / 3, 2}) +
      line_of(Side::head, "b", {}, "no valgrind") + journal_line(sample(0)) + '\n';
  const model::PairedTrial trial = parse_journal("j", text);
  EXPECT_TRUE(trial.setup.counts_instructions);
  EXPECT_EQ(trial.samples.size(), 1U);
  ASSERT_EQ(trial.instructions.size(), 2U);
  EXPECT_EQ(trial.instructions[0].per_iteration, (std::vector{1e9 / 3, 2.0}));
  EXPECT_EQ(trial.instructions[0].benchmark, "b");
  EXPECT_EQ(trial.instructions[1].side, Side::head);
  EXPECT_EQ(trial.instructions[1].unavailable, "no valgrind");
}

TEST(journal_test, counts_that_fit_a_share_of_the_budget_have_no_order_and_may_be_missing) {
  model::PairedSetup first = setup();
  first.counts_first = true;
  const std::string begin = journal_line(first) + '\n';
  const std::string head = line_of(Side::head, "b", {2});
  const model::PairedTrial trial =
      parse_journal("j", begin + line_of(Side::base, "a", {2}) + head +
                             journal_line(model::Uncounted{"no valgrind", 2}) + '\n' +
                             journal_line(sample(0)) + '\n');
  EXPECT_TRUE(trial.setup.counts_first);
  EXPECT_EQ(trial.instructions.size(), 2U);
  EXPECT_EQ(trial.uncounted.reason, "no valgrind");
  EXPECT_EQ(trial.uncounted.took_s, 2);
  EXPECT_THROW((void)parse_journal("j", begin + head + head), JournalError);
  EXPECT_THROW((void)parse_journal("j", begin + line_of(Side::base, "z", {2})), JournalError);
}

TEST(journal_test, counts_of_a_kind_are_as_many_as_those_of_the_instructions) {
  const auto with = [](std::vector<double> fences) {
    return journal_line(counting_setup()) + '\n' +
           journal_line(model::InstructionSample{
               Side::base, "b", {2, 2}, "", {{"fences", std::move(fences)}}, ""}) +
           '\n';
  };
  EXPECT_EQ(parse_journal("j", with({0, 3})).instructions[0].kinds.at("fences"),
            (std::vector{0.0, 3.0}));
  EXPECT_THROW((void)parse_journal("j", with({0})), JournalError);
  EXPECT_THROW((void)parse_journal("j", with({0, -1})), JournalError);
}

TEST(journal_test, what_explains_a_failure_comes_after_the_end) {
  const std::string text =
      journal_line(setup()) + '\n' + journal_line(model::TrialEnd::budget) + '\n';
  model::Explanation explanation;
  explanation.benchmark = "b";
  explanation.functions = {{"push", "", 0, 1, 2, 0, 0}};
  const model::PairedTrial trial = parse_journal("j", text + journal_line(explanation) + '\n');
  ASSERT_EQ(trial.explanations.size(), 1U);
  EXPECT_EQ(trial.explanations[0].functions[0].function, "push");
}

TEST(journal_test, what_the_machine_did_and_whose_cpu_time_it_is_are_read) {
  model::PairedSetup with_cpu = setup();
  with_cpu.cpu_time_of = {{"a", model::CpuTimeOf::process}, {"b", model::CpuTimeOf::main_thread}};
  model::ProcessSample busy = sample(0);
  busy.machine = {.seconds = 0.5,
                  .cpu = model::Fact<model::CpuUse>::known({0, 1, -0.01, 0.01}),
                  .thermal_throttles = {},
                  .quota_throttles = 3,
                  .swapped_pages = {}};
  const std::string text = journal_line(with_cpu) + '\n' + journal_line(busy) + '\n';
  const model::PairedTrial trial = parse_journal("j", text);
  EXPECT_EQ(trial.setup.cpu_time_of, with_cpu.cpu_time_of);
  ASSERT_TRUE(trial.samples[0].machine);
  EXPECT_EQ(trial.samples[0].machine->cpu->others_s, -0.01);
  EXPECT_EQ(trial.samples[0].machine->quota_throttles, 3);
  EXPECT_FALSE(trial.samples[0].machine->swapped_pages);
  EXPECT_EQ(journal_line(trial.samples[0]), journal_line(busy));
}

TEST(journal_test, one_of_version_1_is_read_and_judges_no_cpu_time) {
  std::string text = journal_line(setup()) + '\n' + journal_line(sample(0)) + '\n';
  const auto change = [&](const std::string& from, const std::string& to) {
    ASSERT_TRUE(contains(text, from)) << from;
    text.replace(text.find(from), from.size(), to);
  };
  change(R"("taskbench_journal":4)", R"("taskbench_journal":1)");
  change(R"("cpu_time_of":{},)", "");
  change(R"(,"machine":null)", "");
  const model::PairedTrial trial = parse_journal("j", text);
  EXPECT_TRUE(trial.setup.cpu_time_of.empty());
  EXPECT_FALSE(trial.samples[0].machine);
  change(R"("taskbench_journal":1)", R"("taskbench_journal":5)");
  EXPECT_THROW((void)parse_journal("j", text), JournalError);
}

TEST(journal_test, one_whose_errors_are_no_probabilities_is_refused) {
  model::PairedSetup none = setup();
  none.pass_error = 0.5;
  EXPECT_THROW((void)parse_journal("j", journal_line(none) + '\n'), JournalError);
  none = setup();
  none.alpha = 0;
  EXPECT_THROW((void)parse_journal("j", journal_line(none) + '\n'), JournalError);
}

TEST(journal_test, counts_that_cannot_have_been_written_are_refused) {
  const std::string first = journal_line(counting_setup()) + '\n';
  const std::string fine = line_of(Side::base, "b", {1});
  for (const std::string& bad :
       {first + line_of(Side::head, "b", {1}), first + line_of(Side::base, "a", {1}), fine + fine,
        first + fine + line_of(Side::head, "a", {1}), first + line_of(Side::base, "b", {}),
        first + line_of(Side::base, "b", {1}, "why"), first + line_of(Side::base, "b", {0}),
        journal_line(setup()) + '\n' + fine}) {
    EXPECT_THROW((void)parse_journal("j", bad), JournalError) << bad;
  }
}

TEST(journal_test, an_older_one_counts_no_instructions) {
  std::string line = journal_line(setup()) + '\n';
  const std::string key = R"("counts_instructions":false,)";
  ASSERT_TRUE(contains(line, key));
  line.erase(line.find(key), key.size());
  EXPECT_FALSE(parse_journal("j", line).setup.counts_instructions);
}

TEST(journal_test, one_of_no_blocks_is_refused) {
  model::PairedSetup none = setup();
  none.max_blocks = 0;
  EXPECT_THROW((void)parse_journal("j", journal_line(none) + '\n'), JournalError);
}

class Journal : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "journal-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "j";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(int samples, bool ended) const {
    auto writer = LineFile::create(path_, journal_line(setup()));
    for (int i = 0; i < samples; ++i) writer.append(journal_line(sample(i)));
    if (ended) writer.append(journal_line(model::TrialEnd::budget));
  }

  [[nodiscard]] std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string failure(const auto& call) { return what_of<JournalError>(call); }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(Journal, gives_back_bit_for_bit_what_was_written) {
  write(6, true);
  const model::PairedTrial trial = read_journal(path_);
  EXPECT_EQ(journal_line(trial.setup), journal_line(setup()));
  EXPECT_EQ(trial.setup.seed, setup().seed);
  ASSERT_EQ(trial.samples.size(), 6U);
  for (int i = 0; i < 6; ++i) {
    const auto& read = trial.samples[static_cast<std::size_t>(i)];
    EXPECT_EQ(read.real_ns, sample(i).real_ns);
    EXPECT_EQ(read.counters, sample(i).counters);
    EXPECT_EQ(read.side, sample(i).side);
  }
  EXPECT_EQ(trial.end, model::TrialEnd::budget);
}

TEST_F(Journal, cut_at_any_byte_loses_at_most_the_line_that_was_cut) {
  write(5, true);
  const std::string whole = content();
  const std::size_t first = whole.find('\n') + 1;
  for (std::size_t length = first; length < whole.size(); ++length) {
    const std::string_view part = std::string_view(whole).substr(0, length);
    const auto lines = static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    const model::PairedTrial trial = parse_journal("j", part);
    ASSERT_EQ(trial.samples.size(), std::min<std::size_t>(lines - 1, 5)) << length;
    ASSERT_FALSE(trial.end.has_value());
  }
  for (std::size_t length = 0; length < first; ++length) {
    ASSERT_TRUE(contains(failure([&] { (void)parse_journal("j", whole.substr(0, length)); }),
                         "not even its first line is complete"));
  }
  EXPECT_THROW((void)parse_journal("j", ""), reports::json::JournalNotBegun);
  EXPECT_THROW((void)parse_journal("j", whole.substr(0, first - 1)),
               reports::json::JournalNotBegun);
}

TEST_F(Journal, is_gone_on_with_after_a_torn_line) {
  write(3, false);
  std::ofstream(path_, std::ios::app) << R"({"block":0,"posi)";
  {
    auto writer = LineFile::resume(path_);
    writer.append(journal_line(sample(3)));
  }
  EXPECT_EQ(read_journal(path_).samples.size(), 4U);
}

TEST_F(Journal, is_not_overwritten) {
  write(1, false);
  EXPECT_TRUE(
      contains(failure([&] { (void)LineFile::create(path_, journal_line(setup())); }), "exists"));
  EXPECT_EQ(read_journal(path_).samples.size(), 1U);
}

TEST_F(Journal, has_one_writer_at_a_time) {
  const auto writer = LineFile::create(path_, journal_line(setup()));
  EXPECT_TRUE(contains(failure([&] { (void)LineFile::resume(path_); }), "another taskbench"));
  EXPECT_TRUE(contains(failure([&] { LineFile::refuse_in_use(path_); }), "another taskbench"));
}

TEST_F(Journal, that_cannot_be_written_says_why) {
  EXPECT_TRUE(contains(
      failure([&] { (void)LineFile::create(folder_ / "no" / "j", journal_line(setup())); }),
      "cannot be created: No such file or directory"));
  EXPECT_TRUE(contains(failure([] { (void)LineFile::resume("/dev/full"); }), "not a regular file"));
  // As close to a full disk as a test gets.
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string said = failure([&] { (void)LineFile::create(path_, journal_line(setup())); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(contains(said, "cannot be written: File too large"));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "half a first line was left behind";
}

TEST_F(Journal, with_a_line_that_does_not_belong_is_refused_by_its_number) {
  write(3, false);
  const std::string sound = content();
  const auto with = [&](const std::string& line) {
    return failure([&] { (void)parse_journal("j", sound + line + "\n"); });
  };
  const auto says = [&](const std::string& line, const char* part) {
    EXPECT_TRUE(contains(with(line), part));
  };
  says("garbage",
       "j: line 5 does not belong in a taskbench journal: it is not valid JSON, at line 1, ");
  says("{\"end\": \"\xff\"}", "it is not UTF-8, at line 1, column 10 (byte 9)");
  says(R"({"took_s": 1e999})", "holds a number that is too large, 1e999");
  says(journal_line(sample(2)), "not the process that follows");
  says(journal_line(sample(5)), "not the process that follows");
  auto wrong = sample(3);
  wrong.real_ns.erase("a");
  says(journal_line(wrong), "field 'real_ns' has no time of 'a'");
  wrong.real_ns["a"] = -1;
  says(journal_line(wrong), "field 'real_ns' has no time of 'a'");
  says(R"({"end":"tired"})", "field 'end' is 'tired', and can only be decided, budget, blocks");
  EXPECT_TRUE(contains(failure([&] {
                         (void)parse_journal("j", sound + journal_line(model::TrialEnd::decided) +
                                                      "\n" + journal_line(sample(3)) + "\n");
                       }),
                       "after the end"));
  // true is not 1, and a number that is too large is not truncated.
  const std::string blocks = "\"max_blocks\":";
  const std::string first = sound.substr(0, sound.find('\n') + 1);
  const auto at = first.find(blocks);
  ASSERT_NE(at, std::string::npos);
  const std::string rest = first.substr(first.find(',', at));
  for (const char* wrong_blocks : {"true", "0", "4294967297", "1e300", "-1", "\"8\""}) {
    const std::string changed = first.substr(0, at) + blocks + wrong_blocks + rest;
    EXPECT_TRUE(contains(failure([&] { (void)parse_journal("j", changed); }),
                         "field 'max_blocks' is not a whole number from 1 to "))
        << wrong_blocks;
  }
  EXPECT_TRUE(contains(failure([] { (void)parse_journal("j", "{\"taskbench_journal\":99}\n"); }),
                       "is 99; this taskbench reads versions up to 4: use a later taskbench"));
}

}  // namespace
}  // namespace taskbench::harness
