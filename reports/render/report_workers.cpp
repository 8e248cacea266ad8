// The influence of the number of workers, and observations that workloads made of themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "reports/render/figures.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kPanelsOfPlot = 12;  // in one plot

/// A value of a repetition; empty if it has none.
using ValueOf = std::function<std::optional<double>(const model::Repetition&)>;

ValueOf counter(std::string name) {
  return [name = std::move(name)](const model::Repetition& each) -> std::optional<double> {
    const auto value = model::value_at(each.counters, name);
    return value && std::isfinite(*value) ? value : std::nullopt;
  };
}

std::vector<double> values_of(const model::Case& benchmark, const ValueOf& value_of, double scale) {
  std::vector<double> values;
  for (const model::Repetition& repetition : benchmark.repetitions) {
    if (const auto value = value_of(repetition)) values.push_back(*value / scale);
  }
  return values;
}

/// A value per operation, shown by number of workers.
struct ByOperation {
  std::string_view name;
  std::string_view title;
  bool is_time;
  ValueOf value_of;
};

std::vector<ByOperation> by_operation() {
  using Repetition = model::Repetition;
  const auto switches = [](const Repetition& each) -> std::optional<double> {
    const auto voluntary = counter(model::kVoluntarySwitches)(each);
    const auto involuntary = counter(model::kInvoluntarySwitches)(each);
    if (!voluntary || !involuntary) return std::nullopt;
    return *voluntary + *involuntary;
  };
  return {
      {"time", "Wall time", true, [](const Repetition& each) { return each.real_ns; }},
      {"cpu", "CPU time of all threads", true, [](const Repetition& each) { return each.cpu_ns; }},
      {"switches", "Context switches", false, switches},
      {"steals", "Steals", false, counter("steals")},
      {"wakes", "Workers woken", false, counter("wakeups")},
      {"overflows", "Overflows of local queues", false, counter("overflows")},
      {"hand-offs", "Workers taken from threads that blocked", false, counter("hand_offs")},
  };
}

/// The benchmarks, sorted by workload, scheduler and number of workers.
class Grid {
 public:
  explicit Grid(const std::vector<ShownCase>& cases) {
    for (const ShownCase& each : cases) {
      const model::Case& benchmark = *each.benchmark;
      if (benchmark.scheduler.empty() || benchmark.workers <= 0) continue;
      const std::string changed = changed_parameters(benchmark);
      auto& lines = subjects_[changed.empty() ? each.group : each.group + ' ' + changed];
      const std::size_t line = schedulers_.place_of(benchmark.scheduler);
      lines.resize(std::max(lines.size(), line + 1));
      lines[line].push_back(&each);
      is_line_ = is_line_ || lines[line].size() > 1;
      if (!model::contains(workers_, benchmark.workers)) workers_.push_back(benchmark.workers);
    }
    std::ranges::sort(workers_);
    for (const std::string& subject : subjects_.names()) {
      Lines& lines = subjects_[subject];
      lines.resize(schedulers_.size());
      for (ShownCases& line : lines) {
        std::ranges::sort(line, {}, [](const auto* each) { return each->benchmark->workers; });
      }
    }
  }

  /// Whether there are points to connect.
  [[nodiscard]] bool has_lines() const { return is_line_; }

  /// Draws a value for each workload that has it, except where it is always 0.
  void draw(const ByOperation& what, SectionWriter& section) const {
    std::vector<WorkersPanel> panels;
    for (const auto& [subject, lines] : subjects_) {
      add_panel(subject, lines, what.is_time, what.value_of, true, panels);
    }
    draw(what.name, fmt::format("{} of one operation", what.title), panels, section);
  }

  /// Draws all observed values.
  void draw_observed(SectionWriter& section) const {
    std::vector<WorkersPanel> panels;
    for (const auto& [subject, lines] : subjects_) {
      std::map<std::string_view, std::string_view> names;
      for (const ShownCases& line : lines) {
        for (const ShownCase* each : line) {
          for (const auto& name : each->benchmark->observed) names[observed_title(name)] = name;
        }
      }
      for (const auto& [title, name] : names) {
        add_panel(fmt::format("{}: {}", subject, title), lines, is_time(name),
                  counter(std::string(name)), false, panels);
      }
    }
    draw("observed", "What the workloads observed", panels, section);
  }

 private:
  using Lines = std::vector<ShownCases>;

  void add_panel(const std::string& title, const Lines& lines, bool is_time,
                 const ValueOf& value_of, bool per_operation,
                 std::vector<WorkersPanel>& panels) const {
    WorkersPanel panel{title, is_time, {}};
    bool any = false;
    for (const ShownCases& line : lines) {
      auto& points = panel.lines.emplace_back();
      for (const ShownCase* each : line) {
        const double scale = per_operation && each->has_operations()
                                 ? static_cast<double>(each->benchmark->operations)
                                 : 1;
        auto values = values_of(*each->benchmark, value_of, scale);
        if (values.empty()) continue;
        const auto place = std::ranges::find(workers_, each->benchmark->workers) - workers_.begin();
        const Sampled sample = sampled(std::move(values));
        points.push_back({static_cast<std::size_t>(place), sample.median, sample.interval});
        any = any || sample.median != 0;
      }
    }
    if (any) panels.push_back(std::move(panel));
  }

  void draw(std::string_view name, const std::string& title,
            const std::vector<WorkersPanel>& panels, SectionWriter& section) const {
    const auto parts = in_parts(panels, kPanelsOfPlot);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      section.draw(
          workers_plot(
              fmt::format("workers-{}{}", name, i > 0 ? fmt::format("-{}", i + 1) : ""),
              fmt::format("{} by the number of workers{}", title, part_text(i, parts.size())),
              schedulers_.names(), workers_, parts[i]),
          "Each panel has a scale of its own. A mark is the median of the repetitions, its bar the "
          "95 % interval of that median where there are the six values that it takes.");
    }
  }

  InOrder<Lines> subjects_;
  InOrder<bool> schedulers_;
  std::vector<int> workers_;
  bool is_line_ = false;
};

}  // namespace

Section workers_section(const std::vector<ShownCase>& cases, Document& document) {
  SectionWriter section(document, "workers", "By the number of workers");
  const Grid grid(cases);
  if (!grid.has_lines()) return section.take();
  for (const ByOperation& each : by_operation()) grid.draw(each, section);
  return section.take();
}

Section observed_section(const std::vector<ShownCase>& cases, Document& document) {
  SectionWriter section(document, "observed", "Observed by the workloads");
  Grid(cases).draw_observed(section);
  model::Run observed;
  for (const ShownCase& each : cases) {
    if (!each.benchmark->observed.empty()) observed.cases.push_back(*each.benchmark);
  }
  for (Table& table : observations(observed)) section.add(std::move(table));
  return section.take();
}

}  // namespace taskbench::reports::render
