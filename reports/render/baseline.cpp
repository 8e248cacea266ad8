#include "reports/render/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "reports/model/date.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/paired_basis.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::BaselineComparison;
using verdict::BaselineFailure;
using verdict::BaselineReport;
using verdict::BaselineRow;
using verdict::CanaryChange;
using verdict::Verdict;

std::string verdict_of(const BaselineRow& row) {
  return row.drifted ? fmt::format("{}, drifted", word(row.verdict))
                     : verdict_cell(row.verdict, row.improved);
}

VerdictText::Row row_of(const BaselineRow& row) {
  const verdict::StoredComparison& rolling = row.rolling;
  const Bar bar{row.name,     rolling.change, rolling.low,
                rolling.high, rolling.limit,  verdict_of(row)};
  Cells cells = compared_cells(bar, row.baseline_ns, row.now_ns);
  append(cells, {percent(rolling.limit), percent(rolling.detectable),
                 row.anchor ? percent_change(row.anchor->change) : std::string(kNone),
                 fmt::format("{}+{}", rolling.stored, rolling.fresh)});
  return {std::move(cells), row.verdict, bar};
}

/// "cpu +8.1 %, memory +2.0 %, futex -0.3 %"
std::string parts_text(const std::vector<CanaryChange>& changes) {
  std::vector<std::string> parts;
  for (const auto& each : changes) add(parts, "{} {}", each.part, percent_change(each.change));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "memory -24.1 % (chance explains 8.0 %)", for the parts that moved.
std::string limits_text(const std::vector<CanaryChange>& changes) {
  std::vector<std::string> parts;
  for (const CanaryChange& each : changes) {
    if (!each.moved) continue;
    add(parts, "{} {} (chance explains {})", each.part, percent_change(each.change),
        percent_change(each.limit));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_busier(const BaselineReport& report) {
  return report.others_now &&
         (!report.others_then || report.others_now->taken > report.others_then->taken);
}

std::string not_known(std::string_view what, const model::Fact<verdict::Others>& others) {
  return fmt::format("{} is not known ({})", what, others.reason);
}

void add_environment(const BaselineReport& report, Sentences& lines) {
  if (!report.environment_moved) return;
  if (report.others_moved) {
    add(lines, "ENVIRONMENT: {}; {}. {}",
        report.others_now ? others_text(*report.others_now) + " while this was measured"
                          : not_known("what other processes use now", report.others_now),
        report.others_then ? "when the baseline was, " + others_text(*report.others_then)
                           : not_known("what they used then", report.others_then),
        is_busier(report)
            ? "Measure again when the machine is quiet; --allow-busy judges all the same."
            : "Against a baseline of a busy machine, what has become slower may look unchanged: "
              "save a new one on a quiet machine. --allow-busy judges all the same.");
  }
  if (std::ranges::any_of(report.canary, &CanaryChange::moved)) {
    add(lines,
        "ENVIRONMENT: the canary, which always does the same work, does not take as long as when "
        "the baseline was measured: {}. Changes of the benchmarks cannot be told from this change "
        "of the machine. Measure again when the machine is as it was, or save a new baseline.",
        limits_text(report.canary));
  }
}

/// The reason for the row's verdict, if the figures do not show it, and what would decide it.
std::string why(const BaselineComparison& comparison, const BaselineRow& row) {
  if (row.unconfirmed) {
    return fmt::format(
        "not confirmed: measured {} times, it was not slower by more than chance in two of them",
        comparison.report.rounds);
  }
  if (row.drifted) {
    return fmt::format(
        "drifted since the anchor of {}, while {} would be a failure; accept it by `taskbench "
        "baseline promote`",
        model::day_of(comparison.anchor->setup.date), percent(row.anchor->limit));
  }
  if (row.verdict != Verdict::inconclusive) return {};
  if (row.masked) return "not judged, as the machine is not as it was";
  return fmt::format(
      "less than would be a failure, but a slowdown of {} or more is not excluded; more "
      "--processes would tell",
      percent(row.rolling.delta));
}

VerdictText::Benchmark benchmark_of(const BaselineComparison& comparison, const BaselineRow& row) {
  const verdict::StoredComparison& of = row.drifted ? *row.anchor : row.rolling;
  VerdictText::Benchmark benchmark{.name = row.name,
                                   .verdict = row.verdict,
                                   .improved = row.improved,
                                   .metric = row.drifted ? Metric::time_since_anchor : Metric::time,
                                   .change = of.change,
                                   .threshold = of.limit,
                                   .low = of.low,
                                   .high = of.high,
                                   .reason = why(comparison, row)};
  if (!row.drifted) benchmark.levels = levels_text(row.baseline_ns, row.now_ns);
  benchmark.rows.push_back(row_of(row));
  return benchmark;
}

Sentences remarks(const BaselineComparison& comparison) {
  const BaselineReport& report = comparison.report;
  Sentences lines;
  add_environment(report, lines);
  if (report.anchor_void) {
    add(lines,
        "The machine is not as it was when the anchor was measured ({}); changes since then are "
        "shown, but not judged.",
        std::ranges::any_of(report.anchor_canary, &CanaryChange::moved)
            ? "canary: " + limits_text(report.anchor_canary)
            : "others use more or less of the CPUs");
  }
  append(lines, large_floors(comparison.policy.noise_floors, comparison.policy.delta));
  add_named(lines, report.only_baseline, "only the baseline has it");
  add_named(lines, report.only_now, "the baseline does not have it");
  return lines;
}

/// The use of the machine by other processes, then and now.
std::string machine_text(const BaselineReport& report) {
  if (!report.others_now) {
    return fmt::format(" What others used of the CPUs is not known: {}.", report.others_now.reason);
  }
  return fmt::format(" Of {:.0f} CPUs others used {:.2f}, and {} when the baseline was saved.",
                     report.others_now->cpus, report.others_now->taken,
                     report.others_then ? fmt::format("{:.2f}", report.others_then->taken)
                                        : std::string("an unknown part"));
}

std::string basis(const BaselineComparison& comparison) {
  const auto& stored = comparison.rolling.setup;
  const BaselineReport& report = comparison.report;
  std::string text = fmt::format(
      "Against '{}' of {}, {} processes; now {}. The canary, which does the same work each time, "
      "shows how fast the machine was: the changes, and the times below 'now', are scaled to a "
      "machine on which the cpu part of the canary takes as long as it did then. Its parts changed "
      "by: {}.{} FAIL: slower by {} or more, and by more than such a baseline scatters, {}, with a "
      "chance of at most {} that any benchmark is a false alarm (Bonferroni), provided that "
      "nothing but what the canary and the CPU times show changed on the machine.",
      stored.name, model::day_of(stored.date), stored.processes, comparison.now.processes.size(),
      parts_text(report.canary), machine_text(report), percent(comparison.policy.delta),
      report.rounds > 1 ? fmt::format("in two of the {} times that it was measured", report.rounds)
                        : "when it is measured a second time as well",
      percent(comparison.policy.alpha));
  text += noise_floors_text(comparison.policy.noise_floors);
  if (comparison.anchor) {
    text += fmt::format(" The anchor is from {}.", model::day_of(comparison.anchor->setup.date));
  }
  return text;
}

std::string headline(const BaselineComparison& comparison, const VerdictText& text) {
  const BaselineReport& report = comparison.report;
  if (report.environment_moved && report.others_moved) {
    return is_busier(report) ? "ENVIRONMENT: other processes use the CPUs; no verdict"
                             : "ENVIRONMENT: other processes used the CPUs when the baseline was "
                               "saved; no verdict";
  }
  if (report.environment_moved) return "ENVIRONMENT: the machine is not as it was; no verdict";
  const verdict::BaselinePolicy& policy = comparison.policy;
  double most = policy.delta;
  for (const BaselineRow& row : report.rows) most = std::max(most, row.rolling.delta);
  return verdict_sentence(report.overall, text,
                          {.alpha = policy.alpha,
                           .pass_error = policy.pass_error,
                           .threshold = range_text(percent(policy.delta), percent(most))});
}

VerdictText baseline_verdict(const BaselineComparison& comparison) {
  VerdictText text;
  text.interval_level = verdict::kIntervalLevel;
  text.titles = compared_titles("baseline", "now", text.interval_level);
  append(text.titles, {"threshold", "detectable", "since anchor", "processes"});
  for (const BaselineRow& row : comparison.report.rows) {
    text.benchmarks.push_back(benchmark_of(comparison, row));
  }
  text.benchmarks = in_reading_order(std::move(text.benchmarks));
  text.legend =
      "threshold: a greater change fails. detectable: a slowdown that fails four times in five. "
      "processes: 15+7 are 15 of the baseline and 7 now.";
  text.remarks = remarks(comparison);
  text.basis = basis(comparison);
  text.headline = headline(comparison, text);
  return text;
}

}  // namespace

std::string others_text(const verdict::Others& others) {
  std::string text =
      fmt::format("other processes used {:.2f} of {:.0f} CPUs", others.used, others.cpus);
  if (others.stolen > 0.005) text += fmt::format(", and the hypervisor took {:.2f}", others.stolen);
  return text;
}

std::string others_text(const model::Fact<verdict::Others>& others) {
  return others ? others_text(*others) : "who used the CPUs is not known";
}

std::string moved_cpus_text(const verdict::MovedCpus& moved) {
  const TimeUnit unit = time_unit(moved.least_ns);
  return fmt::format("the canary's handover took from {} to {}", time_in(unit, moved.least_ns),
                     time_text(moved.greatest_ns, unit));
}

Document document(const BaselineComparison& comparison) {
  return document(baseline_verdict(comparison));
}

Document comment(const BaselineComparison& comparison, const CommentStyle& style) {
  const VerdictText text = baseline_verdict(comparison);
  const std::string compared =
      fmt::format("Against the baseline '{}': ", comparison.rolling.setup.name);
  return comment_of(style, text.headline, comment_body(text, compared));
}

Table records(const BaselineReport& report) {
  Table table = columns_of({"name", "verdict", "improved", "drifted", "baseline_ns", "now_ns",
                            "change", "interval_low", "interval_high", "threshold", "detectable",
                            "since_anchor", "baseline_processes", "processes"});
  for (const BaselineRow& row : report.rows) {
    const verdict::StoredComparison& rolling = row.rolling;
    table.add({row.name, word(row.verdict), fmt::format("{}", row.improved),
               fmt::format("{}", row.drifted), raw(row.baseline_ns), raw(row.now_ns),
               raw(rolling.change), raw(rolling.low), raw(rolling.high), raw(rolling.limit),
               raw(rolling.detectable),
               raw(row.anchor ? std::optional(row.anchor->change) : std::nullopt),
               std::to_string(rolling.stored), std::to_string(rolling.fresh)});
  }
  return table;
}

Document failure_comment(const BaselineFailure& failure, const CommentStyle& style) {
  const bool of_machine = failure.stage == BaselineFailure::Stage::machine;
  const std::string program = failure.program.empty() ? "the program" : failure.program;
  return comment_of(style,
                    of_machine ? "no verdict: no baseline of this machine and build"
                               : fmt::format("no verdict: {} failed", program),
                    {"failure",
                     "",
                     {Paragraph{fmt::format("Against the baseline '{}'.", failure.name)},
                      Paragraph{failure.message}}});
}

namespace {

using model::Series;

Table fields_of(const char* title, const std::vector<model::KeyField>& fields) {
  Table table{.columns = {{title}, {""}}};
  for (const model::KeyField& field : fields) {
    table.add({field.name, field.value.empty() ? "unknown" : field.value});
  }
  return table;
}

/// A stored series, and the spread of its processes.
Section section_of(model::BaselineRole role, const Series& series) {
  const auto& setup = series.setup;
  Section section{std::string(name_of(role)), "", {}};
  section.say(
      fmt::format("{} of {}: {} processes, {} repetitions of {:g} ms; commit {}; program: {}",
                  name_of(role), setup.date, setup.processes, setup.repetitions,
                  1e3 * setup.min_time_s, or_none(model::abbreviated(setup.commit)),
                  setup.command.empty() ? "taskbench itself" : setup.command));
  Table table{.columns = named_figures({"benchmark", "median", "MAD", "least", "most"})};
  for (const auto& [name, spread] : verdict::spreads_of(series)) {
    const TimeUnit unit = time_unit(spread.min);
    const auto time = [&](double ns) { return Cell(time_text(ns, unit), Tone::plain, ns); };
    const double scatter = spread.mad.value_or(0) / spread.median;
    const Cell mad(percent(scatter), Tone::plain, scatter);
    table.add({name, time(spread.median), mad, time(spread.min), time(spread.max)});
  }
  section.add(std::move(table));
  section.say(fmt::format("{} while it was measured", others_text(verdict::others_of(series))));
  return section;
}

}  // namespace

Document document(const std::vector<verdict::StoredBaseline>& list) {
  Table table = columns_of({"NAME", "KEY", "THIS MACHINE", "DATE", "COMMIT"});
  for (const char* count : {"PROCESSES", "BENCHMARKS"}) table.columns.push_back({count, true});
  table.columns.push_back({"ANCHOR"});
  for (const verdict::StoredBaseline& each : list) {
    const auto& setup = each.rolling.setup;
    table.add({setup.name, model::baseline_key(setup.key), each.this_machine ? "yes" : "no",
               model::day_of(setup.date), or_none(model::abbreviated(setup.commit)),
               std::to_string(setup.processes), std::to_string(setup.benchmarks.size()),
               each.anchor ? model::day_of(each.anchor->setup.date) : std::string(kNone)});
  }
  return {"", {}, {{"result", "", {std::move(table)}}}, {}};
}

Document document(const verdict::StoredBaseline& stored) {
  const auto& setup = stored.rolling.setup;
  Document result{
      fmt::format("{}  {}{}", setup.name, model::baseline_key(setup.key),
                  stored.this_machine ? "" : "  (another machine)"),
      {},
      {{"key", "", {fields_of("machine", setup.key.machine), fields_of("build", setup.key.build)}},
       section_of(model::BaselineRole::rolling, stored.rolling)},
      {}};
  if (stored.anchor) {
    result.sections.push_back(section_of(model::BaselineRole::anchor, *stored.anchor));
  }
  return result;
}

}  // namespace taskbench::reports::render
