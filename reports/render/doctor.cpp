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

#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

using model::DoctorReport;
using model::Severity;

/// The word for each Severity, in their order, and its tone.
constexpr std::array<std::pair<const char*, Tone>, 5> kSeverities{{{"SERIOUS", Tone::bad},
                                                                   {"moderate", Tone::doubtful},
                                                                   {"minor", Tone::doubtful},
                                                                   {"unknown", Tone::quiet},
                                                                   {"ok", Tone::good}}};

Findings findings_of(const DoctorReport& report) {
  Findings list;
  for (const model::Finding& each : report.findings) {
    const auto& [label, tone] = kSeverities[static_cast<std::size_t>(each.severity)];
    list.findings.push_back({label, tone, fmt::format("{}: {}", each.check, each.found)});
    if (each.severity == Severity::ok || each.severity == Severity::unknown) continue;
    list.findings.back().detail = each.matters;
    list.findings.back().command = each.mend;
  }
  return list;
}

std::string count_text(const std::vector<model::Finding>& findings) {
  const auto count = [&](Severity severity) {
    return std::ranges::count(findings, severity, &model::Finding::severity);
  };
  return fmt::format("{} serious, {} moderate, {} minor, {} unknown, {} in order.",
                     count(Severity::serious), count(Severity::moderate), count(Severity::minor),
                     count(Severity::unknown), count(Severity::ok));
}

Cell ns(std::optional<double> value) { return {ns_cell(value), Tone::plain, value}; }

void add_floor(const DoctorReport& report, Section& section) {
  Table table{.columns = {{"the floor here"}}};
  for (const char* title : {"median", "lower ¼", "upper ¼", "least", "p99"}) {
    table.columns.push_back({.title = title, .is_number = true, .unit = "ns", .part = 1});
  }
  table.columns.push_back({.title = "samples", .is_number = true, .part = 1});
  std::vector<std::string> explained;
  for (const model::FloorFigure& figure : report.floor) {
    std::string name = figure.name;
    std::ranges::replace(name, '_', ' ');
    add(explained, "{}: {}", name, figure.what);
    const auto summary = stats::summarize(figure);
    if (!summary) explained.back() += fmt::format(" (not measured: {})", figure.unavailable);
    const stats::FloorSummary known = summary.value_or(stats::FloorSummary{});
    const auto given = [&](double value) { return summary ? std::optional(value) : std::nullopt; };
    table.add({name, ns(given(known.median)), ns(known.lower_quartile), ns(known.upper_quartile),
               ns(given(known.min)), ns(known.p99),
               with_separators(std::uint64_t{summary ? figure.ns.size() : 0})});
  }
  section.add(std::move(table));
  section.say(fmt::format("{}. lower and upper ¼: half of the samples lie between them.",
                          fmt::join(explained, "; ")),
              Tone::quiet);
}

std::optional<double> median_of(const DoctorReport& report, std::string_view name) {
  const auto* const found = model::element_of(report.floor, name, &model::FloorFigure::name);
  if (found == nullptr) return std::nullopt;
  const auto summary = stats::summarize(*found);
  return summary ? std::optional(summary->median) : std::nullopt;
}

/// How often `floor` fits into `ns`.
Cell times_cell(std::optional<double> ns, std::optional<double> floor) {
  if (!ns || !floor || *floor <= 0) return std::string(kNone);
  const double times = *ns / *floor;
  return {times < 0.1   ? fmt::format("{:.1g}", times)
          : times < 100 ? fmt::format("{:.1f}", times)
                        : with_separators(times, 0),
          Tone::plain, times};
}

void add_workloads(const DoctorReport& report, Section& section) {
  const auto clock = median_of(report, "clock_cost");
  const auto locked = median_of(report, "locked_instruction");
  const auto wake_up = median_of(report, "wake_up");
  Table table{.columns = {{"a workload's operation"}}};
  for (const auto& [title, unit] : {std::pair{"median", "ns"},
                                    {"± MAD", "%"},
                                    {"clock costs", "×"},
                                    {"locked", "×"},
                                    {"wake-ups", "×"}}) {
    table.columns.push_back({.title = title, .is_number = true, .unit = unit, .part = 1});
  }
  std::vector<Paragraph> failed;
  std::size_t repetitions = 0;
  for (const model::Case& measured : report.workloads) {
    const auto summary = stats::summarize(measured);
    if (!summary) {
      failed.emplace_back(fmt::format(" {}: {}", measured.name, stats::why_unmeasured(measured)),
                          Tone::bad, "Not measured");
      continue;
    }
    repetitions = std::max(repetitions, summary->real_ns.samples);
    const auto time = summary->ns_per_operation;
    const auto spread = summary->spread();
    table.add({fmt::format("{} ({})", measured.workload, measured.operation), ns(time),
               spread ? fmt::format("{:.1f}", 100 * *spread) : std::string(kNone),
               times_cell(time, clock), times_cell(time, locked), times_cell(time, wake_up)});
  }
  section.add(std::move(table));
  section.blocks.insert(section.blocks.end(), failed.begin(), failed.end());
  const model::Case& any = report.workloads.front();
  section.say(fmt::format("A first look on {} with {}, {} short repetitions each: `taskbench run` "
                          "measures. ×: how many of the floor's medians one operation takes.",
                          any.scheduler, counted(any.workers, "worker"), repetitions),
              Tone::quiet);
}

}  // namespace

Document document(const DoctorReport& report) {
  Document result{"taskbench doctor: what disturbs a measurement here", {}, {}, {}};
  if (const std::string machine = provenance(report.environment); !machine.empty()) {
    result.lead.emplace_back(machine + ".", Tone::quiet);
  }
  Section section{"result", "", {findings_of(report), Paragraph{count_text(report.findings)}}};
  if (!report.floor.empty()) add_floor(report, section);
  if (!report.workloads.empty()) add_workloads(report, section);
  result.sections.push_back(std::move(section));
  return result;
}

}  // namespace taskbench::reports::render
