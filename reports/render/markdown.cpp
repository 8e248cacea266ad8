#include <fmt/format.h>

#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {
namespace {

/// "median, µs", "steals/iter"
std::string title(const Column& column) {
  return fmt::format("{}{}{}", column.title, column.is_counter || column.unit.empty() ? "" : ", ",
                     column.unit);
}

std::string figures_table(const Figures& figures) {
  Cells titles{"workload", "scheduler", "workers"};
  std::vector<bool> left{true, true, false};
  for (const Column& column : figures.columns) titles.push_back(title(column));
  left.resize(titles.size(), false);
  std::vector<Cells> rows;
  for (const Group& group : figures.groups) {
    for (const Row& row : group.rows) {
      const model::Case& measured = *row.measured;
      const std::string parameters = changed_parameters(measured);
      Cells& cells = rows.emplace_back(
          Cells{parameters.empty() ? measured.workload : measured.workload + ' ' + parameters,
                measured.scheduler, std::to_string(measured.workers)});
      cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    }
  }
  return markdown_table(titles, left, rows);
}

std::string counters_text(const CounterTable& counters) {
  std::vector<Cells> rows;
  for (const CounterGroup& group : counters.groups) {
    for (const Cells& row : group.rows) {
      Cells& cells = rows.emplace_back(Cells{group.title});
      cells.insert(cells.end(), row.begin(), row.end());
    }
  }
  std::string text;
  if (!rows.empty()) {
    Cells titles{"case"};
    titles.insert(titles.end(), kCounterTitles.begin(), kCounterTitles.end());
    text = '\n' + markdown_table(titles, {true, true, false, false, false, false, true}, rows);
  }
  for (const auto* sentences : {&counters.missing, &counters.basis}) {
    for (const std::string& each : *sentences) text += "\n" + markdown_escaped(each) + '\n';
  }
  return text;
}

}  // namespace

std::string markdown(const model::Run& run) {
  const Figures shown = figures(run);
  std::string text = shown.empty() ? "" : figures_table(shown);
  const auto paragraph = [&text](std::string_view label, const std::string& content) {
    text += fmt::format("{}{}{}\n", text.empty() ? "" : "\n", label, markdown_escaped(content));
  };
  for (const auto& [label, content, tone] : notices(run, shown)) {
    paragraph(label.empty() ? "" : fmt::format("**{}**", label), content);
  }
  if (!shown.empty()) {
    for (const std::string& sentence : explanation(shown, false)) paragraph("", sentence);
  }
  for (const Figures& observed : observations(run)) text += '\n' + figures_table(observed);
  if (const auto counters = counter_table(run)) text += counters_text(*counters);
  if (const std::string machine = provenance(run.environment); !machine.empty()) {
    paragraph("", fmt::format("On {}.", machine));
  }
  return text;
}

}  // namespace taskbench::reports::render
