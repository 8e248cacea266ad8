#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/render.hpp"
#include "reports/render/sparkline.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kGap = 2;

enum class Ink { plain, bold, dim, yellow, red };

/// Wraps text in ANSI colours, or leaves it alone. After padding: the escapes have no width.
class Pen {
 public:
  explicit Pen(bool colour) : colour_(colour) {}

  [[nodiscard]] std::string operator()(Ink ink, std::string text) const {
    if (!colour_ || ink == Ink::plain || text.empty()) {
      return text;
    }
    return fmt::format("\x1b[{}m{}\x1b[0m", code(ink), text);
  }

 private:
  static std::string_view code(Ink ink) {
    switch (ink) {
      case Ink::bold:
        return "1";
      case Ink::dim:
        return "2";
      case Ink::yellow:
        return "33";
      case Ink::red:
        return "31";
      case Ink::plain:
        break;
    }
    return "0";
  }

  bool colour_;
};

/// A spread from which a median deserves suspicion, and one that says nothing.
Ink spread_ink(double percent) {
  return percent > 10 ? Ink::red : percent > 5 ? Ink::yellow : Ink::plain;
}

struct Line {
  std::string label;
  const Row* row = nullptr;  ///< none for a workload's heading
};

std::string with_parameters(std::string label, const model::Case& measured) {
  const std::string parameters = changed_parameters(measured);
  return parameters.empty() ? label : fmt::format("{} {}", label, parameters);
}

/// Whether every row has the same scheduler and worker count, which then stand in the heading.
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
    if (!uniform) {
      lines.push_back({printable(group.workload), nullptr});
    }
    for (const Row& row : group.rows) {
      const std::string label =
          uniform ? group.workload
                  : fmt::format("  {} ×{}", row.measured->scheduler, row.measured->workers);
      lines.push_back({printable(with_parameters(label, *row.measured)), &row});
    }
  }
  return lines;
}

/// The figures in lines and blocks of columns.
class Layout {
 public:
  Layout(const Figures& figures, std::vector<Line> lines, std::size_t width)
      : figures_(figures), lines_(std::move(lines)) {
    for (const Line& line : lines_) {
      label_width_ = std::max(label_width_, display_width(line.label));
    }
    for (const bool short_titles : {false, true}) {
      short_titles_ = short_titles;
      arrange(width);
      if (blocks_.size() == 1) {
        return;
      }
    }
    // Two blocks it is; then there is room for the full titles.
    short_titles_ = false;
    arrange(width);
  }

  [[nodiscard]] bool short_titles() const { return short_titles_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  [[nodiscard]] std::string print(const Pen& pen) const {
    std::string text;
    std::size_t first = 0;
    for (const std::size_t count : blocks_) {
      if (first > 0) {
        text += '\n';
      }
      print_block(text, pen, first, count);
      first += count;
    }
    return text;
  }

 private:
  [[nodiscard]] std::string title(const Column& column) const {
    return std::string(short_titles_ ? column.short_title : column.title);
  }

  void arrange(std::size_t width) {
    widths_.clear();
    std::size_t times = 0;
    for (const Column& column : figures_.columns) {
      widths_.push_back(std::max(display_width(title(column)), display_width(column.unit)));
      times += column.is_counter ? 0 : 1;
    }
    for (const Line& line : lines_) {
      for (std::size_t i = 0; line.row != nullptr && i < widths_.size(); ++i) {
        widths_[i] = std::max(widths_[i], display_width(line.row->cells[i]));
      }
    }
    const std::array<std::size_t, 2> groups = {times, widths_.size() - times};
    blocks_ = distribute(widths_, groups, label_width_, kGap, width);
  }

  void print_block(std::string& text, const Pen& pen, std::size_t first, std::size_t count) const {
    std::string titles(label_width_, ' ');
    std::string units(label_width_, ' ');
    for (std::size_t i = first; i < first + count; ++i) {
      titles += pad_left(title(figures_.columns[i]), widths_[i] + kGap);
      units += pad_left(figures_.columns[i].unit, widths_[i] + kGap);
    }
    const std::size_t width = display_width(units);
    text += pen(Ink::bold, titles) + '\n' + pen(Ink::dim, units) + '\n';
    std::string rule;
    for (std::size_t i = 0; i < width; ++i) {
      rule += "─";
    }
    text += pen(Ink::dim, rule) + '\n';
    for (const Line& line : lines_) {
      print_line(text, pen, line, first, count);
    }
  }

  void print_line(std::string& text, const Pen& pen, const Line& line, std::size_t first,
                  std::size_t count) const {
    if (line.row == nullptr) {
      text += pen(Ink::bold, line.label) + '\n';
      return;
    }
    text += pad_right(line.label, label_width_);
    for (std::size_t i = first; i < first + count; ++i) {
      const bool is_spread = figures_.columns[i].unit == "%";
      const Ink ink = is_spread ? spread_ink(line.row->spread_percent) : Ink::plain;
      text += pen(ink, pad_left(line.row->cells[i], widths_[i] + kGap));
    }
    text += '\n';
  }

  const Figures& figures_;
  std::vector<Line> lines_;
  std::vector<std::size_t> widths_;
  std::vector<std::size_t> blocks_;  ///< columns in each
  std::size_t label_width_ = 0;
  bool short_titles_ = false;
};

/// The figures with one more column, after the times.
Figures with_distribution(Figures figures) {
  constexpr std::size_t kCells = 10;
  constexpr std::size_t kFewest = 3;  // of fewer, the median and the spread say it all
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
  std::string text = "taskbench";
  if (!run.environment.taskbench_version.empty()) {
    text += " " + run.environment.taskbench_version;
  }
  if (!figures.empty() && uniform) {
    const model::Case& any = *figures.groups.front().rows.front().measured;
    text +=
        fmt::format(" · {}, {} worker{}", any.scheduler, any.workers, any.workers == 1 ? "" : "s");
  }
  return text;
}

void print_paragraph(std::string& text, const Pen& pen, Ink ink, std::string_view paragraph,
                     std::size_t width, std::string_view indent = "") {
  for (std::string& line : wrap(printable(paragraph), width, indent)) {
    text += pen(ink, std::move(line)) + '\n';
  }
}

void print_missing(std::string& text, const Pen& pen, const model::Run& run, const Figures& figures,
                   std::size_t width) {
  if (run.cases.empty()) {
    text += "Nothing was measured.\n";
  }
  for (const model::Case* failed : figures.failed) {
    print_paragraph(text, pen, Ink::red, fmt::format("FAILED {}: {}", failed->name, failed->error),
                    width, "  ");
  }
  for (const model::Case* unmeasured : figures.unmeasured) {
    print_paragraph(text, pen, Ink::yellow,
                    fmt::format("NOT MEASURED {}: no repetition was completed", unmeasured->name),
                    width, "  ");
  }
  if (run.partial) {
    print_paragraph(text, pen, Ink::yellow,
                    "PARTIAL: interrupted, some repetitions that were asked for are missing.",
                    width, "  ");
  }
  if (run.environment.build_type == "Debug") {
    print_paragraph(text, pen, Ink::yellow,
                    "This is a Debug build: its times say nothing about an optimised one.", width,
                    "  ");
  }
}

/// A row of the counters as a sentence, for terminals that the columns do not fit.
std::string counter_sentence(const std::vector<std::string>& cells) {
  std::string text = cells.front() + ":";
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    const bool is_remark = i + 1 == cells.size();
    text += fmt::format("{} {}", i > 1 ? "," : "", cells[i]);
    if (!is_remark) text += fmt::format(" {}", kCounterTitles[i]);
  }
  return text;
}

/// The counters under the times: a heading for each case and aligned rows below it.
void print_counters(std::string& text, const Pen& pen, const CounterTable& counters,
                    std::size_t width) {
  constexpr std::string_view kIndent = "  ";
  std::vector<std::vector<std::string>> rows{{kCounterTitles.begin(), kCounterTitles.end()}};
  for (const CounterGroup& group : counters.groups) {
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  }
  std::vector<std::string> lines = aligned(rows, {true, false, false, false, false, true});
  bool fits = true;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    line.insert(0, kIndent);
    fits = fits && display_width(line) <= width;
  }
  if (fits && !counters.groups.empty()) text += pen(Ink::bold, lines.front()) + '\n';
  std::size_t next = 1;
  for (const CounterGroup& group : counters.groups) {
    print_paragraph(text, pen, Ink::bold, group.title, width, kIndent);
    for (std::size_t i = 0; i < group.rows.size(); ++i, ++next) {
      if (fits) {
        text += lines[next] + '\n';
      } else {
        print_paragraph(text, pen, Ink::plain, counter_sentence(rows[next]), width, kIndent);
      }
    }
  }
  if (!counters.groups.empty()) text += '\n';
  for (const std::string& sentence : counters.missing) {
    print_paragraph(text, pen, Ink::yellow, sentence, width, kIndent);
  }
  if (!counters.missing.empty()) text += '\n';
}

}  // namespace

std::string table(const model::Run& run, const TableStyle& style) {
  const std::size_t width = style.columns();
  const Pen pen(style.colour);
  Figures shown = figures(run);
  const bool uniform = shown.empty() || is_uniform(shown);
  if (style.distribution && !shown.empty()) {
    Figures wider = with_distribution(shown);
    const std::size_t blocks = Layout(shown, lines_of(shown, uniform), width).blocks();
    if (Layout(wider, lines_of(wider, uniform), width).blocks() == blocks) shown = std::move(wider);
  }

  std::string text;
  print_paragraph(text, pen, Ink::bold, heading(run, shown, uniform), width);
  text += '\n';
  if (shown.empty()) {
    print_missing(text, pen, run, shown, width);
    return text;
  }
  const Layout layout(shown, lines_of(shown, uniform), width);
  text += layout.print(pen) + '\n';
  const std::size_t before = text.size();
  print_missing(text, pen, run, shown, width);
  if (text.size() > before) {
    text += '\n';
  }
  const auto counters = counter_table(run);
  if (counters) print_counters(text, pen, *counters, width);
  for (const std::string& paragraph : explanation(shown, layout.short_titles())) {
    print_paragraph(text, pen, Ink::dim, paragraph, width);
  }
  for (const std::string& sentence : counters ? counters->basis : std::vector<std::string>{}) {
    print_paragraph(text, pen, Ink::dim, sentence, width);
  }
  if (const std::string machine = provenance(run.environment); !machine.empty()) {
    print_paragraph(text, pen, Ink::dim, fmt::format("On {}.", machine), width);
  }
  return text;
}

}  // namespace taskbench::reports::render
