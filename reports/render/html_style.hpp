// How a report looks in a browser and on paper.
#pragma once

#include <string_view>

namespace taskbench::reports::render {

/// CSS: light and dark as the reader's system is, narrow screens, print. The tones are colours of
/// Okabe and Ito, darkened or lightened until they stand out from the background by 4.5 to 1.
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
header p { color: var(--soft); }
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
tbody th { font-weight: 500; min-width: 9rem; max-width: 28rem; overflow-wrap: anywhere; }
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
td:not(.number) { min-width: 6rem; max-width: 40rem; overflow-wrap: anywhere; }
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

}  // namespace taskbench::reports::render
