#include "reports/render/verdict_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::Verdict;
using Benchmark = VerdictText::Benchmark;

/// The wording for a metric that has grown.
struct Words {
  std::string_view one;      ///< "sort {} slower"
  std::string_view several;  ///< "3 of 40 benchmarks {}"
  std::string_view each;     ///< "1 {}"
  std::string_view of;       ///< "sort{} by 12.3 %"
};
constexpr std::array<Words, kMetrics> kWords{{
    {"is {} slower", "are slower", "is slower", ""},
    {"is {} slower than the anchor", "are slower than the anchor", "is slower than the anchor",
     ", since the anchor,"},
    {"takes {} more CPU time", "take more CPU time", "takes more CPU time", "'s CPU time"},
    {"executes {} more instructions", "execute more instructions", "executes more instructions",
     "'s instructions"},
    {"has more {}", "have higher counts", "has higher counts", ""},
    {"has {}", "are worse by other metrics", "is worse by another metric", ""},
}};

const Words& words_of(Metric metric) { return kWords[static_cast<std::size_t>(metric)]; }

std::size_t how_many_of(const Benchmarks& benchmarks, Metric metric) {
  return static_cast<std::size_t>(std::ranges::count(benchmarks, metric, &Benchmark::metric));
}

/// The size of the change, without its sign; for instructions with two decimals, since counts are
/// exact.
std::string amount(const Benchmark& of) {
  if (of.metric == Metric::counts) return of.counts.front();
  std::string text = fmt::format("{:.{}f} %", 100 * std::abs(of.change),
                                 of.metric == Metric::instructions ? 2 : 1);
  if (of.metric == Metric::asked_for) {
    text += fmt::format(" {} {}", of.change < 0 ? "less" : "more", of.metric_name);
  }
  return text;
}

std::string in_heading(const Benchmark& of) {
  constexpr std::size_t kMostColumns = 60;
  return shortened(of.name, kMostColumns);
}

/// " (90 % interval +11.0 % … +13.5 %)"; empty if there is none.
std::string in_brackets(const Benchmark& of, std::string_view title) {
  if (!of.low || !of.high) return {};
  return fmt::format(" ({}{}{})", title, title.empty() ? "" : " ", interval_text(of.low, of.high));
}

std::string clause(const Benchmark& of, double interval_level) {
  return fmt::format(fmt::runtime(words_of(of.metric).one), amount(of)) +
         in_brackets(of, interval_title(interval_level));
}

/// "3 of 40 benchmarks are slower, 1 takes more CPU time"
std::string kinds_text(const Benchmarks& failed, std::size_t all) {
  std::string text;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    const std::size_t count = how_many_of(failed, static_cast<Metric>(i));
    if (count == 0) continue;
    const std::string_view verb = count == 1 ? kWords[i].each : kWords[i].several;
    text += text.empty() ? fmt::format("{} of {} {}", count, counted(all, "benchmark"), verb)
                         : fmt::format(", {} {}", count, verb);
  }
  return text;
}

/// ": sort by 12.3 % (90 % interval +11.0 % … +13.5 %), hash by 8.0 % (+7.1 % … +8.9 %)"
std::string worst_text(const Benchmarks& failed, double interval_level) {
  constexpr std::size_t kMostNamed = 2;
  std::string text = failed.size() > kMostNamed ? "; the greatest changes: " : ": ";
  std::string separator;
  std::string title = interval_title(interval_level);
  for (const Benchmark* each : worst_and_others(failed, kMostNamed).first) {
    text += fmt::format("{}{}{} by {}{}{}", separator, in_heading(*each), words_of(each->metric).of,
                        each->metric == Metric::counts ? "its " : "", amount(*each),
                        in_brackets(*each, title));
    separator = ", ";
    title.clear();
  }
  return text;
}

bool is_by_count(const Benchmark* each) {
  return each->metric == Metric::instructions || each->metric == Metric::counts;
}

std::string false_alarm_text(const Benchmarks& timed, const Certainty& certainty) {
  // Each metric is judged separately, each with its own chance of a false alarm.
  std::set<std::pair<bool, std::string_view>> families;
  for (const Benchmark* each : timed) {
    families.emplace(each->metric == Metric::cpu_time, each->metric_name);
  }
  return fmt::format("; the chance {} is at most {:g} %{}",
                     timed.size() == 1 ? "of a false alarm" : "that any of them is a false alarm",
                     std::round(1e4 * certainty.alpha * static_cast<double>(families.size())) / 100,
                     certainty.layout_aside ? ", code layout aside" : "");
}

/// Failures by time, or failures by counts: "sort is 12.3 % slower (…), 1 of 6 benchmarks".
std::string failed_text(const Benchmarks& failed, std::size_t all, double interval_level) {
  if (failed.empty()) return {};
  if (failed.size() > 1) return kinds_text(failed, all) + worst_text(failed, interval_level);
  const std::string what =
      in_heading(*failed.front()) + ' ' + clause(*failed.front(), interval_level);
  return all > 1 ? fmt::format("{}, 1 of {} benchmarks", what, all) : what;
}

/// Exact counts that have grown, including those where something is slower, too.
std::string counted_text(const Benchmarks& failed, std::size_t all, double interval_level) {
  std::vector<Benchmark> counted;
  for (const Benchmark* each : failed) {
    if (!is_by_count(each) && each->counts.empty()) continue;
    Benchmark& copy = counted.emplace_back(*each);
    if (!is_by_count(each)) copy.fail_by(Metric::counts, each->counts_change, {});
  }
  return failed_text(pointers_to(counted), all, interval_level);
}

std::string fail_sentence(const VerdictText& text, const Certainty& certainty) {
  const Benchmarks failed = those_with(text, Verdict::fail);
  const std::size_t all = text.benchmarks.size();
  Benchmarks timed = failed;
  std::erase_if(timed, is_by_count);
  const std::string counted = counted_text(failed, all, text.interval_level);
  if (failed.empty()) return {};
  if (timed.empty()) {
    const bool is_of_all = how_many_of(failed, Metric::instructions) == failed.size();
    return counted + (is_of_all ? "; instructions are counted, not timed"
                                : "; what is counted is exact, not timed");
  }
  std::string what =
      failed_text(timed, all, text.interval_level) + false_alarm_text(timed, certainty);
  if (!counted.empty()) what += "; by exact count, " + counted;
  return what;
}

/// ", and may be slower by up to 14.0 %"; empty unless known for all.
std::string at_most_text(const Benchmarks& of) {
  double most = 0;
  for (const Benchmark* each : of) {
    if (!each->high) return {};
    most = std::max(most, *each->high);
  }
  return most > 0 ? fmt::format(", and may be slower by up to {}", percent(most)) : std::string();
}

/// The relative worsening: how much more it needs, or how much less it yields.
double worse_by(const Benchmark& of) { return of.more_is_better ? -of.change : of.change; }

/// "; sort seems 129.0 % slower, which may be chance", for the greatest relevant change; empty if
/// there is none.
std::string seeming_text(const Benchmarks& open, std::size_t all) {
  const Benchmark* most = nullptr;
  for (const Benchmark* each : open) {
    if (each->metric == Metric::instructions || worse_by(*each) < each->threshold) continue;
    if (most == nullptr || worse_by(*each) > worse_by(*most)) most = each;
  }
  if (most == nullptr) return {};
  const std::string_view unit = most->metric == Metric::cpu_time    ? "to take {} more CPU time"
                                : most->metric == Metric::asked_for ? "to have {}"
                                                                    : "{} slower";
  return fmt::format("; {} seems {}, which may be chance", all == 1 ? "it" : in_heading(*most),
                     fmt::format(fmt::runtime(unit), amount(*most)));
}

std::string inconclusive_sentence(const VerdictText& text) {
  const Benchmarks open = those_with(text, Verdict::inconclusive);
  if (open.empty()) return "there was not enough time to measure anything";
  const std::size_t of_cpu = how_many_of(open, Metric::cpu_time);
  const std::size_t uncounted = how_many_of(open, Metric::instructions);
  Benchmarks asked_for = open;
  std::erase_if(asked_for, [](const Benchmark* each) { return each->metric != Metric::asked_for; });
  const std::size_t of_times = open.size() - of_cpu - uncounted - asked_for.size();
  const std::string of_all = counted(text.benchmarks.size(), "benchmark");
  std::vector<std::string> parts;
  if (of_times > 0 && text.benchmarks.size() == 1) {
    parts.push_back(in_heading(*open.front()) + " is undecided" + at_most_text(open));
  } else if (of_times > 0) {
    Benchmarks times = open;
    std::erase_if(times, [](const Benchmark* each) {
      return each->metric != Metric::time && each->metric != Metric::time_since_anchor;
    });
    add(parts, "{} of {} {} undecided{}", of_times, of_all, of_times == 1 ? "is" : "are",
        at_most_text(times));
  }
  const auto of = [&](std::size_t count) {
    return parts.empty() ? fmt::format("{} of {}", count, of_all) : std::to_string(count);
  };
  if (of_cpu > 0) parts.push_back(fmt::format("the CPU time of {} is undecided", of(of_cpu)));
  if (!asked_for.empty()) {
    const bool is_one = std::ranges::all_of(asked_for, [&](const Benchmark* each) {
      return each->metric_name == asked_for.front()->metric_name;
    });
    add(parts, "{} {} undecided by {}", of(asked_for.size()), asked_for.size() == 1 ? "is" : "are",
        is_one ? asked_for.front()->metric_name : "other metrics");
  }
  if (uncounted > 0) {
    parts.push_back(fmt::format("the instructions of {} are not known", of(uncounted)));
  }
  const std::string how =
      text.too_few.empty()
          ? "no slowdown is proven, but"
          : fmt::format("{} cannot prove any slowdown, however large it is, so that", text.too_few);
  return fmt::format("{} {}{}", how, fmt::join(parts, "; "),
                     seeming_text(open, text.benchmarks.size()));
}

/// "; 2 are faster, sort by 20.1 %"
std::string faster_text(const VerdictText& text) {
  const Benchmarks faster = model::those_of(text.benchmarks, &Benchmark::improved);
  if (faster.empty()) return {};
  const Benchmark& most = **std::ranges::min_element(faster, {}, &Benchmark::change);
  if (faster.size() == 1) return fmt::format("; {} is {} faster", in_heading(most), amount(most));
  return fmt::format("; {} are faster, {} by {}", faster.size(), in_heading(most), amount(most));
}

std::string pass_sentence(const VerdictText& text, const Certainty& certainty) {
  const std::size_t all = text.benchmarks.size();
  const std::string who = all == 1 ? in_heading(text.benchmarks.front()) + " is not"
                                   : fmt::format("none of {} benchmarks is", all);
  std::string others;
  for (const std::string& each : certainty.others) {
    others += fmt::format("{}{}", all == 1 ? ", nor has it " : ", or has ", each);
  }
  return fmt::format(
             "{} slower by {} or more{}; such a {} is missed with a chance of at most {:g} %", who,
             certainty.threshold, others, others.empty() ? "slowdown" : "change",
             100 * certainty.pass_error) +
         faster_text(text);
}

/// "sort's CPU time (+5.0 %, -3.0 % … +14.2 %)"
std::string so_far(const Benchmark& undecided) {
  // The reason already says that the instructions are unknown.
  if (undecided.metric == Metric::instructions) return undecided.name;
  std::string name = undecided.name + std::string(words_of(undecided.metric).of);
  if (undecided.metric == Metric::asked_for) name += "'s " + undecided.metric_name;
  if (!undecided.low || !undecided.high) return name;
  return fmt::format("{} ({}, {})", name, percent_change(undecided.change),
                     interval_text(undecided.low, undecided.high));
}

}  // namespace

Benchmarks those_with(const VerdictText& text, Verdict verdict) {
  return model::those_of(text.benchmarks,
                         [&](const Benchmark& each) { return each.verdict == verdict; });
}

void Benchmark::fail_by(Metric counted, double by, std::string moved) {
  reason = fmt::format("its time {}, {}", verdict == Verdict::pass ? "passes" : "is undecided",
                       percent_change(change));
  verdict = Verdict::fail;
  metric = counted;
  change = by;
  low = high = std::nullopt;
  improved = false;
  levels = std::move(moved);
}

void Benchmark::leave_open(Metric unknown, std::string why) {
  verdict = Verdict::inconclusive;
  metric = unknown;
  low = high = std::nullopt;
  improved = false;
  reason = std::move(why);
}

std::vector<Benchmark> in_reading_order(std::vector<Benchmark> benchmarks) {
  constexpr std::array<int, 3> kPlaces{2, 0, 1};  // in the order of Verdict
  std::ranges::stable_sort(benchmarks, {}, [&](const Benchmark& each) {
    return kPlaces[static_cast<std::size_t>(each.verdict)];
  });
  return benchmarks;
}

std::string verdict_sentence(Verdict overall, const VerdictText& text, const Certainty& certainty) {
  return fmt::format("{}: {}", word(overall),
                     overall == Verdict::fail           ? fail_sentence(text, certainty)
                     : overall == Verdict::inconclusive ? inconclusive_sentence(text)
                                                        : pass_sentence(text, certainty));
}

std::string counts_text(const VerdictText& text) {
  std::array<std::size_t, 3> counts{};
  for (const Benchmark& each : text.benchmarks) ++counts[static_cast<std::size_t>(each.verdict)];
  const auto [passed, failed, open] = counts;
  std::vector<std::string> parts;
  if (failed > 0) add(parts, "{} {}", failed, failed == 1 ? "fails" : "fail");
  if (open > 0) add(parts, "{} {} undecided", open, open == 1 ? "is" : "are");
  if (passed > 0) add(parts, "{} {}", passed, passed == 1 ? "passes" : "pass");
  return fmt::format("{}", fmt::join(parts, ", "));
}

Sentences findings(const Benchmark& failed, double interval_level) {
  Sentences found{clause(failed, interval_level)};
  if (!failed.levels.empty()) found.front() += ", " + failed.levels;
  if (!failed.reason.empty()) found.front() += ": " + failed.reason;
  const std::size_t first = failed.metric == Metric::counts ? 1 : 0;
  for (std::size_t i = first; i < failed.counts.size(); ++i) {
    add(found, "has more {}", failed.counts[i]);
  }
  return found;
}

std::vector<Undecided> undecided(const VerdictText& text) {
  Benchmarks open = those_with(text, Verdict::inconclusive);
  std::ranges::stable_sort(open, {}, &Benchmark::effort);
  InOrder<Undecided> by_reason;
  for (const Benchmark* each : open) {
    Undecided& group = by_reason[each->reason];
    group.reason = each->reason;
    group.names.push_back(so_far(*each));
  }
  return each_of(by_reason, [](const auto& reason_and_group) { return reason_and_group.second; });
}

std::pair<Benchmarks, Benchmarks> worst_and_others(const Benchmarks& failed, std::size_t most) {
  Benchmarks by_size = failed;
  std::ranges::stable_sort(by_size, std::greater(),
                           [](const Benchmark* each) { return std::abs(each->change); });
  by_size.resize(std::min(by_size.size(), most));
  std::pair<Benchmarks, Benchmarks> parts;
  for (const Benchmark* each : failed) {
    (model::contains(by_size, each) ? parts.first : parts.second).push_back(each);
  }
  return parts;
}

std::string interval_text(std::optional<double> low, std::optional<double> high) {
  if (!low || !high) return std::string(kNone);
  return fmt::format("{} … {}", percent_change(*low), percent_change(*high));
}

std::string names_text(const std::vector<std::string>& names, std::size_t most) {
  // One more name takes no more room than "and 1 more".
  const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == names.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + names[i];
  }
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::string capitalised(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

void add_named(Sentences& sentences, const std::vector<std::string>& names, std::string_view what) {
  if (!names.empty()) add(sentences, "{}: {}.", names_text(names), what);
}

void add_shared(Sentences& sentences, const NamesAndReasons& reasons, std::string_view what) {
  InOrder<std::vector<std::string>> by_reason;
  for (const auto& [name, reason] : reasons) {
    if (!reason.empty()) by_reason[reason].push_back(name);
  }
  for (const auto& [reason, names] : by_reason) {
    add_named(sentences, names, fmt::format("{}{}", what, reason));
  }
}

Sentences notes(const VerdictText& text) {
  Sentences lines;
  for (const Benchmark* each : those_with(text, Verdict::fail)) {
    for (const std::string& found : findings(*each, text.interval_level)) {
      add(lines, "FAIL: {} {}.", each->name, found);
    }
  }
  for (const Undecided& group : undecided(text)) {
    add(lines, "INCONCLUSIVE: {}: {}.", names_text(group.names), group.reason);
  }
  append(lines, text.remarks);
  return lines;
}

}  // namespace taskbench::reports::render
