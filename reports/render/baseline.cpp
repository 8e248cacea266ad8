#include "reports/render/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/model/date.hpp"
#include "reports/render/page.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::BaselineComparison;
using verdict::BaselineFailure;
using verdict::BaselineReport;
using verdict::BaselineRow;
using verdict::CanaryChange;
using verdict::Verdict;

const Cells kBaselineTitles{"benchmark",  "baseline",     "now",     "change",   "95 % interval",
                            "detectable", "since anchor", "verdict", "processes"};

std::string verdict_of(const BaselineRow& row) {
  return row.drifted ? fmt::format("{}, drifted", word(row.verdict))
                     : verdict_cell(row.verdict, row.improved);
}

VerdictText::Row row_of(const BaselineRow& row) {
  const verdict::StoredComparison& rolling = row.rolling;
  const Bar bar{row.name,     rolling.change, rolling.low,
                rolling.high, rolling.limit,  verdict_of(row)};
  Cells cells = compared_cells(bar, row.baseline_ns, row.now_ns);
  append(cells, {percent(rolling.detectable),
                 row.anchor ? percent_change(row.anchor->change) : std::string(kNone), bar.verdict,
                 fmt::format("{}+{}", rolling.stored, rolling.fresh)});
  return {std::move(cells), row.verdict, bar};
}

/// "cpu +8.1 %, memory +2.0 %, futex -0.3 %"
std::string parts_text(const std::vector<CanaryChange>& changes) {
  std::vector<std::string> parts;
  for (const auto& each : changes) add(parts, "{} {}", each.part, percent_change(each.change));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "memory -24.1 % (chance explains 8.0 %)", of those that moved.
std::string limits_text(const std::vector<CanaryChange>& changes) {
  std::vector<std::string> parts;
  for (const CanaryChange& each : changes) {
    if (!each.moved) continue;
    add(parts, "{} {} (chance explains {})", each.part, percent_change(each.change),
        percent(each.limit));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_environment(const BaselineReport& report, Sentences& lines) {
  if (report.others_moved) {
    const bool busier = report.others_now && (!report.others_then ||
                                              report.others_now->taken > report.others_then->taken);
    add(lines, "ENVIRONMENT: {} while this was measured; when the baseline was, {}. {}",
        others_text(report.others_now), others_text(report.others_then),
        busier ? "Measure again when the machine is quiet; --allow-busy judges all the same."
               : "Against a baseline of a busy machine, what has become slower may look unchanged: "
                 "save a new one on a quiet machine. --allow-busy judges all the same.");
  }
  if (report.moved_cpus) {
    add(lines,
        "ENVIRONMENT: the host moved the CPUs while this was measured: {}. Measure again; "
        "--allow-busy judges all the same.",
        moved_cpus_text(*report.moved_cpus));
  }
  if (std::ranges::any_of(report.canary, &CanaryChange::moved)) {
    add(lines,
        "ENVIRONMENT: the canary, which is always the same work, does not take what it took when "
        "the baseline was measured: {}. No change of a benchmark can be told from this one of the "
        "machine. Measure again when the machine is as it was, or save a new baseline.",
        limits_text(report.canary));
  }
}

/// Why this row has the verdict that it has, where the figures do not show it.
void add_why(const BaselineComparison& comparison, const BaselineRow& row, Sentences& lines) {
  if (row.unconfirmed) {
    add(lines, "{}: not confirmed: measured twice, it was slower by more than chance only once.",
        row.name);
  } else if (row.drifted) {
    add(lines,
        "{}: drifted since the anchor of {}: {} by now, while {} would be a failure; accept it by "
        "`taskbench baseline promote`.",
        row.name, model::day_of(comparison.anchor->setup.date), percent_change(row.anchor->change),
        percent(row.anchor->limit));
  } else if (row.verdict == Verdict::inconclusive && !comparison.report.environment_moved) {
    add(lines,
        "{}: undecided: less than the {} that would be a failure, but a change of {} is not "
        "excluded.",
        row.name, percent(row.rolling.limit), percent(row.rolling.delta));
  }
}

Sentences remarks(const BaselineComparison& comparison) {
  const BaselineReport& report = comparison.report;
  Sentences lines;
  add_environment(report, lines);
  for (const BaselineRow& row : report.rows) add_why(comparison, row, lines);
  if (report.anchor_void) {
    add(lines,
        "The machine is not as it was when the anchor was measured ({}); changes since then are "
        "shown, but not judged.",
        std::ranges::any_of(report.anchor_canary, &CanaryChange::moved)
            ? "canary: " + limits_text(report.anchor_canary)
            : "others use more or less of the CPUs");
  }
  append(lines, large_floors(comparison.policy.noise_floors, comparison.policy.delta));
  for (const auto& name : report.only_baseline) add(lines, "{}: only the baseline has it.", name);
  for (const auto& name : report.only_now) add(lines, "{}: the baseline does not have it.", name);
  return lines;
}

/// Who else used the machine, then and now.
std::string machine_text(const BaselineReport& report) {
  if (!report.others_now) {
    return fmt::format(" What others used of the CPUs is not known: {}.", report.others_now.reason);
  }
  return fmt::format(" Of {:.2g} CPUs others used {:.2f}, and {} when the baseline was saved.",
                     report.others_now->cpus, report.others_now->taken,
                     report.others_then ? fmt::format("{:.2f}", report.others_then->taken)
                                        : std::string("an unknown part"));
}

std::string basis(const BaselineComparison& comparison) {
  const auto& stored = comparison.rolling.setup;
  const BaselineReport& report = comparison.report;
  std::string text = fmt::format(
      "Against '{}' of {}, {} processes; now {}. Changes, and the times below 'now', are relative "
      "to the canary's cpu part, whose parts changed by: {}.{} FAIL: slower by {} or more, and by "
      "more than such a baseline scatters, {}, with a chance of at most {} that any is a false "
      "alarm (Bonferroni), provided that nothing but what the canary and the CPU times show "
      "changed on the machine.",
      stored.name, model::day_of(stored.date), stored.processes, comparison.now.processes.size(),
      parts_text(report.canary), machine_text(report), percent(comparison.policy.delta),
      report.confirmed ? "measured twice" : "when it is measured a second time as well",
      percent(comparison.policy.alpha));
  text += noise_floors_text(comparison.policy.noise_floors);
  if (comparison.anchor) {
    text += fmt::format(" The anchor is of {}.", model::day_of(comparison.anchor->setup.date));
  }
  return text;
}

std::string headline(const BaselineReport& report) {
  if (report.environment_moved && report.others_moved) {
    return "ENVIRONMENT: other processes did not use the CPUs as they did then; no verdict";
  }
  if (report.environment_moved) return "ENVIRONMENT: the machine is not as it was; no verdict";
  const std::size_t drifted = how_many(report.rows, &BaselineRow::drifted);
  return headline_of(report.overall, report.rows,
                     drifted > 0 ? fmt::format(", {} of them only since the anchor", drifted) : "");
}

VerdictText verdict_text(const BaselineComparison& comparison) {
  VerdictText text{
      headline(comparison.report), kBaselineTitles, {}, remarks(comparison), basis(comparison)};
  for (const BaselineRow& row : comparison.report.rows) text.rows.push_back(row_of(row));
  return text;
}

}  // namespace

std::string others_text(const verdict::Others& others) {
  std::string text =
      fmt::format("other processes used {:.2f} of {:.2g} CPUs", others.used, others.cpus);
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

std::string table(const BaselineComparison& comparison, const TableStyle& style) {
  return table(verdict_text(comparison), style);
}

std::string markdown(const BaselineComparison& comparison, const CommentStyle& style) {
  return comment(style, verdict_text(comparison), "", verdict::kIntervalLevel);
}

std::string failure_markdown(const BaselineFailure& failure, const CommentStyle& style) {
  const std::string program =
      failure.program.empty() ? "the program" : markdown_escaped(failure.program);
  const bool of_machine = failure.stage == BaselineFailure::Stage::machine;
  return comment_heading(style, of_machine ? "no verdict: no baseline of this machine and build"
                                           : fmt::format("no verdict: {} failed", program)) +
         fmt::format("Against the baseline '{}'.\n\n{}\n", markdown_escaped(failure.name),
                     markdown_escaped(failure.message));
}

namespace {

using model::Series;

std::string short_commit(const std::string& commit) {
  constexpr std::size_t kDigits = 12;
  return or_none(commit.substr(0, kDigits));
}

Cells cells(const std::string& name, const stats::Spread& spread) {
  const TimeUnit unit = time_unit(spread.min);
  return {name, time_text(spread.median, unit), percent(spread.mad.value_or(0) / spread.median),
          time_text(spread.min, unit), time_text(spread.max, unit)};
}

std::string fields_text(const std::vector<model::KeyField>& fields) {
  std::string text;
  for (const model::KeyField& field : fields) {
    text += fmt::format("  {:<28}  {}\n", field.name,
                        field.value.empty() ? "unknown" : printable(field.value));
  }
  return text;
}

std::string series_text(model::BaselineRole role, const Series& series, const TableStyle& style) {
  constexpr std::size_t kIndent = 2;
  const auto& setup = series.setup;
  std::string text =
      fmt::format("{} of {}: {} processes, {} repetitions of {:g} ms; commit {}; program: {}\n",
                  name_of(role), setup.date, setup.processes, setup.repetitions,
                  1e3 * setup.min_time_s, short_commit(setup.commit),
                  setup.command.empty() ? "taskbench itself" : printable(setup.command));
  std::vector<Cells> rows{{"benchmark", "median", "MAD", "least", "most"}};
  for (const auto& [name, spread] : verdict::spreads_of(series)) {
    rows.push_back(cells(name, spread));
  }
  for (std::string& row :
       fitted(rows, names_to_the_left(rows.front()), style.table_columns() - kIndent)) {
    for (auto at = row.find('\n'); at != row.npos; at = row.find('\n', at + 1)) {
      row.insert(at + 1, kIndent, ' ');
    }
    text += fmt::format("  {}\n", row);
  }
  return text +
         fmt::format("  {} while it was measured\n", others_text(verdict::others_of(series)));
}

}  // namespace

std::string table(const std::vector<verdict::StoredBaseline>& list, const TableStyle& style) {
  std::vector<Cells> rows{
      {"NAME", "KEY", "THIS MACHINE", "DATE", "COMMIT", "PROCESSES", "BENCHMARKS", "ANCHOR"}};
  for (const verdict::StoredBaseline& each : list) {
    const auto& setup = each.rolling.setup;
    rows.push_back({setup.name, model::baseline_key(setup.key), each.this_machine ? "yes" : "no",
                    model::day_of(setup.date), short_commit(setup.commit),
                    std::to_string(setup.processes), std::to_string(setup.benchmarks.size()),
                    each.anchor ? model::day_of(each.anchor->setup.date) : std::string(kNone)});
  }
  Page page(style);
  page.table(rows, {true, true, true, true, true, false, false, true});
  return std::move(page).text();
}

std::string details(const verdict::StoredBaseline& stored, const TableStyle& style) {
  const auto& setup = stored.rolling.setup;
  std::string text =
      fmt::format("{}  {}{}\n\nmachine\n{}build\n{}\n", setup.name, model::baseline_key(setup.key),
                  stored.this_machine ? "" : "  (another machine)", fields_text(setup.key.machine),
                  fields_text(setup.key.build));
  text += series_text(model::BaselineRole::rolling, stored.rolling, style);
  if (stored.anchor) text += '\n' + series_text(model::BaselineRole::anchor, *stored.anchor, style);
  return text;
}

}  // namespace taskbench::reports::render
