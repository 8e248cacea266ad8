#include "harness/trials/attendance.hpp"

#include <fnmatch.h>

#include <cctype>
#include <map>
#include <numeric>
#include <tuple>

#include "reports/stats/sequential.hpp"
#include "reports/verdict/counted.hpp"

namespace taskbench::harness {
namespace {

using verdict::BenchmarkVerdict;

/// The p value assumed for a benchmark that was never measured: only benchmarks that seem far
/// slower come before the rest of the screen.
constexpr double kUnknown = 0.02;

/// A lower bound on the duration of the first block, as a share of the estimate from the first
/// runs: these may have met a cold cache, or a busy machine.
constexpr double kAtLeastAsExpected = 0.25;

/// A change of more files than this is taken to affect everything.
constexpr std::size_t kMostChangedFiles = 100;
/// Shorter names, in letters, occur in too many others.
constexpr std::size_t kShortestName = 4;

/// The letters and digits of a name, in lower case: the same for HashMap and hash_map, and part of
/// those of BM_hash-map.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char each : name) {
    const auto letter = static_cast<unsigned char>(each);
    if (std::isalnum(letter) != 0) letters += static_cast<char>(std::tolower(letter));
  }
  return letters;
}

/// The time of each benchmark in the last complete block.
const std::map<std::string, double>& last_measured(const model::PairedTrial& trial) {
  const auto last = static_cast<std::size_t>(verdict::complete_blocks(trial)) - 1;
  return trial.samples[last * model::kBlockSize].real_ns;
}

/// All judged metrics of a benchmark.
std::vector<const verdict::MetricVerdict*> metrics_of(const BenchmarkVerdict& row) {
  std::vector<const verdict::MetricVerdict*> metrics{&row};
  if (row.cpu) metrics.push_back(&*row.cpu);
  for (const verdict::JudgedVerdict& each : row.judged) {
    if (each.reason.empty()) metrics.push_back(&each);
  }
  return metrics;
}

int first_look(const model::PairedSetup& setup) {
  const auto most = static_cast<std::size_t>(setup.max_blocks);
  return static_cast<int>(stats::looks({setup.alpha, setup.pass_error, most}).front().blocks);
}

/// How soon a benchmark comes; lower is sooner: the user named it, or the instructions it executes
/// have changed; it is named like a file that differs; all others.
int turn_of(const model::PairedTrial& trial, const std::string& name) {
  const int wanted = wanted_turn(trial.setup, name);
  return wanted == 0 || verdict::judge_counted(trial, name).has_moved() ? 0 : wanted;
}

/// A benchmark that may be measured further.
struct Candidate {
  std::size_t place = 0;  ///< index in the setup
  int blocks = 0;
  bool goes_on = false;       ///< it was in the last block, beyond the screen
  int turn = 0;               ///< turn_of() it
  double p = kUnknown;        ///< p value of its slowdown
  double prominence = 0;      ///< its change relative to the smallest detectable one
  double missing_blocks = 0;  ///< until its next stage

  /// Sort key of candidates: lower ranks are taken first.
  [[nodiscard]] auto rank() const { return std::tuple(!goes_on, turn, p, -prominence, place); }
};

using Candidates = std::vector<Candidate>;

double prominence_of(const verdict::MetricVerdict& row) {
  return row.detectable ? row.change / *row.detectable : 0;
}

/// The number of complete blocks of each benchmark; benchmarks that were never measured are
/// missing.
std::map<std::string, int> blocks_of_each(const model::PairedTrial& trial) {
  std::map<std::string, int> blocks;
  for (int block = 0; block < verdict::complete_blocks(trial); ++block) {
    const auto first = static_cast<std::size_t>(block * model::kBlockSize);
    for (const auto& [name, time] : trial.samples[first].real_ns) ++blocks[name];
  }
  return blocks;
}

/// The benchmarks that need further blocks and may have them. Empty if all that is left is to
/// confirm decisions, which does not prolong a trial.
Candidates open_ones(const model::PairedTrial& trial, const verdict::PairedReport& report) {
  std::map<std::string, const BenchmarkVerdict*> rows;
  for (const BenchmarkVerdict& row : report.benchmarks) rows[row.name] = &row;
  const model::PairedSetup& setup = trial.setup;
  const auto& measured = last_measured(trial);
  std::map<std::string, int> blocks = blocks_of_each(trial);
  Candidates open;
  bool is_any_undecided = false;
  for (std::size_t place = 0; place < setup.benchmarks.size(); ++place) {
    const std::string& name = setup.benchmarks[place];
    const auto found = rows.find(name);
    Candidate each{.place = place,
                   .blocks = blocks[name],
                   .goes_on = measured.contains(name) && blocks[name] != first_look(setup),
                   .turn = turn_of(trial, name)};
    if (each.blocks >= setup.max_blocks) continue;
    if (found != rows.end()) {
      const BenchmarkVerdict& row = *found->second;
      if (has_settled(row)) continue;
      is_any_undecided = is_any_undecided || is_undecided(row);
      each.p = 1;
      each.prominence = prominence_of(row);
      for (const verdict::MetricVerdict* const metric : metrics_of(row)) {
        each.p = std::min(each.p, metric->p);
        each.prominence = std::max(each.prominence, prominence_of(*metric));
      }
    } else {
      is_any_undecided = true;
    }
    open.push_back(each);
  }
  return is_any_undecided ? open : Candidates();
}

double missing_blocks(const Candidates& of) {
  return std::accumulate(of.begin(), of.end(), 0.0, [](double sum, const Candidate& each) {
    return sum + each.missing_blocks;
  });
}

/// How many blocks of one benchmark fit into the remaining budget.
double affordable(const model::PairedTrial& trial, double budget_s) {
  const double of_each_s =
      verdict::seconds_of_a_block(trial) / static_cast<double>(last_measured(trial).size());
  return (budget_s - verdict::spent_s(trial)) / of_each_s;
}

/// Whether the budget is too small for enough blocks of all benchmarks. Decided at the screen, and
/// final.
bool is_scarce(const model::PairedTrial& trial, const Candidates& open, double room) {
  const auto& measured = last_measured(trial);
  const auto rests = [&](const Candidate& each) {
    return !measured.contains(trial.setup.benchmarks[each.place]);
  };
  if (std::ranges::any_of(open, rests)) return true;
  const int screen = first_look(trial.setup);
  const int enough = std::min(kEnoughBlocks, trial.setup.max_blocks);
  return open.size() > kFewest && open.front().blocks == screen &&
         room < static_cast<double>(open.size()) * (enough - screen);
}

/// The benchmarks of the next block: those in progress and, if they are few, the next in rank, as
/// many as half of the time brings to their next stage. The other half is for benchmarks whose turn
/// comes then.
Candidates chosen(Candidates open, double room) {
  std::ranges::sort(open, {}, &Candidate::rank);
  const auto going = std::ranges::find(open, false, &Candidate::goes_on);
  Candidates next(open.begin(), going);
  if (next.size() >= kFewest && missing_blocks(next) >= room / 8) return next;
  if (missing_blocks(open) <= room) return open;
  for (auto each = going; each != open.end(); ++each) {
    if (next.size() >= kFewest && missing_blocks(next) > room / 2) break;
    next.push_back(*each);
  }
  return next;
}

Strings names_of(const model::PairedSetup& setup, Candidates of) {
  std::ranges::sort(of, {}, &Candidate::place);
  return each_of(of, [&](const Candidate& each) { return setup.benchmarks[each.place]; });
}

Strings after_look(const model::PairedTrial& trial, const verdict::PairedReport& report,
                   double budget_s) {
  Candidates open = open_ones(trial, report);
  if (open.empty()) return {};
  const double room = affordable(trial, budget_s);
  if (!is_scarce(trial, open, room)) return names_of(trial.setup, open);
  const int screen = first_look(trial.setup);
  const int deep = std::min(kDeepBlocks, trial.setup.max_blocks);
  for (Candidate& each : open) {
    each.missing_blocks = std::max(0, (each.blocks < screen ? screen : deep) - each.blocks);
  }
  Candidates fresh = open;
  std::erase_if(fresh, [](const Candidate& each) { return each.missing_blocks <= 0; });
  return names_of(trial.setup, fresh.empty() ? open : chosen(std::move(fresh), room));
}

/// All benchmarks if half of the budget suffices for their screen; otherwise as many as fit in it.
Strings at_first(const model::PairedTrial& trial, double budget_s) {
  const model::PairedSetup& setup = trial.setup;
  const std::size_t all = setup.benchmarks.size();
  const double screen_s = setup.process_s * model::kBlockSize * first_look(setup);
  const double half_s = (budget_s - verdict::spent_s(trial)) / 2;
  if (all <= kFewest || screen_s <= half_s) return setup.benchmarks;
  Candidates order;
  for (std::size_t place = 0; place < all; ++place) {
    order.push_back({.place = place, .turn = turn_of(trial, setup.benchmarks[place])});
  }
  std::ranges::sort(order, {}, &Candidate::rank);
  const auto fit = static_cast<std::size_t>(std::max(0.0, half_s / screen_s) * double(all));
  order.resize(std::max(fit, kFewest));
  return names_of(setup, std::move(order));
}

}  // namespace

Strings names_to_look_for(const Strings& files) {
  Strings names;
  if (files.size() > kMostChangedFiles) return names;
  for (const std::string& file : files) {
    std::string name = fs::path(file).stem().string();
    if (letters_of(name).size() < kShortestName || contains(names, name)) continue;
    names.push_back(std::move(name));
  }
  return names;
}

int wanted_turn(const model::PairedSetup& setup, const std::string& name) {
  const auto is_like_it = [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  const auto has_it = [letters = letters_of(name)](const std::string& file) {
    return letters.find(letters_of(file)) != std::string::npos;
  };
  if (std::ranges::any_of(setup.changed_first, is_like_it)) return 0;
  return std::ranges::any_of(setup.changed_files, has_it) ? 1 : 2;
}

bool has_settled(const BenchmarkVerdict& row) {
  const auto is_new = [](const verdict::MetricVerdict* metric) {
    return metric->decided && metric->decided->blocks == metric->blocks;
  };
  return !is_undecided(row) && std::ranges::none_of(metrics_of(row), is_new);
}

NextBlock next_block(const model::PairedTrial& trial, double budget_s) {
  if (verdict::complete_blocks(trial) == 0) {
    NextBlock first{.benchmarks = at_first(trial, budget_s)};
    const model::PairedSetup& setup = trial.setup;
    first.seconds = kAtLeastAsExpected * model::kBlockSize * setup.process_s *
                    static_cast<double>(first.benchmarks.size()) /
                    static_cast<double>(setup.benchmarks.size());
    return first;
  }
  NextBlock next;
  const auto& measured = last_measured(trial);
  if (verdict::is_at_look(trial)) {
    const verdict::PairedReport report = verdict::judge(trial);
    next.all_are_decided = report.decided;
    if (!report.decided) next.benchmarks = after_look(trial, report, budget_s);
  } else {
    std::ranges::copy_if(trial.setup.benchmarks, std::back_inserter(next.benchmarks),
                         [&](const std::string& name) { return measured.contains(name); });
  }
  next.seconds = verdict::seconds_of_a_block(trial) * static_cast<double>(next.benchmarks.size()) /
                 static_cast<double>(measured.size());
  return next;
}

}  // namespace taskbench::harness
