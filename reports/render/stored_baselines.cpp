// What is in the store, as text.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/render/baseline.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/report_cases.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

using model::Series;
using Json = nlohmann::ordered_json;

std::string short_commit(const std::string& commit) {
  constexpr std::size_t kDigits = 12;
  return or_none(commit.substr(0, kDigits));
}

/// Values of one benchmark or of the canary over the processes.
struct Spread {
  double median_ns = 0;
  double mad_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
};

Spread spread_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {stats::median(values), stats::median_absolute_deviation(values), least, most};
}

Spread spread_of(const Series& series, const std::string& name) {
  std::vector<double> values;
  for (const auto& process : series.processes) values.push_back(process.real_ns.at(name));
  return spread_of(values);
}

template <class Part>
Spread canary_spread(const Series& series, Part part) {
  std::vector<double> values;
  for (const auto& process : series.processes) {
    values.push_back(part(process.before));
    values.push_back(part(process.after));
  }
  return spread_of(values);
}

std::vector<std::pair<std::string, Spread>> spreads(const Series& series) {
  std::vector<std::pair<std::string, Spread>> rows;
  for (const std::string& name : series.setup.benchmarks) {
    rows.emplace_back(name, spread_of(series, name));
  }
  const auto canary = [&](const char* name, auto part) {
    rows.emplace_back(fmt::format("canary: {}", name), canary_spread(series, part));
  };
  canary("cpu", [](const model::CanaryTimes& times) { return times.cpu_ns; });
  canary("memory", [](const model::CanaryTimes& times) { return times.memory_ns; });
  canary("futex", [](const model::CanaryTimes& times) { return times.futex_ns; });
  const auto& all = series.processes;
  const auto hands_over = [](const auto& process) {
    return process.before.handover_ns && process.after.handover_ns;
  };
  if (std::ranges::all_of(all, hands_over)) {
    canary("handover", [](const model::CanaryTimes& times) { return *times.handover_ns; });
  }
  return rows;
}

Cells cells(const std::string& name, const Spread& spread) {
  const TimeUnit unit = time_unit(spread.min_ns);
  return {name, time_text(spread.median_ns, unit),
          fmt::format("{:.1f} %", 100 * spread.mad_ns / spread.median_ns),
          time_text(spread.min_ns, unit), time_text(spread.max_ns, unit)};
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
  for (const auto& [name, spread] : spreads(series)) rows.push_back(cells(name, spread));
  const std::size_t width = style.table_columns() - kIndent;
  const std::string table = in_rows(rows, names_to_the_left(rows.front()), width);
  bool begins = true;
  for (const char each : table) {
    if (begins) text += std::string(kIndent, ' ');
    text += each;
    begins = each == '\n';
  }
  const auto others = verdict::others_of(series);
  return text + fmt::format("  {} while it was measured\n",
                            others ? others_text(*others) : "who used the CPUs is not known");
}

Json to_json(const Series& series) {
  Json benchmarks = Json::array();
  for (const auto& [name, spread] : spreads(series)) {
    benchmarks.push_back({{"name", name},
                          {"median_ns", spread.median_ns},
                          {"mad_ns", spread.mad_ns},
                          {"min_ns", spread.min_ns},
                          {"max_ns", spread.max_ns}});
  }
  return {{"date", series.setup.date},
          {"commit", series.setup.commit.empty() ? Json() : Json(series.setup.commit)},
          {"processes", series.setup.processes},
          {"benchmarks", std::move(benchmarks)}};
}

Json to_json(const std::vector<model::KeyField>& fields) {
  Json result = Json::object();
  for (const model::KeyField& field : fields) result[field.name] = field.value;
  return result;
}

}  // namespace

std::string table(const std::vector<StoredBaseline>& list, const TableStyle& style) {
  std::vector<Cells> rows{
      {"NAME", "KEY", "THIS MACHINE", "DATE", "COMMIT", "PROCESSES", "BENCHMARKS", "ANCHOR"}};
  for (const StoredBaseline& each : list) {
    const auto& setup = each.rolling.setup;
    rows.push_back({setup.name, model::baseline_key(setup.key), each.this_machine ? "yes" : "no",
                    day_of(setup.date), short_commit(setup.commit), std::to_string(setup.processes),
                    std::to_string(setup.benchmarks.size()),
                    each.anchor ? day_of(each.anchor->setup.date) : std::string(kNone)});
  }
  return in_rows(rows, {true, true, true, true, true, false, false, true}, style.table_columns());
}

std::string json(const std::vector<StoredBaseline>& list) {
  Json baselines = Json::array();
  for (const StoredBaseline& each : list) {
    const auto& setup = each.rolling.setup;
    baselines.push_back({{"name", setup.name},
                         {"key", model::baseline_key(setup.key)},
                         {"this_machine", each.this_machine},
                         {"date", setup.date},
                         {"commit", setup.commit.empty() ? Json() : Json(setup.commit)},
                         {"processes", setup.processes},
                         {"benchmarks", setup.benchmarks},
                         {"anchor_date", each.anchor ? Json(each.anchor->setup.date) : Json()}});
  }
  const Json document{{"baselines", std::move(baselines)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string details(const StoredBaseline& stored, const TableStyle& style) {
  const auto& setup = stored.rolling.setup;
  std::string text =
      fmt::format("{}  {}{}\n\nmachine\n{}build\n{}\n", setup.name, model::baseline_key(setup.key),
                  stored.this_machine ? "" : "  (another machine)", fields_text(setup.key.machine),
                  fields_text(setup.key.build));
  text += series_text(model::BaselineRole::rolling, stored.rolling, style);
  if (stored.anchor) text += '\n' + series_text(model::BaselineRole::anchor, *stored.anchor, style);
  return text;
}

std::string details_json(const StoredBaseline& stored) {
  const auto& setup = stored.rolling.setup;
  const Json document{{"name", setup.name},
                      {"key", model::baseline_key(setup.key)},
                      {"this_machine", stored.this_machine},
                      {"machine", to_json(setup.key.machine)},
                      {"build", to_json(setup.key.build)},
                      {"baseline", to_json(stored.rolling)},
                      {"anchor", stored.anchor ? to_json(*stored.anchor) : Json()}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace taskbench::reports::render
