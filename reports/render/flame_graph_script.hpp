// What a flame graph can do in a browser.
#pragma once

#include <string_view>

namespace taskbench::reports::render {

/// JavaScript, for an SVG that stands by itself: a click on a frame, or Enter, makes it as wide as
/// the picture; words in the search field, or in that which Ctrl-F opens, mark the frames that have
/// them and tell their share; arrows go from frame to frame. Of each frame it reads the first
/// sample (data-o), their count (data-c) and a shorter name (data-n).
inline constexpr std::string_view kFlameGraphScript = R"js(<script><![CDATA["use strict";
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

}  // namespace taskbench::reports::render
