#include <fmt/format.h>

#include <string>
#include <string_view>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {
namespace {

/// "median, µs", "steals/iter"
std::string title(const Column& column) {
  return column.is_counter ? fmt::format("{}{}", column.title, column.unit)
                           : fmt::format("{}, {}", column.title, column.unit);
}

std::string header(const Figures& figures) {
  std::string titles = "| workload | scheduler | workers |";
  std::string alignment = "|:--|:--|--:|";
  for (const Column& column : figures.columns) {
    titles += fmt::format(" {} |", title(column));
    alignment += "--:|";
  }
  return titles + '\n' + alignment + '\n';
}

std::string line(const Row& row) {
  const model::Case& measured = *row.measured;
  const std::string parameters = changed_parameters(measured);
  std::string text = fmt::format("| {}{}{} | {} | {} |", markdown_escaped(measured.workload),
                                 parameters.empty() ? "" : " ", markdown_escaped(parameters),
                                 markdown_escaped(measured.scheduler), measured.workers);
  for (const std::string& cell : row.cells) {
    text += fmt::format(" {} |", markdown_escaped(cell));
  }
  return text + '\n';
}

std::string counters_text(const CounterTable& counters) {
  std::string text;
  if (!counters.groups.empty()) {
    text += "\n| case |";
    for (const std::string_view each : kCounterTitles) text += fmt::format(" {} |", each);
    text += "\n|:--|:--|--:|--:|--:|--:|:--|\n";
  }
  for (const CounterGroup& group : counters.groups) {
    for (const auto& row : group.rows) {
      text += fmt::format("| {} |", markdown_escaped(group.title));
      for (const std::string& cell : row) text += fmt::format(" {} |", markdown_escaped(cell));
      text += '\n';
    }
  }
  for (const auto* sentences : {&counters.missing, &counters.basis}) {
    for (const std::string& each : *sentences) text += "\n" + markdown_escaped(each) + '\n';
  }
  return text;
}

}  // namespace

std::string markdown(const model::Run& run) {
  const Figures shown = figures(run);
  std::string text;
  if (!shown.empty()) {
    text += header(shown);
    for (const Group& group : shown.groups) {
      for (const Row& row : group.rows) {
        text += line(row);
      }
    }
  } else if (shown.failed.empty() && shown.unmeasured.empty()) {
    text += "Nothing was measured.\n";
  }
  const auto paragraph = [&text](const std::string& content) {
    text += (text.empty() ? "" : "\n") + content + '\n';
  };
  for (const model::Case* failed : shown.failed) {
    paragraph(fmt::format("**Failed** {}: {}", markdown_escaped(failed->name),
                          markdown_escaped(failed->error)));
  }
  for (const model::Case* unmeasured : shown.unmeasured) {
    paragraph(fmt::format("**Not measured** {}: no repetition was completed",
                          markdown_escaped(unmeasured->name)));
  }
  if (run.partial) {
    paragraph("**Partial**: interrupted, some repetitions that were asked for are missing.");
  }
  if (!shown.empty()) {
    for (const std::string& sentence : explanation(shown, false)) {
      paragraph(markdown_escaped(sentence));
    }
  }
  if (const auto counters = counter_table(run)) text += counters_text(*counters);
  if (const std::string machine = provenance(run.environment); !machine.empty()) {
    paragraph(fmt::format("On {}.", markdown_escaped(machine)));
  }
  return text;
}

}  // namespace taskbench::reports::render
