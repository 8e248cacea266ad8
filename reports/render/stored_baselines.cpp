// What is in the store, as text.

#include <fmt/format.h>

#include <algorithm>

#include "reports/model/date.hpp"
#include "reports/render/baseline.hpp"
#include "reports/render/page.hpp"

namespace taskbench::reports::render {
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
