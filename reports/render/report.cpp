#include "reports/render/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "reports/model/date.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using Outcome = verdict::PairedFile::Outcome;

/// What the whole report rests on, in one or two sentences.
std::string lead_of(const ReportInputs& inputs, const std::vector<const NamedResult*>& in_order,
                    const std::vector<ShownCase>& cases) {
  std::string text;
  if (!in_order.empty()) {
    const model::Run& newest = in_order.back()->file;
    text = fmt::format("{} of {}", counted(cases.size(), "benchmark"),
                       counted(in_order.size(), "result"));
    if (!newest.environment.date.empty()) {
      text += fmt::format("{} {}", in_order.size() == 1 ? ", measured" : ", the newest measured",
                          model::day_of(newest.environment.date));
    }
    text += fmt::format(" on {}", machine_of(newest));
    if (const std::string commit = short_commit(newest); !commit.empty()) {
      text += fmt::format(", commit {}", commit);
    }
    text += '.';
  }
  if (!inputs.comparisons.empty()) {
    text += fmt::format("{}{} of two programs.", text.empty() ? "" : " ",
                        counted(inputs.comparisons.size(), "comparison"));
  }
  return text;
}

Paragraph verdict_of(const NamedComparison& comparison) {
  switch (comparison.file.outcome) {
    case Outcome::identical:
      return {comparison.path + ": PASS: the programs are identical.", Tone::good};
    case Outcome::failed:
      return {
          fmt::format("{}: no verdict: {}.", comparison.path, what_failed(comparison.file.failure)),
          Tone::bad};
    case Outcome::judged:
      break;
  }
  const auto& file = comparison.file;
  constexpr std::array<Tone, 3> kTones{Tone::good, Tone::bad, Tone::doubtful};
  return {fmt::format("{}: {}.", comparison.path, verdict_text(file.trial, file.report).headline),
          kTones[static_cast<std::size_t>(file.report.overall)]};
}

/// What one should know before the rest; left out where there is nothing.
void add_summary(const ReportInputs& inputs, const std::vector<const NamedResult*>& in_order,
                 Document& document) {
  Items items;
  for (const NamedComparison& each : inputs.comparisons) items.items.push_back(verdict_of(each));
  for (Paragraph& each : warnings(in_order)) items.items.push_back(std::move(each));
  if (items.items.empty()) return;
  const bool verdicts = !inputs.comparisons.empty();
  document.sections.push_back(
      {"summary", verdicts ? "Verdicts and warnings" : "Warnings", {std::move(items)}});
}

}  // namespace

Document report(const ReportInputs& inputs) {
  const auto in_order = in_order_of_time(inputs.results);
  const auto cases = shown_cases(in_order);
  Document document;
  document.title = "taskbench report";
  document.lead.push_back(plain(lead_of(inputs, in_order, cases)));
  add_summary(inputs, in_order, document);
  for (std::size_t i = 0; i < inputs.comparisons.size(); ++i) {
    document.sections.push_back(
        comparison_section(inputs.comparisons[i], i + 1, inputs.comparisons.size() == 1, document));
  }
  if (in_order.empty()) return document;
  if (cases.empty()) {
    document.sections.push_back(
        {"results", "Results", {Paragraph{"No result holds a repetition.", Tone::doubtful}}});
  } else {
    document.sections.push_back(results_section(cases, document));
    document.sections.push_back(distributions_section(cases, document));
    Section history = history_section(in_order, cases, document);
    if (!history.blocks.empty()) document.sections.push_back(std::move(history));
    Section counters = counters_section(cases, document);
    if (!counters.blocks.empty()) document.sections.push_back(std::move(counters));
  }
  document.sections.push_back(environment_section(in_order));
  return document;
}

}  // namespace taskbench::reports::render
