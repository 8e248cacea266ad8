#include "reports/render/flame_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "reports/render/html.hpp"

namespace taskbench::reports::render {
namespace {

constexpr double kGraphWidth = 1200;
constexpr double kMargin = 10;
constexpr double kRow = 18;
constexpr double kHead = 84;             // title, legend, and the line for messages of the script
constexpr double kCharacter = 7.0;       // of the monospaced font at 11.5 px
constexpr double kNarrowestShown = 0.3;  // in pixels: no screen shows less of a frame
constexpr double kNarrowest = 0.003;     // a hundredth of that becomes visible when zoomed in

/// Colours of Okabe and Ito, which are distinguishable with colour blindness, lightened for black
/// text; the legend and the tooltips give the same information in words.
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

/// JavaScript for an SVG that stands by itself. A click on a frame, or Enter, makes it as wide as
/// the picture; words in the search field, or in the one that Ctrl-F opens, mark the frames that
/// contain them and show their share; arrows go from frame to frame. Each frame has its first
/// sample (data-o), its number of samples (data-c) and a shorter name (data-n).
constexpr std::string_view kFlameGraphScript = R"js(<script><![CDATA["use strict";
(() => {
const svg = document.documentElement, kSvg = "http://www.w3.org/2000/svg";
const kHtml = "http://www.w3.org/1999/xhtml";
const kWidth = 1200, kMargin = 10, kCharacter = 7, kNarrowest = 0.3;
const make = (space, name, attributes, parent) => {
  const made = document.createElementNS(space, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  parent.append(made);
  return made;
};
const frames = [...svg.querySelectorAll("g.f")].map(group => {
  const box = group.querySelector("rect");
  const title = group.querySelector("title").textContent;
  return {group, box, title, text: group.querySelector("text"),
          name: title.slice(0, title.lastIndexOf(" (")), offset: +group.dataset.o,
          count: +group.dataset.c, y: +box.getAttribute("y"), short: group.dataset.n};
});
if (!frames.length) return;
const total = +svg.dataset.c, all = {offset: 0, count: total, y: Infinity};
const end = frame => frame.offset + frame.count;
const holds = (outer, inner) => outer.offset <= inner.offset && end(outer) >= end(inner);
const percent = count => (100 * count / total).toFixed(1) + " %";
let zoomed = all, focused = null;

// As in the drawing that is there: the function before its namespaces.
const label = (frame, width) => {
  const room = Math.max(0, Math.floor((width - 6) / kCharacter));
  if (room < 3) return "";
  let text = frame.short ?? frame.name;
  const last = text.lastIndexOf("::");
  if (text.length > room && last >= 0) text = text.slice(last + 2);
  return text.length <= room ? text : text.slice(0, room - 1) + "…";
};
const place = frame => {
  const below = holds(frame, zoomed) && frame.y >= zoomed.y && frame !== zoomed;
  const scale = (kWidth - 2 * kMargin) / zoomed.count;
  const within = holds(zoomed, frame) && frame.y <= zoomed.y;
  const width = below ? kWidth - 2 * kMargin : frame.count * scale;
  const x = below ? kMargin : kMargin + (frame.offset - zoomed.offset) * scale;
  const shown = (below || within) && width >= kNarrowest;
  frame.shown = shown;
  frame.group.classList.toggle("s", !shown);
  frame.group.classList.toggle("below", below);
  if (!shown) return;
  frame.box.setAttribute("x", x.toFixed(2));
  frame.box.setAttribute("width", width.toFixed(2));
  const text = label(frame, width);
  if (text && !frame.text) {
    frame.text = make(kSvg, "text", {y: (frame.y + 12.5).toFixed(1)}, frame.group);
  }
  if (!frame.text) return;
  frame.text.setAttribute("x", (x + 3).toFixed(2));
  frame.text.textContent = text;
};

const status = make(kSvg, "text", {class: "note", x: kMargin, y: 76, role: "status"}, svg);
const say = text => { status.textContent = text; };
const zoom = frame => {
  zoomed = frame;
  frames.forEach(place);
  reset.disabled = frame === all && !search.value;
  say(frame === all ? "" : `Zoomed in on ${frame.title}`);
};
const focus = frame => {
  if (!frame) return;
  if (focused) focused.group.setAttribute("tabindex", "-1");
  focused = frame;
  frame.group.setAttribute("tabindex", "0");
  frame.group.focus();
  say(frame.title);
};

const mark = () => {
  const words = search.value.toLowerCase();
  let matched = 0, until = -1;
  // In the order of the drawing a frame comes before what it called: each sample counts once.
  for (const frame of frames) {
    const matches = words !== "" && frame.name.toLowerCase().includes(words);
    frame.group.classList.toggle("m", matches);
    if (!matches || frame.offset < until) continue;
    until = end(frame);
    matched += frame.count;
  }
  reset.disabled = zoomed === all && !words;
  say(words ? `${percent(matched)} of all samples match “${search.value}”` : "");
};

const field = make(kSvg, "foreignObject", {x: kWidth - 370, y: 4, width: 360, height: 30}, svg);
const bar = make(kHtml, "div", {class: "bar"}, field);
const search = make(kHtml, "input", {type: "search", placeholder: "Search (Ctrl-F)",
                                     "aria-label": "Search for frames"}, bar);
const reset = make(kHtml, "button", {type: "button"}, bar);
reset.textContent = "Reset";
reset.disabled = true;
const restore = () => { search.value = ""; mark(); zoom(all); };
search.addEventListener("input", mark);
reset.addEventListener("click", () => { restore(); search.focus(); });

const near = (frame, key) => {
  const shown = frames.filter(each => each.shown && each !== frame);
  const above = each => each.y < frame.y && holds(frame, each);
  const row = shown.filter(each => each.y === frame.y);
  const greatest = (list, of) => list.reduce(
    (best, each) => best === null || of(each) > of(best) ? each : best, null);
  if (key === "ArrowUp") return greatest(shown.filter(above), each => each.y * total + each.count);
  if (key === "ArrowDown") {
    return greatest(shown.filter(each => each.y > frame.y && holds(each, frame)),
                    each => -each.y);
  }
  if (key === "ArrowLeft") {
    return greatest(row.filter(each => each.offset < frame.offset), each => each.offset);
  }
  return greatest(row.filter(each => each.offset > frame.offset), each => -each.offset);
};
for (const frame of frames) {
  frame.shown = !frame.group.classList.contains("s");
  frame.group.setAttribute("role", "button");
  frame.group.setAttribute("tabindex", "-1");
  frame.group.setAttribute("aria-label", frame.title);
  frame.group.addEventListener("click", () => { focus(frame); zoom(frame); });
  frame.group.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") zoom(frame);
    else if (event.key.startsWith("Arrow")) focus(near(frame, event.key));
    else return;
    event.preventDefault();
  });
}
focused = frames[0];
focused.group.setAttribute("tabindex", "0");
addEventListener("keydown", event => {
  const finds = (event.ctrlKey || event.metaKey) && event.key === "f";
  // A second Ctrl-F is the browser's own.
  if (finds && document.activeElement !== search) {
    search.focus();
    search.select();
    event.preventDefault();
  }
  if (event.key === "Escape") restore();
});
svg.classList.add("alive");
})();
]]></script>
)js";

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
  if (name.starts_with("taskbench::workloads")) return "workload";
  return name.starts_with("taskbench::") ? "rt" : "other";
}

/// The part of the name that fits, the function rather than its namespaces; empty if fewer than
/// three characters fit.
std::string label_of(std::string_view name, double width) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
  if (room < 3) return {};
  std::string text = short_symbol(name);
  const auto last = text.rfind("::");
  if (text.size() > room && last != std::string::npos) text.erase(0, last + 2);
  if (text.size() <= room) return text;
  std::size_t cut = room - 1;  // not within a UTF-8 character
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

  /// Draws the children of a node; `offset` is its first sample, counted from the left.
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
