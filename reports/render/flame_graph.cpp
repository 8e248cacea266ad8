#include "reports/render/flame_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "reports/render/flame_graph_script.hpp"
#include "reports/render/html.hpp"

namespace taskbench::reports::render {
namespace {

constexpr double kGraphWidth = 1200;
constexpr double kMargin = 10;
constexpr double kRow = 18;
constexpr double kHead = 84;             // title, legend, and the line in which the script speaks
constexpr double kCharacter = 7.0;       // of the monospaced font at 11.5 px
constexpr double kNarrowestShown = 0.3;  // less of a frame no screen shows
constexpr double kNarrowest = 0.003;     // but a hundredth of that, when it is zoomed in on

/// Colours of Okabe and Ito, which the colour-blind can tell apart, made light enough for black
/// text; the legend and the tooltips say the same in words.
constexpr std::string_view kStyle = R"(<style>
svg { background: #ffffff; font: 11.5px ui-monospace, "DejaVu Sans Mono", monospace; }
.title { font: bold 16px system-ui, sans-serif; fill: #111111; }
.note { font: 12px system-ui, sans-serif; fill: #444444; }
rect { stroke: #ffffff; stroke-width: 0.6; }
.f text { fill: #111111; pointer-events: none; }
.rt rect, rect.rt { fill: #8ccbf0; }
.workload rect, rect.workload { fill: #f2c14e; }
.kernel rect, rect.kernel { fill: #66c2a5; }
.other rect, rect.other { fill: #cccccc; }
.f:hover rect, .f:focus-visible rect { stroke: #111111; stroke-width: 1.6; }
.f:focus { outline: none; }
.alive .f { cursor: pointer; }
.s { display: none; }
.below { opacity: 0.55; }
.f.m rect { fill: #e05ccf; }
.bar { display: flex; gap: 6px; justify-content: flex-end; font: 13px system-ui, sans-serif; }
.bar input, .bar button { font: inherit; color: #111111; background: #ffffff;
  border: 1px solid #777777; border-radius: 4px; padding: 2px 8px; }
.bar input { width: 200px; }
.bar button:disabled { opacity: 0.45; }
@media (prefers-color-scheme: dark) {
  svg { background: #16181d; }
  .title { fill: #f0f0f0; }
  .note { fill: #c0c0c0; }
  rect { stroke: #16181d; }
  .f:hover rect, .f:focus-visible rect { stroke: #ffffff; }
  .bar input, .bar button { color: #f0f0f0; background: #2a2e36; border-color: #888888; }
}
</style>
)";

struct Node {
  std::int64_t samples = 0;
  std::map<std::string, Node> children;  // by name, so that equal profiles look equal
};

Node tree_of(const model::Profile& profile) {
  Node root;
  for (const auto& [stack, count] : profile.stacks) {
    Node* node = &root;
    node->samples += count;
    for (const std::string& frame : stack) {
      node = &node->children[frame];
      node->samples += count;
    }
  }
  return root;
}

std::size_t depth_of(const Node& node) {
  std::size_t deepest = 0;
  for (const auto& [name, child] : node.children) deepest = std::max(deepest, 1 + depth_of(child));
  return deepest;
}

std::string_view kind_of(std::string_view name) {
  if (name.ends_with("_[k]")) return "kernel";
  const bool is_harness = name.starts_with("taskbench::workloads::measure");
  if (name.starts_with("taskbench::workloads") && !is_harness) return "workload";
  return name.starts_with("taskbench::") ? "rt" : "other";
}

/// As much of the name as fits, the function before the namespaces that it is in; none where that
/// is less than three characters.
std::string label_of(std::string_view name, double width) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
  if (room < 3) return {};
  std::string text = short_symbol(name);
  const auto last = text.rfind("::");
  if (text.size() > room && last != std::string::npos) text.erase(0, last + 2);
  if (text.size() <= room) return text;
  std::size_t cut = room - 1;  // not within a character of several bytes
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return text.substr(0, cut) + "…";
}

class Drawing {
 public:
  Drawing(const Node& root, std::size_t depth)
      : per_sample_((kGraphWidth - 2 * kMargin) /
                    static_cast<double>(std::max<std::int64_t>(1, root.samples))),
        total_(root.samples),
        bottom_(kHead + static_cast<double>(depth) * kRow) {}

  /// `offset` is the first sample of the node, counted from the left.
  void draw(const Node& node, std::int64_t offset, std::size_t level) {
    for (const auto& [name, child] : node.children) {
      if (static_cast<double>(child.samples) * per_sample_ >= kNarrowest) {
        frame(name, child, offset, level);
        draw(child, offset, level + 1);
      }
      offset += child.samples;
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void frame(const std::string& name, const Node& node, std::int64_t offset, std::size_t level) {
    const double x = kMargin + static_cast<double>(offset) * per_sample_;
    const double width = static_cast<double>(node.samples) * per_sample_;
    const double y = bottom_ - static_cast<double>(level + 1) * kRow;
    const std::string shorter = short_symbol(name);
    text_ += fmt::format(
        "<g class=\"f {}{}\" data-o=\"{}\" data-c=\"{}\"{}>"
        "<title>{} ({} of {} samples, {:.1f} %)</title>"
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" rx=\"1.5\"/>",
        kind_of(name), width < kNarrowestShown ? " s" : "", offset, node.samples,
        shorter == name ? std::string() : fmt::format(" data-n=\"{}\"", render::text(shorter).html),
        render::text(name).html, node.samples, total_,
        100 * static_cast<double>(node.samples) / static_cast<double>(total_), x, y, width,
        kRow - 1);
    if (const std::string label = label_of(name, width); !label.empty()) {
      text_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", x + 3, y + 12.5,
                           render::text(label).html);
    }
    text_ += "</g>\n";
  }

  double per_sample_;
  std::int64_t total_;
  double bottom_;
  std::string text_;
};

std::string legend() {
  std::string text;
  double x = kMargin;
  for (const auto& [kind, meaning] :
       {std::pair{"rt", "taskbench: the scheduler and the harness"},
        std::pair{"workload", "the workload"}, std::pair{"kernel", "the kernel"},
        std::pair{"other", "libraries, threads and the rest"}}) {
    text += fmt::format(
        "<rect class=\"{}\" x=\"{:.0f}\" y=\"46\" width=\"12\" height=\"12\"/>"
        "<text class=\"note\" x=\"{:.0f}\" y=\"56\">{}</text>\n",
        kind, x, x + 17, meaning);
    x += 40 + 6.6 * static_cast<double>(std::string_view(meaning).size());
  }
  return text;
}

}  // namespace

std::string folded(const model::Profile& profile) {
  std::string text;
  for (const auto& [stack, count] : profile.stacks) {
    text += fmt::format("{} {}\n", fmt::join(stack, ";"), count);
  }
  return text;
}

std::string short_symbol(std::string_view name) {
  std::string result;
  int depth = 0;
  for (const char each : name) {
    if (each == '>') --depth;
    if (depth < 0) return std::string(name);  // operator> and the like
    if (depth == 0) result += each;
    if (each == '<') ++depth;
  }
  if (depth != 0) return std::string(name);
  for (const std::string_view part : {"taskbench::", "(anonymous namespace)::", "<>"}) {
    for (auto at = result.find(part); at != std::string::npos; at = result.find(part)) {
      result.erase(at, part.size());
    }
  }
  return result.empty() ? std::string(name) : result;
}

std::string flame_graph(const model::Profile& profile, std::string_view title) {
  const Node root = tree_of(profile);
  const std::size_t depth = depth_of(root);
  Drawing drawing(root, depth);
  drawing.draw(root, 0, 0);
  const double height = kHead + static_cast<double>(depth) * kRow + kMargin;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "width=\"{0:.0f}\" height=\"{1:.0f}\" data-c=\"{2}\" "
             "aria-labelledby=\"title note\">\n",
             kGraphWidth, height, root.samples) +
         std::string(kStyle) +
         fmt::format(
             "<text id=\"title\" class=\"title\" x=\"{0:.0f}\" y=\"20\">{1}</text>\n"
             "<text id=\"note\" class=\"note\" x=\"{0:.0f}\" y=\"38\">Width: share of the "
             "{2} samples. Callers are below callees; rest the pointer on a frame for its "
             "full name. In a browser, click to zoom in; Esc zooms out.</text>\n",
             kMargin, render::text(title).html, root.samples) +
         legend() + drawing.text() + std::string(kFlameGraphScript) + "</svg>\n";
}

}  // namespace taskbench::reports::render
