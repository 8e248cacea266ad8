#include "reports/render/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/page.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

using model::DoctorReport;
using model::Finding;
using model::Severity;
constexpr std::size_t kLabelWidth = 10;

/// Prints the label once, and the text next to it in as many lines as it needs.
void print_labelled(Page& page, std::string_view label, std::string_view label_code,
                    std::string_view text, std::string_view code = kPlain) {
  const std::size_t room = page.width() - std::min(page.width() - 1, kLabelWidth);
  std::string margin = page.inked(label_code, pad_right(label, kLabelWidth));
  for (std::string& each : wrap(printable(text), room)) {
    page.line(margin + page.inked(code, std::move(each)));
    margin = std::string(kLabelWidth, ' ');
  }
}

/// Prints a table whose first row holds titles, the second units.
void print_table(Page& page, const std::vector<Cells>& rows) {
  const std::vector<std::string> lines = fitted(rows, names_to_the_left(rows.front()));
  page.line(page.inked(kBold, lines[0]));
  page.line(page.inked(kDim, lines[1]));
  page.rule(display_width(lines.front()));
  for (std::size_t i = 2; i < lines.size(); ++i) page.line(lines[i]);
}

// The word for each Severity, in its order, and ANSI's code of its colour.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSeverities{
    {{"SERIOUS", "1;31"}, {"moderate", kYellow}, {"minor", "36"}, {"unknown", "35"}, {"ok", "32"}}};

void print_findings(Page& page, const std::vector<Finding>& findings) {
  const Finding* before = nullptr;
  for (const Finding& each : findings) {
    // A finding that is in order or unknown takes one line, without an empty line before it.
    const bool is_short = each.severity == Severity::ok || each.severity == Severity::unknown;
    if (before != nullptr && !(is_short && before->severity == each.severity)) page.line();
    before = &each;
    const auto& [label, ink] = kSeverities[static_cast<std::size_t>(each.severity)];
    print_labelled(page, label, ink, fmt::format("{}: {}", each.check, each.found));
    if (is_short) continue;
    print_labelled(page, "", "", each.matters, kDim);
    if (each.mend.empty()) continue;
    // A command stays on one line, however long, so that it can be copied.
    page.line(std::string(kLabelWidth, ' ') + page.inked(kBold, "→ " + printable(each.mend)));
  }
}

std::string count_text(const std::vector<Finding>& findings) {
  const auto count = [&](Severity severity) {
    return std::ranges::count(findings, severity, &Finding::severity);
  };
  return fmt::format("{} serious, {} moderate, {} minor, {} unknown, {} in order.",
                     count(Severity::serious), count(Severity::moderate), count(Severity::minor),
                     count(Severity::unknown), count(Severity::ok));
}

void print_floor(Page& page, const DoctorReport& report) {
  std::vector<Cells> rows{
      {"the floor here", "median", "lower ¼", "upper ¼", "least", "p99", "samples"},
      {"", "ns", "ns", "ns", "ns", "ns", ""}};
  std::vector<std::string> explained;
  for (const model::FloorFigure& figure : report.floor) {
    std::string name = figure.name;
    std::ranges::replace(name, '_', ' ');
    add(explained, "{}: {}", name, figure.what);
    Cells row(rows[0].size(), std::string(kNone));
    row.front() = name;
    row.back() = with_separators(std::uint64_t{figure.ns.size()});
    if (const auto summary = stats::summarize(figure)) {
      const std::array<std::optional<double>, 5> shown{summary->median, summary->lower_quartile,
                                                       summary->upper_quartile, summary->min,
                                                       summary->p99};
      std::ranges::transform(shown, row.begin() + 1, ns_cell);
    } else {
      explained.back() += fmt::format(" (not measured: {})", figure.unavailable);
      row.back() = "0";
    }
    rows.push_back(std::move(row));
  }
  print_table(page, rows);
  page.line();
  page.paragraph(fmt::format("{}. lower and upper ¼: half of the samples lie between them.",
                             fmt::join(explained, "; ")),
                 kDim);
}

std::optional<double> median_of(const DoctorReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.floor, name, &model::FloorFigure::name);
  if (found == report.floor.end()) return std::nullopt;
  const auto summary = stats::summarize(*found);
  return summary ? std::optional(summary->median) : std::nullopt;
}

/// How often `floor` fits into `ns`.
std::string times_cell(std::optional<double> ns, std::optional<double> floor) {
  if (!ns || !floor || *floor <= 0) return std::string(kNone);
  const double times = *ns / *floor;
  if (times < 0.1) return fmt::format("{:.1g}", times);
  return times < 100 ? fmt::format("{:.1f}", times) : with_separators(times, 0);
}

void print_workloads(Page& page, const DoctorReport& report) {
  const auto clock = median_of(report, "clock_cost");
  const auto locked = median_of(report, "locked_instruction");
  const auto wake_up = median_of(report, "wake_up");
  std::vector<Cells> rows{
      {"a workload's operation", "median", "± MAD", "clock costs", "locked", "wake-ups"},
      {"", "ns", "%", "×", "×", "×"}};
  std::vector<std::string> failed;
  std::size_t repetitions = 0;
  for (const model::Case& measured : report.workloads) {
    const auto summary = stats::summarize(measured);
    if (!summary) {
      add(failed, "NOT MEASURED {}: {}", measured.name, stats::why_unmeasured(measured));
      continue;
    }
    repetitions = std::max(repetitions, summary->samples);
    const auto ns = summary->ns_per_operation;
    rows.push_back({fmt::format("{} ({})", measured.workload, measured.operation), ns_cell(ns),
                    summary->samples > 1
                        ? fmt::format("{:.1f}", 100 * summary->spread().value_or(0))
                        : std::string(kNone),
                    times_cell(ns, clock), times_cell(ns, locked), times_cell(ns, wake_up)});
  }
  page.line();
  print_table(page, rows);
  page.line();
  for (const std::string& each : failed) page.paragraph(each, kRed);
  const model::Case& any = report.workloads.front();
  page.paragraph(
      fmt::format("A first look on {} with {}, {} short repetitions each: `taskbench run` "
                  "measures. ×: how many of the floor's medians one operation takes.",
                  any.scheduler, counted(static_cast<std::size_t>(any.workers), "worker"),
                  repetitions),
      kDim);
}

}  // namespace

std::string table(const DoctorReport& report, const TableStyle& style) {
  Page page(style);
  page.paragraph("taskbench doctor: what disturbs a measurement here", kBold);
  if (const std::string machine = provenance(report.environment); !machine.empty()) {
    page.paragraph(machine + ".", kDim);
  }
  page.line();
  print_findings(page, report.findings);
  page.line();
  page.paragraph(count_text(report.findings));
  if (!report.floor.empty()) {
    page.line();
    print_floor(page, report);
  }
  if (!report.workloads.empty()) print_workloads(page, report);
  return std::move(page).text();
}

}  // namespace taskbench::reports::render
