// What a page can do in a browser that runs scripts.
#pragma once

#include <string_view>

namespace taskbench::reports::render {

/// JavaScript: tables are sorted by a click on a heading, filtered by words, and long ones shown in
/// pages. It asks for nothing outside of the page. Without it each table stands there whole: the
/// rows beyond the first are in a <noscript>, which a browser that runs scripts does not build.
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
  }
  if (rows.length > kPage) show();
  addEventListener("beforeprint", () => { if (view.length <= kPrinted) put(view); });
  addEventListener("afterprint", show);
};

for (const table of document.querySelectorAll("main .wide > table")) enhance(table);
})();
)js";

}  // namespace taskbench::reports::render
