#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/page.hpp"
#include "reports/render/render.hpp"
#include "reports/render/tone.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::string_view kIndent = "  ";

std::string_view ink_of(Tone tone) {
  return tone == Tone::bad ? kRed : tone == Tone::doubtful ? kYellow : kPlain;
}

struct Line {
  std::string label;
  const Row* row = nullptr;  ///< empty for the heading of a workload
};

std::string with_parameters(std::string label, const model::Case& measured) {
  const std::string parameters = changed_parameters(measured);
  return parameters.empty() ? label : fmt::format("{} {}", label, parameters);
}

/// Whether every row has the same scheduler and worker count, which are then in the heading.
bool is_uniform(const Figures& figures) {
  const model::Case& first = *figures.groups.front().rows.front().measured;
  for (const Group& group : figures.groups) {
    for (const Row& row : group.rows) {
      if (row.measured->scheduler != first.scheduler || row.measured->workers != first.workers) {
        return false;
      }
    }
  }
  return true;
}

std::vector<Line> lines_of(const Figures& figures, bool uniform) {
  std::vector<Line> lines;
  for (const Group& group : figures.groups) {
    if (!uniform) lines.push_back({printable(group.workload), nullptr});
    for (const Row& row : group.rows) {
      const std::string label =
          uniform ? group.workload
                  : fmt::format("  {} ×{}", row.measured->scheduler, row.measured->workers);
      lines.push_back({printable(with_parameters(label, *row.measured)), &row});
    }
  }
  return lines;
}

/// The layout of figures in lines and blocks of columns.
class Layout {
 public:
  Layout(const Figures& figures, std::vector<Line> lines, std::size_t width)
      : figures_(figures), lines_(std::move(lines)) {
    for (const Line& line : lines_) {
      label_width_ = std::max(label_width_, display_width(line.label));
    }
    for (const bool short_titles : {false, true}) {
      arrange(short_titles, width);
      if (blocks_.size() == 1) return;
    }
    arrange(false, width);  // two blocks, which leaves room for the full titles
  }

  [[nodiscard]] bool short_titles() const { return short_titles_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  void print(Page& page) const {
    std::size_t first = 0;
    for (const std::size_t count : blocks_) {
      if (first > 0) page.line();
      const auto heading = [&](const Cells& cells, std::string_view ink) {
        std::string text(label_width_, ' ');
        for (std::size_t i = first; i < first + count; ++i) text += pad_left(cells[i], widths_[i]);
        const bool is_blank = text.find_first_not_of(' ') == text.npos;  // no column has a unit
        if (!is_blank) page.line(page.inked(ink, text));
        return display_width(text);
      };
      heading(titles_, kBold);
      page.rule(heading(units_, kDim));
      for (const Line& line : lines_) print_line(page, line, first, count);
      first += count;
    }
  }

 private:
  void arrange(bool short_titles, std::size_t width) {
    short_titles_ = short_titles;
    titles_.clear();
    units_.clear();
    std::size_t times = 0;
    for (const Column& column : figures_.columns) {
      titles_.emplace_back(short_titles ? column.short_title : column.title);
      units_.push_back(column.unit);
      times += column.is_counter ? 0 : 1;
    }
    std::vector<Cells> rows{titles_, units_};
    for (const Line& line : lines_) {
      if (line.row != nullptr) rows.push_back(line.row->cells);
    }
    widths_ = column_widths(rows);
    const std::array<std::size_t, 2> groups = {times, widths_.size() - times};
    blocks_ = distribute(widths_, groups, label_width_, kGap, width);
    for (std::size_t& each : widths_) each += kGap;
  }

  void print_line(Page& page, const Line& line, std::size_t first, std::size_t count) const {
    if (line.row == nullptr) {
      page.line(page.inked(kBold, line.label));
      return;
    }
    std::string text = pad_right(line.label, label_width_);
    for (std::size_t i = first; i < first + count; ++i) {
      const Tone tone = units_[i] == "%" ? tone_of_spread(line.row->spread_percent) : Tone::plain;
      text += page.inked(ink_of(tone), pad_left(line.row->cells[i], widths_[i]));
    }
    page.line(text);
  }

  const Figures& figures_;
  std::vector<Line> lines_;
  Cells titles_;
  Cells units_;
  std::vector<std::size_t> widths_;  ///< with the gap before each
  std::vector<std::size_t> blocks_;  ///< columns in each
  std::size_t label_width_ = 0;
  bool short_titles_ = false;
};

/// Adds a column with distributions, after the times.
Figures with_distribution(Figures figures) {
  constexpr std::size_t kCells = 10;
  constexpr std::size_t kFewest = 3;  // with fewer, the median and the spread say it all
  const auto first_counter = std::ranges::find(figures.columns, true, &Column::is_counter);
  const auto place = first_counter - figures.columns.begin();
  figures.columns.insert(
      first_counter, {"distribution", "distrib.", "min–max",
                      "how many repetitions lie where, from the fastest to the slowest", false});
  for (Group& group : figures.groups) {
    for (Row& row : group.rows) {
      std::vector<double> values;
      for (const model::Repetition& repetition : row.measured->repetitions) {
        if (stats::is_complete(repetition)) values.push_back(repetition.real_ns);
      }
      row.cells.insert(row.cells.begin() + place,
                       values.size() < kFewest ? std::string(kNone) : sparkline(values, kCells));
    }
  }
  return figures;
}

std::string heading(const model::Run& run, const Figures& figures, bool uniform) {
  const std::string& version = run.environment.taskbench_version;
  std::string text = version.empty() ? "taskbench" : "taskbench " + version;
  if (!figures.empty() && uniform) {
    const model::Case& any = *figures.groups.front().rows.front().measured;
    text += fmt::format(" · {}, {}", any.scheduler,
                        counted(static_cast<std::size_t>(any.workers), "worker"));
  }
  return text;
}

/// Prints notices. False if there are none.
bool print_notices(Page& page, const model::Run& run, const Figures& figures) {
  const std::vector<Notice> all = notices(run, figures);
  for (const auto& [label, text, tone] : all) {
    std::string capitals = label;
    for (char& each : capitals) each = static_cast<char>(std::toupper(each));
    page.paragraph(capitals + text, ink_of(tone), kIndent);
  }
  return !all.empty();
}

/// A row of counters as a sentence, for terminals that are too narrow for the columns.
std::string counter_sentence(const Cells& cells) {
  std::string text = cells.front() + ":";
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    const bool is_remark = i + 1 == cells.size();
    text += fmt::format("{} {}", i > 1 ? "," : "", cells[i]);
    if (!is_remark) text += fmt::format(" {}", kCounterTitles[i]);
  }
  return text;
}

/// Prints the counters below the times: a heading for each case and aligned rows below it.
void print_counters(Page& page, const CounterTable& counters) {
  std::vector<Cells> rows{{kCounterTitles.begin(), kCounterTitles.end()}};
  for (const CounterGroup& group : counters.groups) {
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  }
  std::vector<std::string> lines = fitted(rows, {true, false, false, false, false, true});
  const bool fit = std::ranges::all_of(lines, [&](std::string& line) {
    line.insert(0, kIndent);
    return display_width(line) <= page.width();
  });
  if (fit && !counters.groups.empty()) page.line(page.inked(kBold, lines.front()));
  std::size_t next = 1;
  for (const CounterGroup& group : counters.groups) {
    page.paragraph(group.title, kBold, kIndent);
    for (std::size_t i = 0; i < group.rows.size(); ++i, ++next) {
      if (fit) {
        page.line(lines[next]);
      } else {
        page.paragraph(counter_sentence(rows[next]), kPlain, kIndent);
      }
    }
  }
  if (!counters.groups.empty()) page.line();
  for (const std::string& sentence : counters.missing) page.paragraph(sentence, kYellow, kIndent);
  if (!counters.missing.empty()) page.line();
}

}  // namespace

std::string table(const model::Run& run, const TableStyle& style) {
  Page page(style);
  Figures shown = figures(run);
  const bool uniform = shown.empty() || is_uniform(shown);
  if (style.distribution && !shown.empty()) {
    Figures wider = with_distribution(shown);
    const std::size_t blocks = Layout(shown, lines_of(shown, uniform), page.width()).blocks();
    if (Layout(wider, lines_of(wider, uniform), page.width()).blocks() == blocks) {
      shown = std::move(wider);
    }
  }
  page.paragraph(heading(run, shown, uniform), kBold);
  page.line();
  if (shown.empty()) {
    print_notices(page, run, shown);
    return std::move(page).text();
  }
  const Layout layout(shown, lines_of(shown, uniform), page.width());
  layout.print(page);
  page.line();
  for (const Figures& observed : observations(run)) {
    Layout(observed, lines_of(observed, uniform), page.width()).print(page);
    page.line();
  }
  if (print_notices(page, run, shown)) page.line();
  std::vector<std::string> sentences = explanation(shown, layout.short_titles());
  if (const auto counters = counter_table(run)) {
    print_counters(page, *counters);
    sentences.insert(sentences.end(), counters->basis.begin(), counters->basis.end());
  }
  if (const std::string machine = provenance(run.environment); !machine.empty()) {
    sentences.push_back(fmt::format("On {}.", machine));
  }
  for (const std::string& each : sentences) page.paragraph(each, kDim);
  return std::move(page).text();
}

}  // namespace taskbench::reports::render
