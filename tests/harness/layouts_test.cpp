#include "harness/programs/layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "harness/bench/order.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {
namespace {

// The format of GNU ld 2.40: discarded sections first, long names on a line of their own.
constexpr std::string_view kMap = R"(
Discarded input sections

 .text._Z4gonev 0x0000000000000000       0x10 b.o

Linker script and memory map

LOAD /usr/lib/crt1.o
.text           0x0000000000001040      0x101
 *(.text.unlikely .text.*_unlikely .text.unlikely.*)
 .text.startup.main
                0x0000000000001040       0x20 main.o
 *(.text .stub .text.*)
 .text          0x0000000000001060       0x22 /usr/lib/crt1.o
                0x0000000000001060                _start
 .text          0x0000000000001082        0x0 main.o
 .text          0x0000000000001090       0x30 my objects/plain.o
 .text._Z3foov  0x00000000000010c0       0x10 main.o
 .text._Z22a_name_that_is_longerv
                0x00000000000010d0       0x12 libx.a(y.o)
 *fill*         0x00000000000010e2        0xe
 .text          0x00000000000010f0        0x8 libx.a(y.o)
 .text          0x0000000000001100        0x8 /tmp/ccAbCd.ltrans0.ltrans.o

.rodata         0x0000000000002000       0x20
 .rodata        0x0000000000002000       0x10 main.o
 .rodata.str1.1
                0x0000000000002010       0x10 main.o

.data.rel.ro    0x0000000000003000       0x10
 .data.rel.ro._ZTV1A
                0x0000000000003000       0x10 main.o

.data           0x0000000000004000        0x4
 .data.counter  0x0000000000004000        0x4 main.o
)";

constexpr std::string_view kScript = R"(SECTIONS
{
  .text           :
  {
    *(.text.unlikely .text.*_unlikely .text.unlikely.*)
    *(.text .stub .text.* .gnu.linkonce.t.*)
  }
  .rodata         : { *(.rodata .rodata.* .gnu.linkonce.r.*) }
  .data           :
  {
    *(.data .data.* .gnu.linkonce.d.*)
  }
}
)";

TEST(layouts, of_a_map_the_pieces_that_can_change_places_are_taken) {
  const auto pieces = pieces_of_map(kMap);
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[0].output, ".text");
  EXPECT_EQ(pieces[0].lines, (Strings{R"("*.ltrans0.ltrans.o"(.text))", R"("libx.a:y.o"(.text))",
                                      R"("my objects/plain.o"(.text))",
                                      "*(.text._Z22a_name_that_is_longerv)", "*(.text._Z3foov)"}));
  EXPECT_EQ(pieces[1].lines, (Strings{R"("main.o"(.rodata))", "*(.rodata.str1.1)"}));
  EXPECT_EQ(pieces[2].lines, (Strings{"*(.data.counter)"}));
  EXPECT_TRUE(pieces[3].lines.empty());
}

TEST(layouts, a_script_lists_every_piece_once_before_what_is_left) {
  const auto pieces = pieces_of_map(kMap);
  std::set<std::string> orders;
  for (int seed = 1; seed <= 20; ++seed) {
    const std::string script = script_with(kScript, pieces, seed);
    std::vector<std::size_t> places;
    for (const std::string& line : pieces[0].lines) {
      const auto place = script.find("\n    " + line + '\n');
      EXPECT_LT(place, script.find("*(.text .stub")) << line;
      EXPECT_EQ(script.find(line, place + 5 + line.size()), std::string::npos) << line;
      places.push_back(place);
    }
    EXPECT_LT(script.find("*(.rodata.str1.1)"), script.find("*(.rodata .rodata.*"));
    EXPECT_EQ(script, script_with(kScript, pieces, seed));
    orders.insert(script);
  }
  EXPECT_GE(orders.size(), 18U);
}

TEST(layouts, pieces_that_two_programs_share_have_one_order_in_both) {
  std::vector<LinkedPieces> base{{".text", {}}};
  for (int i = 0; i < 100; ++i) base[0].lines.push_back(fmt::format("*(.text.f{})", i));
  auto head = base;
  head[0].lines.insert(head[0].lines.begin() + 50, "*(.text.added)");
  std::string with_it = script_with(kScript, head, 7);
  const std::string line = "*(.text.added)\n    ";
  with_it.erase(with_it.find(line), line.size());
  EXPECT_EQ(with_it, script_with(kScript, base, 7));
}

TEST(layouts, each_comes_once_before_any_comes_again) {
  std::set<std::vector<std::size_t>> orders;
  for (int cycle = 0; cycle < 10; ++cycle) {
    std::vector<std::size_t> turns;
    for (int i = 0; i < 8; ++i) turns.push_back(layout_of_block(5, 8 * cycle + i, 8));
    orders.insert(turns);
    std::ranges::sort(turns);
    EXPECT_EQ(turns, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
  EXPECT_GE(orders.size(), 9U);
}

/// How many trials have this verdict if head is slower by `change`, each of `links` links of a side
/// differs by 1.5 %, and each process by `noise`, at the default noise floor.
int count_of(verdict::Verdict wanted, std::uint64_t trials, int blocks, double change, double noise,
             std::size_t links) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    model::PairedTrial trial;
    trial.setup.seed = seed;
    trial.setup.max_blocks = blocks;
    trial.setup.benchmarks = {"sort"};
    trial.setup.noise_floors["sort"] = {0.01, "assumed"};
    std::map<model::Side, std::vector<double>> levels;
    for (std::size_t i = 0; i < links; ++i) {
      levels[model::Side::base].push_back(0.015 * normal(random));
      levels[model::Side::head].push_back(std::log1p(change) + 0.015 * normal(random));
    }
    for (int at = 0; at < blocks * model::kBlockSize; ++at) {
      model::ProcessSample sample;
      sample.block = at / model::kBlockSize;
      sample.position = at % model::kBlockSize;
      sample.side = block_plan(seed, sample.block).sides[static_cast<std::size_t>(sample.position)];
      const std::size_t layout = layout_of_block(seed, sample.block, links);
      sample.layout = static_cast<int>(layout);
      const double level = levels[sample.side][layout];
      sample.real_ns["sort"] = 1000 * std::exp(level + noise * normal(random));
      trial.samples.push_back(std::move(sample));
    }
    trial.end = model::TrialEnd::blocks;
    found += verdict::judge(trial).overall == wanted ? 1 : 0;
  }
  return found;
}

// In 200 trials, none failed for an unchanged program, 83 % for a change of 4 %, and 98 % for 5 %.
// With one layout a side, 7 % failed for an unchanged program.
TEST(layouts, eight_that_take_turns_find_what_matters_and_seldom_see_what_is_not_there) {
  const auto failures = [](double change) {
    return count_of(verdict::Verdict::fail, 60, 32, change, 0.02, 8);
  };
  EXPECT_LE(failures(0), 2);
  EXPECT_GE(failures(0.04), 40);
}

// What the mean of eight layouts is off by, no number of blocks shows. If blocks were taken for all
// that there is, a third of the trials would pass a change that matters.
TEST(layouts, a_change_that_matters_passes_as_seldom_as_is_promised) {
  EXPECT_LE(count_of(verdict::Verdict::pass, 100, 64, 0.03, 0.005, 8), 9);  // 5 are promised
  EXPECT_GE(count_of(verdict::Verdict::pass, 50, 64, 0, 0.005, 8), 40);
}

}  // namespace
}  // namespace taskbench::harness
