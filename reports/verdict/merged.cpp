#include "reports/verdict/merged.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/verdict/machines.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::PairedSetup;
using model::PairedTrial;

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw MergeError(fmt::format(text, std::forward<Args>(args)...));
}

void refuse_other_program(const PartFile& first, const PartFile& other, const char* side,
                          model::PairedProgram PairedSetup::*program) {
  const model::PairedProgram& one = first.trial.setup.*program;
  const model::PairedProgram& two = other.trial.setup.*program;
  if (one.digest == two.digest && one.layouts.size() == two.layouts.size()) return;
  fail(
      "{}: its {} is not that of {}; build both sides once (--build-only both --out DIR), and give "
      "each part the same programs (--programs DIR)",
      other.path, side, first.path);
}

/// Sorts the parts by their numbers, and refuses parts of different trials.
void put_in_order(std::vector<PartFile>& files) {
  for (const PartFile& each : files) {
    if (!each.trial.setup.part) {
      fail("{} is the journal of a whole trial, not of a part (--part)", each.path);
    }
  }
  std::ranges::sort(files, {}, [](const PartFile& each) {
    return std::pair(each.trial.setup.part->number, each.path);
  });
  const PartFile& first = files.front();
  for (std::size_t i = 1; i < files.size(); ++i) {
    const model::TrialPart& one = *first.trial.setup.part;
    const model::TrialPart& other = *files[i].trial.setup.part;
    if (one.plan != other.plan || one.of != other.of) {
      fail(
          "{} and {} are parts of different trials: all parts need the same options, the same "
          "seed, and the same arguments of their programs",
          files[i].path, first.path);
    }
    if (files[i - 1].trial.setup.part->number == other.number) {
      fail("{} and {} are both part {} of {}: their blocks are the same ones; give one of them",
           files[i - 1].path, files[i].path, other.number, other.of);
    }
    refuse_other_program(first, files[i], "base", &PairedSetup::base);
    refuse_other_program(first, files[i], "head", &PairedSetup::head);
    if (first.trial.setup.identical.empty() != files[i].trial.setup.identical.empty()) {
      fail("{} or {} was not measured, as if the programs were identical; measure both again",
           first.path, files[i].path);
    }
  }
}

/// Refuses to judge if parts are missing or incomplete, unless that is permitted.
void refuse_missing(const std::vector<PartFile>& files, const MergeRules& rules) {
  if (rules.may_miss_some) return;
  const int of = files.front().trial.setup.part->of;
  std::vector<int> missing;
  for (int number = 1; number <= of; ++number) {
    const bool is_there = std::ranges::any_of(
        files, [&](const PartFile& each) { return each.trial.setup.part->number == number; });
    if (!is_there) missing.push_back(number);
  }
  if (!missing.empty()) {
    fail("of {} parts {} missing: {}; measure {}, or judge without by --missing ok", of,
         missing.size() == 1 ? "one is" : fmt::format("{} are", missing.size()),
         fmt::join(missing, ", "), missing.size() == 1 ? "it" : "them");
  }
  if (rules.rounds > 1) return;  // a look may come before the end
  for (const PartFile& each : files) {
    if (each.trial.end) continue;
    fail(
        "{}: the part has not ended, after {} blocks; continue it with --resume, or judge what is "
        "there by --missing ok",
        each.path, complete_blocks(each.trial));
  }
}

template <class Items, class Key>
void add_new(const Items& from, Items& into, Key key) {
  for (const auto& item : from) {
    if (!model::contains(into, std::invoke(key, item), key)) into.push_back(item);
  }
}

/// Adds a part's findings about its machine. Of several noise floors the highest is kept.
void add_setup(const PairedSetup& part, PairedSetup& all) {
  all.parts.push_back(*part.part);
  for (const auto names : {&PairedSetup::benchmarks, &PairedSetup::only_base,
                           &PairedSetup::only_head, &PairedSetup::failing_in_base}) {
    add_new(part.*names, all.*names, std::identity());
  }
  add_new(part.left_out, all.left_out, &model::LeftOut::name);
  all.cpu_time_of.insert(part.cpu_time_of.begin(), part.cpu_time_of.end());
  for (std::size_t i = 0; i < all.judged.size(); ++i) {
    all.judged[i].of.insert(part.judged[i].of.begin(), part.judged[i].of.end());
  }
  all.iterations.insert(part.iterations.begin(), part.iterations.end());
  for (const auto& [name, floor] : part.noise_floors) {
    model::NoiseFloor& highest = all.noise_floors.try_emplace(name, floor).first->second;
    if (floor.epsilon > highest.epsilon) highest = floor;
  }
}

void add_rounds(const std::vector<PartFile>& files, PairedTrial& all) {
  int most = 0;
  for (const PartFile& each : files) most = std::max(most, complete_blocks(each.trial));
  for (int round = 0; round < most; ++round) {
    for (const PartFile& each : files) {
      if (round >= complete_blocks(each.trial)) continue;
      const auto from = each.trial.samples.begin() + round * model::kBlockSize;
      for (auto sample = from; sample != from + model::kBlockSize; ++sample) {
        model::ProcessSample& added = all.samples.emplace_back(*sample);
        added.block = static_cast<int>(all.samples.size() - 1) / model::kBlockSize;
        added.part = each.trial.setup.part->number;
      }
    }
  }
}

/// Whether this part has counted what it could: only part 1 does so, before its first block.
bool has_counted(const PartFile& file) {
  const PairedTrial& trial = file.trial;
  return trial.setup.part->number == 1 && (trial.end || !trial.samples.empty());
}

/// The default unit for the verdict: with enough machines, the verdict should also hold for others
/// like them.
model::Unit usual_unit(const PairedTrial& all) {
  const std::size_t machines = machines_with_blocks(machines_of(all));
  const bool are_enough = machines >= kEnoughMachines && stats::least_p(machines) < all.setup.alpha;
  return are_enough ? model::Unit::machine : model::Unit::block;
}

}  // namespace

PairedTrial merge(std::vector<PartFile> files, const MergeRules& rules) {
  if (files.empty()) fail("there is no part to merge");
  put_in_order(files);
  refuse_missing(files, rules);
  PairedTrial all;
  all.setup = files.front().trial.setup;
  all.setup.part.reset();
  all.setup.explored_s = all.setup.process_s = 0;
  all.setup.rounds = rules.rounds;
  bool have_ended = true;
  for (PartFile& each : files) {
    add_setup(each.trial.setup, all.setup);
    have_ended = have_ended && each.trial.end;
    if (all.instructions.empty()) all.instructions = std::move(each.trial.instructions);
    if (all.uncounted.reason.empty()) all.uncounted = each.trial.uncounted;
  }
  if (all.setup.counts_first && !has_counted(files.front()) && all.uncounted.reason.empty()) {
    all.uncounted.reason = "part 1, which counts for all, is missing or was cut short";
  }
  add_rounds(files, all);
  if (have_ended || rules.may_miss_some) all.end = model::TrialEnd::blocks;
  all.setup.unit = rules.unit ? *rules.unit : usual_unit(all);
  return all;
}

}  // namespace taskbench::reports::verdict
