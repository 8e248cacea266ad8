#include "reports/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/render/columns.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::Gain;
using verdict::LadderVerdict;

std::string times(double ratio) { return fmt::format("{:.{}f}×", ratio, ratio < 9.995 ? 2 : 1); }

std::string gain_interval(const std::optional<Gain>& gain) {
  if (!gain || !gain->interval) return std::string(kNone);
  return fmt::format("{} … {}", times(gain->interval->low), times(gain->interval->high));
}

std::string rung_text(const model::LadderRung& rung) {
  return rung.is_ours ? rung.step + " (ours)" : rung.step;
}

Table table_of(const model::Ladder& ladder, const LadderVerdict& verdict) {
  Table table{
      .caption = "What each step gives.",
      .columns = named_figures({"step", "ns/iteration", "gives",
                                interval_title(verdict::kLadderConfidence), "with all before"})};
  for (std::size_t i = 0; i < verdict.rows.size(); ++i) {
    const auto& [median_ns, step, total] = verdict.rows[i];
    const auto gain_cell = [](const std::optional<Gain>& gain, bool is_shown) {
      Cell cell = raw_part(gain, &Gain::ratio);
      cell.text = is_shown ? times(gain->ratio) : std::string(kNone);
      return cell;
    };
    table.add({rung_text(ladder.rungs[i]),
               {with_separators(median_ns, 0), Tone::plain, median_ns},
               gain_cell(step, step && step->is_sure()),
               gain_interval(step),
               gain_cell(total, total.has_value())});
  }
  return table;
}

/// "In all 12.3× (12.1× … 12.5×); in Tokio's article 12.0×, 2,019,796 → 168,854 ns."
std::string total_text(const LadderVerdict& verdict) {
  const std::optional<Gain>& total = verdict.rows.back().total;
  if (!total) return {};
  std::string text = fmt::format("In all {}", times(total->ratio));
  if (total->interval) text += fmt::format(" ({})", gain_interval(total));
  if (const auto* const documented = verdict.documented) {
    text += fmt::format("; in Tokio's article {}, {} → {} ns", times(documented->ratio()),
                        with_separators(documented->before_ns, 0),
                        with_separators(documented->after_ns, 0));
  }
  return text + '.';
}

std::string heading(const model::Ladder& ladder, const LadderVerdict& verdict) {
  return fmt::format("{}, {}, {}", verdict.workload, counted(ladder.workers, "worker"),
                     counted(verdict.blocks, "block"));
}

constexpr std::string_view kMeaning =
    "Each step adds to those above it. It multiplies the speed by the number shown; a dash means "
    "that this is not clearly more or less than 1. A block is a fresh process that measures all of "
    "them in random order, and only times of the same block are compared.";

/// A waterfall, and the range of its values.
struct Waterfall {
  const LadderVerdict& verdict;
  Extent range{1, 1};

  [[nodiscard]] double total(std::size_t row) const {
    const std::optional<Gain>& gain = verdict.rows[row].total;
    return gain ? std::clamp(gain->ratio, 1e-9, 1e9) : 1;
  }
};

void add_bars(Waterfall& drawing, PlotScript& plot) {
  constexpr int kGrey = kColourCount + 1;
  const auto& rows = drawing.verdict.rows;
  plot.begin_block("bars", "from  to  row  colour  half height");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double from = drawing.total(i - 1);
    const double to = drawing.total(i);
    const bool is_sure = rows[i].step->is_sure();
    const int colour = !is_sure ? kGrey : rows[i].step->ratio > 1 ? kGreen : kVermillion;
    plot.point({from, to, middle_of_row(i), static_cast<double>(colour), is_sure ? 0.34 : 0.1});
    drawing.range.take(to);
  }
  plot.point({1, drawing.total(rows.size() - 1), middle_of_row(rows.size()),
              static_cast<double>(kBlue), 0.34});
  plot.draw(
      "index 0 using 1:3:1:2:($3-$5):($3+$5):4 with boxxyerror fs solid 0.75 noborder lc variable "
      "notitle");
}

void add_links(const Waterfall& drawing, PlotScript& plot) {
  plot.begin_block("links", "place  row");
  for (std::size_t i = 0; i < drawing.verdict.rows.size(); ++i) {
    plot.point({drawing.total(i), middle_of_row(i)});
  }
  plot.draw("index 1 using 1:2:(0):(1) with vectors nohead lw 1 dt (2,3) lc rgb '#606060' notitle");
}

void add_intervals(Waterfall& drawing, PlotScript& plot) {
  const auto& rows = drawing.verdict.rows;
  const int index = plot.begin_block("totals", "total  low  high  row");
  const auto point = [&](std::size_t i, std::size_t row) {
    const auto& interval = rows[i].total->interval;
    const double total = drawing.total(i);
    const double low = interval ? std::clamp(interval->low, 1e-9, 1e9) : total;
    const double high = interval ? std::clamp(interval->high, 1e-9, 1e9) : total;
    drawing.range.take(low);
    drawing.range.take(high);
    plot.point({total, low, high, middle_of_row(row)});
  };
  for (std::size_t i = 1; i < rows.size(); ++i) point(i, i);
  point(rows.size() - 1, rows.size());
  plot.draw("index {} using 1:4:2:3 with xerrorbars lt -1 lw 1.4 pt 7 ps 0.4 notitle", index);
}

void add_factors(Waterfall& drawing, PlotScript& plot) {
  const auto& rows = drawing.verdict.rows;
  const int index = plot.begin_block("factors", "place  row  factor");
  const auto right_end = [&](std::size_t i) {
    const auto& interval = rows[i].total->interval;
    return std::max({drawing.total(i - 1), drawing.total(i), interval ? interval->high : 0});
  };
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].step->is_sure()) plot.point({right_end(i), middle_of_row(i), rows[i].step->ratio});
  }
  const double total = drawing.total(rows.size() - 1);
  plot.point({right_end(rows.size() - 1), middle_of_row(rows.size()), total});
  plot.draw(
      "index {} using 1:2:(sprintf($3 < 9.995 ? '%.2f×' : '%.1f×', $3)) with labels left offset "
      "0.8,0 font small_font notitle",
      index);
}

}  // namespace

Plot waterfall(const model::Ladder& ladder, const LadderVerdict& verdict) {
  constexpr double kWide = 3;
  PlotScript plot(plot_name("ladder", verdict.workload),
                  fmt::format("{}: from tokio01 to work_stealing", verdict.workload));
  Waterfall drawing{verdict};
  add_bars(drawing, plot);
  add_links(drawing, plot);
  add_intervals(drawing, plot);
  add_factors(drawing, plot);
  std::vector<std::string> labels = model::each_of(ladder.rungs, rung_text);
  labels.emplace_back("in all");
  if (verdict.documented != nullptr) {
    const int index = plot.begin_block("the article's total", "ratio  row");
    const double ratio = verdict.documented->ratio();
    plot.point({ratio, middle_of_row(verdict.rows.size())});
    drawing.range.take(ratio);
    plot.draw("index {} using 1:2 with points pt 13 ps 1.6 lt {} title 'total in Tokio''s article'",
              index, kOrange);
  }
  plot.show_title();
  plot.label_rows(labels);
  plot.key_below(1);
  const auto [least, most] = drawing.range;
  const bool is_wide = most > kWide * least;
  plot.line("set xlabel 'times the speed of tokio01{}'", is_wide ? ", logarithmic scale" : "");
  if (is_wide) {
    plot.line("set logscale x; set xtics ({})", logarithmic_ticks(least / 1.1, most * 1.5));
    plot.line("set xrange [{:g}:{:g}]", least / 1.1, most * 1.5);
  } else {
    const double margin = 0.06 * (most - least);
    plot.line("set xrange [{:g}:{:g}]", least - margin, most + 3 * margin);
  }
  plot.plot();
  return std::move(plot).finished(150 + 34 * static_cast<int>(labels.size()));
}

Document document(const model::Ladder& ladder) {
  Document result;
  result.title = "From tokio01 to work_stealing";
  for (const LadderVerdict& verdict : verdict::climb(ladder)) {
    result.plots.push_back(waterfall(ladder, verdict));
    Figure figure{result.plots.back().name,
                  fmt::format("A bar reaches from the speed without its step to the speed with it: "
                              "green is faster, red slower, and a thin grey one is not clearly "
                              "either. The lines at its end are the {} of that total.",
                              interval_title(verdict::kLadderConfidence))};
    result.sections.push_back(
        {replaced(verdict.workload, "_", "-"),
         heading(ladder, verdict),
         {table_of(ladder, verdict), Paragraph{total_text(verdict)}, std::move(figure)}});
  }
  result.lead.emplace_back(std::string(kMeaning), Tone::quiet);
  return result;
}

}  // namespace taskbench::reports::render
