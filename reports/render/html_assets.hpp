// The appearance of a page in a browser and on paper, and its behaviour if scripts run.
#pragma once

#include <string_view>

namespace taskbench::reports::render {

/// CSS: light or dark like the reader's system, narrow screens, print. The tones are colours of
/// Okabe and Ito, darkened or lightened to a contrast of 4.5 to 1 with the background.
inline constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1a1c1f; --soft: #565d66;
  --line: #d5d9de; --stripe: #f6f7f9; --panel: #f1f3f5; --link: #0060a0;
  --good: #00684c; --bad: #b03a00; --doubtful: #7d5600; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --ink: #e6e8ea; --soft: #a4acb5;
  --line: #363c43; --stripe: #1a1e22; --panel: #1f2429; --link: #7cc4f2;
  --good: #3fc79a; --bad: #ff8a4c; --doubtful: #edb73a; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0 auto; max-width: 66rem; padding: 1.5rem 1.25rem 4rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
  "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 .75rem; padding-top: .75rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
p { margin: .5rem 0; max-width: 48rem; }
header p, p.quiet { color: var(--soft); }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, [tabindex="0"]:focus-visible, button:focus-visible,
input:focus-visible { outline: 3px solid
  var(--link); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -100vw; background: var(--page); padding: .5rem 1rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0;
  margin: 1rem 0 0; }
ul { padding-left: 1.25rem; }
main li { margin: .25rem 0; max-width: 48rem; }
p.good, p.bad, p.doubtful, li.good, li.bad, li.doubtful { color: var(--ink); padding: .4rem .75rem;
  border-left: .3rem solid; background: var(--panel); }
p.good, li.good { border-left-color: var(--good); }
p.bad, li.bad { border-left-color: var(--bad); }
p.doubtful, li.doubtful { border-left-color: var(--doubtful); }
li.good, li.bad, li.doubtful { list-style: none; margin-left: -1.25rem; }
td.good, th.good { color: var(--good); font-weight: 600; }
td.bad, th.bad { color: var(--bad); font-weight: 600; }
td.doubtful, th.doubtful { color: var(--doubtful); font-weight: 600; }
.wide, .plot { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; margin: 1rem 0; min-width: 50%;
  overflow-wrap: normal; }
caption { text-align: left; color: var(--soft); padding-bottom: .4rem; }
caption span { display: block; position: sticky; left: 0;
  max-width: min(48rem, calc(100vw - 2.5rem)); }
details caption { display: none; }
th, td { padding: .3rem .7rem; text-align: left; vertical-align: top; unicode-bidi: isolate;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom-width: 2px; vertical-align: bottom; font-weight: 600; }
tbody th { font-weight: 500; min-width: 9rem; max-width: 28rem; overflow-wrap: break-word; }
thead th button { all: unset; cursor: pointer; font: inherit; }
thead th button:focus-visible { outline: 3px solid var(--link); }
thead th button:hover { text-decoration: underline; }
thead th button::after { content: " ↕"; color: var(--soft); opacity: .6; font-weight: 400; }
th[aria-sort] button::after { content: " ▲"; opacity: 1; }
th[aria-sort="descending"] button::after { content: " ▼"; }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .5rem; margin: 1rem 0 0;
  color: var(--soft); font-size: .9rem; }
.tools [role="status"] { margin-left: .25rem; }
.tools input, .tools button { font: inherit; color: var(--ink); background: var(--panel);
  border: 1px solid var(--soft); border-radius: .25rem; padding: .15rem .5rem; }
.tools button { cursor: pointer; }
.tools button:disabled { opacity: .45; cursor: default; }
.tools input { width: 16rem; max-width: 60vw; }
tbody tr:nth-child(even) { background: var(--stripe); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead .number { white-space: normal; }
td:not(.number) { min-width: 6rem; max-width: 40rem; overflow-wrap: break-word; }
td.good, td.bad, td.doubtful { overflow-wrap: normal; }
figure { margin: 1.25rem 0 2rem; }
figcaption { color: var(--soft); font-size: .9rem; max-width: 48rem; margin-top: .4rem; }
.plot svg { display: block; width: 100%; min-width: 42rem; height: auto; }
.missing { border: 1px dashed var(--soft); padding: 1.5rem; color: var(--soft); max-width: none; }
summary { cursor: pointer; color: var(--link); margin: .75rem 0; }
.label { color: var(--soft); margin-bottom: .2rem; }
pre { background: var(--panel); padding: .75rem 1rem; overflow-x: auto; margin: 0 0 1rem;
  font-size: .85rem; white-space: pre-wrap; }
@media (max-width: 40rem) { body { padding: 1rem .75rem 3rem; } h1 { font-size: 1.4rem; }
  table { font-size: .82rem; } th, td { padding: .25rem .45rem; } }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@media print { :root { --page: #ffffff; --ink: #000000; --soft: #333333; --line: #999999;
  --stripe: #ffffff; --panel: #ffffff; --link: #000000; --good: #00684c; --bad: #b03a00;
  --doubtful: #7d5600; }
  body { max-width: none; padding: 0; font-size: 9.5pt; } nav, .skip, .tools { display: none; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; }
  .wide, .plot { overflow: visible; } .plot svg { min-width: 0; max-height: 22cm; }
  table { font-size: 7.5pt; } th, td { padding: .15rem .3rem; } pre { border: 1px solid #999999; } }
)css";

/// JavaScript: sorts tables by a click on a heading, filters them by words, and shows long ones in
/// pages. It needs nothing outside the page. Without it each table is complete: the rows after the
/// first are in a <noscript>, which a browser that runs scripts does not build.
inline constexpr std::string_view kPageScript = R"js("use strict";
(() => {
const kPage = 100, kFilterFrom = 8, kPrinted = 5000, kRowEnd = "\x3c/tr>";
const order = new Intl.Collator("en", {numeric: true});
const count = number => number.toLocaleString("en");
const entities = {amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'"};
const plain = html => html.replace(/<[^>]*>/g, "")
  .replace(/&(amp|lt|gt|quot|#39);/g, (all, name) => entities[name]);
const make = (name, attributes, ...content) => {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...content);
  return made;
};

class Row {
  constructor(html) { this.html = html; }
  // Each is made when it is first asked for: a table may have a hundred thousand rows.
  get words() { return this.lower ??= plain(this.html.replace(/<\/t/g, "\n$&")).toLowerCase(); }
  key(column, isNumber) {
    const cell = this.html.split(/<\/t[hd]>/)[column] ?? "";
    const text = plain(cell).trim();
    if (!isNumber) return text;
    const value = /<t[hd][^>]* data-v="([^"]*)"/.exec(cell);
    return parseFloat(value ? value[1] : text.replaceAll(",", ""));
  }
}

const enhance = table => {
  const body = table.tBodies[0], frame = table.closest(".wide");
  const rest = frame.nextElementSibling?.matches("noscript") ? frame.nextElementSibling : null;
  const pieces = body.innerHTML.split(kRowEnd).slice(0, -1);
  if (rest) {
    const text = rest.textContent;
    const from = text.indexOf("<tr", text.indexOf("<tbody"));
    for (const piece of text.slice(from).split(kRowEnd).slice(0, -1)) pieces.push(piece);
    rest.remove();
  }
  if (pieces.length < 2) return;
  const rows = pieces.map(piece => new Row(piece + kRowEnd));
  const heads = [...table.tHead.rows[0].cells];
  let sorted = rows, view = rows, page = 0, column = -1, direction = 1;

  const status = make("span", {role: "status"});
  const filter = make("input", {type: "search", placeholder: "words of a row"});
  const moves = [["First", () => 0], ["Previous", () => page - 1], ["Next", () => page + 1],
                 ["Last", last => last]].map(([name, target]) => {
    const button = make("button", {type: "button"}, name);
    button.addEventListener("click", () => { page = target(pages() - 1); show(); });
    return button;
  });
  const pages = () => Math.max(1, Math.ceil(view.length / kPage));
  const put = shown => { body.innerHTML = shown.map(row => row.html).join(""); };
  const show = () => {
    page = Math.min(Math.max(0, page), pages() - 1);
    put(view.slice(page * kPage, (page + 1) * kPage));
    const first = view.length ? page * kPage + 1 : 0;
    const last = Math.min(view.length, (page + 1) * kPage);
    status.textContent = (pages() > 1 ? `${count(first)} to ${count(last)} of ` : "") +
      (view.length < rows.length ? `${count(view.length)} rows of ${count(rows.length)}`
                                 : `${count(rows.length)} rows`);
    moves.forEach((button, i) => {
      button.hidden = pages() === 1;
      button.disabled = i < 2 ? page === 0 : page === pages() - 1;
    });
  };
  const choose = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(word => word);
    view = words.length ? sorted.filter(row => words.every(word => row.words.includes(word)))
                        : sorted;
    page = 0;
    show();
  };
  const sortBy = chosen => {
    direction = chosen === column ? -direction : 1;
    column = chosen;
    const isNumber = heads[column].classList.contains("number");
    const keyed = rows.map(row => [row.key(column, isNumber), row]);
    const compare = isNumber
      ? (a, b) => isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : direction * (a - b)
      : (a, b) => direction * order.compare(a, b);
    sorted = keyed.sort((a, b) => compare(a[0], b[0])).map(pair => pair[1]);
    heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    choose();
  };

  heads.forEach((head, i) => {
    const button = make("button", {type: "button", title: "Sort by this column"},
                        ...head.childNodes);
    button.addEventListener("click", () => sortBy(i));
    head.append(button);
  });
  let waiting = 0;
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, rows.length > kPrinted ? 200 : 0);
  });
  if (rows.length >= kFilterFrom) {
    frame.before(make("div", {class: "tools"}, make("label", {}, "Filter ", filter), ...moves,
                      status));
    show();
  }
  addEventListener("beforeprint", () => { if (view.length <= kPrinted) put(view); });
  addEventListener("afterprint", show);
};

for (const table of document.querySelectorAll("main .wide > table")) enhance(table);
})();
)js";

}  // namespace taskbench::reports::render
