#!/usr/bin/env python3
"""The pages and pictures of `taskbench report` and `taskbench profile` in a real browser: Chromium,
headless."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fake_program import fake_perf
from taskbench_command import CommandTest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)
SKIPPED = 77  # the exit status by which ctest calls a test skipped

# Appended to a copy of the page: returns what the browser has made of it.
MEASURE = """
const box = each => { const r = each.getBoundingClientRect(); return [r.width, r.height]; };
return {
  svgs: [...document.querySelectorAll("svg")].map(box),
  strokes: [...document.querySelectorAll("svg path, svg use")]
    .map(each => getComputedStyle(each)).map(style => [style.stroke, style.color]),
  inks: [...document.querySelectorAll("svg text")].map(each => getComputedStyle(each).fill),
  tables: [...document.querySelectorAll("table")].filter(each => !each.closest("details")).map(box),
  headings: [...document.querySelectorAll("h1,h2,h3")].map(each => each.textContent),
  wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  background: getComputedStyle(document.body).backgroundColor,
};"""

# Sorts, filters and pages the table of results of a large report.
USE_TABLE = """
const table = document.querySelector("#results table"), tools = document.querySelector(".tools");
const heads = [...table.tHead.rows[0].cells], seen = {};
const names = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent);
const note = name => {
  seen[name] = {names: names(), says: tools.querySelector("[role=status]").textContent,
                sorts: heads.map(head => head.getAttribute("aria-sort"))};
};
const buttons = [...tools.querySelectorAll("button")];
const button = name => buttons.find(each => each.textContent === name);
const input = tools.querySelector("input");
const filter = words => {
  input.value = words;
  input.dispatchEvent(new Event("input"));
  return new Promise(done => setTimeout(done, 20));
};
note("first");
button("Last").click();
note("last");
button("First").click();
heads[1].querySelector("button").click();
note("fastest");
heads[1].querySelector("button").click();
note("slowest");
heads[0].querySelector("button").click();
note("by name");
await filter("  B7 3");
note("filtered");
await filter("no such row");
note("none");
await filter("");
note("all");
seen.controls = ["First", "Previous", "Next", "Last"].map(name => button(name).disabled);
seen.small = document.querySelectorAll("#environment .tools").length;
seen.focusable = heads.every(head => head.querySelector("button").tabIndex === 0);
return seen;"""

# Zooms and searches in a flame graph.
USE_FLAMES = """
const svg = document.documentElement, seen = {};
const frame = name => [...svg.querySelectorAll("g.f")]
  .find(each => each.querySelector("title").textContent.startsWith(name + " ("));
const width = name => Math.round(frame(name).querySelector("rect").getAttribute("width"));
const shown = name => getComputedStyle(frame(name)).display !== "none";
const says = () => svg.querySelector("[role=status]").textContent;
const press = (target, key, more) => target.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, ...more}));
const active = () => document.activeElement.querySelector("title")?.textContent;
seen.before = [width("ping"), shown("sibling"), shown("narrow")];
frame("caller").dispatchEvent(new MouseEvent("click", {bubbles: true}));
seen.zoomed = [width("worker"), width("caller"), width("ping"), shown("sibling"), says()];
seen.label = frame("caller").querySelector("text").textContent;
press(document.activeElement, "ArrowUp");
seen.above = active();
press(document.activeElement, "Enter");
seen.keyed = [width("ping"), says()];
press(document.activeElement, "ArrowDown");
seen.below = active();
press(document.activeElement, "Escape");
seen.reset = [width("ping"), shown("sibling")];
frame("narrow").dispatchEvent(new MouseEvent("click", {bubbles: true}));
seen.narrow = [shown("narrow"), width("narrow")];
press(document.activeElement, "Escape");
press(svg, "f", {ctrlKey: true});
const search = document.activeElement;
seen.field = search.localName;
search.value = "PING";
search.dispatchEvent(new Event("input"));
seen.marked = [...svg.querySelectorAll("g.m title")].map(each => each.textContent);
seen.says = says();
svg.querySelector("foreignObject button").click();
seen.unmarked = [svg.querySelectorAll("g.m").length, says(), search.value];
return seen;"""


def answering(script):
    """Runs `script` in the page; its result becomes the attribute data-seen of the root."""
    return ("(async () => {" + script + "})().then(seen => { document.documentElement.dataset.seen "
            "= JSON.stringify(seen); });")


class InABrowser(CommandTest):
    """Pages are made once; a browser takes a second to start, so each does as much as it can."""

    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp(prefix="taskbench-browser-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)

    def page_of_a_run(self):
        path = self.place / "run/index.html"
        if not path.exists():
            self.taskbench("run", *self.small("chained_spawn", "ping_pong", repetitions=7),
                           "--workers", "1,2", "--report", self.place / "run", "--quiet")
        return path.read_text(encoding="utf-8")

    def page_of_many(self, count):
        rows = [{"name": f"b{i}", "run_name": f"b{i}", "run_type": "iteration", "iterations": 1,
                 "repetition_index": 0, "time_unit": "us", "cpu_time": 1,
                 "real_time": 1 + 7919 * i % count} for i in range(count)]
        self.write("many.json", json.dumps({"benchmarks": rows}))
        self.taskbench("report many.json --out many", env={"PATH": ""})  # no plots
        return self.read("many/index.html")

    def flame_graph(self):
        stacks = [(900, ["worker", "caller", "ping"]), (299, ["worker", "sibling"]),
                  (4000, ["worker", "wide"]), (1, ["worker", "wide", "ping_narrow", "narrow"])]
        script = "".join(
            f"{stack[0]} 12 \n" + "".join(f"\t  1 {name}\n" for name in reversed(stack[1:])) + "\n"
            for samples, stack in stacks for _ in range(samples))
        self.taskbench("profile chained_spawn --param length=10 --workers 1 --duration 20ms "
                       "--out flames", env={"PATH": fake_perf(self.folder / "bin", script=script)})
        return self.read("flames/profile.svg")

    def browse(self, page, *flags, script="", width=1100, name="seen.html"):
        """Returns the result of `script` in the page, and the output on the browser's console."""
        path = self.folder / name
        if script:
            own, end = f"<script>{answering(script)}</script>", "</body>"
            if name.endswith(".svg"):
                own, end = f"<script><![CDATA[{answering(script)}]]></script>", "</svg>"
            at = page.rindex(end)
            page = page[:at] + own + page[at:]
        path.write_text(page, encoding="utf-8")
        result = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", f"--user-data-dir={self.folder}/profile", "--enable-logging=stderr",
             "--v=0", f"--window-size={width},900", "--virtual-time-budget=5000", *flags,
             "--dump-dom", path.as_uri()],
            capture_output=True, encoding="utf-8", errors="replace", timeout=100, check=True,
            env={**os.environ, "HOME": str(self.folder)},
        )
        console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
        seen = re.search('data-seen="([^"]*)"', result.stdout)
        if script and not seen:
            self.fail("\n".join(console) or result.stdout[-2000:])
        answer = seen and json.loads(seen.group(1).replace("&quot;", '"').replace("&amp;", "&"))
        return answer, console

    def measured(self, *flags, **options):
        seen, console = self.browse(self.page_of_a_run(), *flags, script=MEASURE, **options)
        self.assertEqual(console, [])
        return seen

    def test_is_drawn_without_a_word_on_the_console(self):
        self.assertIn("chained_spawn work_stealing", self.page_of_a_run())
        seen = self.measured()
        self.assertGreaterEqual(len(seen["tables"]), 3)
        for width, height in seen["tables"]:
            self.assertGreater(width, 100)
            self.assertGreater(height, 30)
        self.assertEqual(seen["headings"][0], "taskbench report")
        if shutil.which("gnuplot"):
            self.assertEqual(len(seen["svgs"]), 9)
        for width, height in seen["svgs"]:
            self.assertGreater(width, 600)
            self.assertGreater(height, 100)

    def test_a_fault_on_the_console_would_be_seen(self):
        page = self.page_of_a_run().replace("</body>", "<script>nothing.here();</script></body>")
        self.assertEqual(len(self.browse(page)[1]), 1)

    def test_a_narrow_screen_scrolls_tables_and_plots_and_not_the_page(self):
        self.assertFalse(self.measured(width=500)["wide"])

    def test_a_verdict_is_never_broken_within_a_word(self):
        name = "a_benchmark_with_a_long_name/of_a_scheduler/workers:1"
        sides = [word for side in ("base", "head")
                 for word in (f"--{side}", self.program(side, f"{name}=1000", noise=0.3))]
        self.taskbench("ab --max-blocks 8 --json c.json", *sides, status=3)
        self.taskbench("report c.json --out page", env={"PATH": ""})  # no plots
        lines = """
return [...document.querySelectorAll("td.doubtful")].map(cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return [cell.textContent, text.getClientRects().length];
});"""
        for width in (1000, 500):
            seen, _ = self.browse(self.read("page/index.html"), script=lines, width=width)
            self.assertIn(["INCONCLUSIVE", 1], seen)

    def test_names_in_tables_are_not_broken_within_a_word(self):
        page = self.taskbench("run chained_spawn ping_pong --param length=10 --min-time 1ms "
                              "--repetitions 2 --scheduler work_stealing,ladder_batch_overflow "
                              "--workers 2 --format html").stdout
        broken = """
const broken = [];
for (const cell of document.querySelectorAll("tbody th, tbody td")) {
  for (const word of cell.textContent.matchAll(/\\S+/g)) {
    const text = document.createRange();
    text.setStart(cell.firstChild, word.index);
    text.setEnd(cell.firstChild, word.index + word[0].length);
    if (text.getClientRects().length > 1) broken.push(word[0]);
  }
}
return broken;"""
        self.assertIn("ladder_batch_overflow ×2", page)
        for width in (1000, 500):
            self.assertEqual(self.browse(page, script=broken, width=width)[0], [])

    def test_dark_pages_have_light_writing_in_their_plots(self):
        seen = self.measured("--blink-settings=preferredColorScheme=0")
        self.assertEqual(seen["background"], "rgb(20, 23, 26)")
        for ink in seen["inks"]:
            self.assertGreater(min(map(int, re.findall(r"\d+", ink)[:3])), 120, ink)
        self.assertNotIn("rgb(0, 0, 0)", sum(seen["strokes"], []))

    def test_a_dark_ladder_has_light_lines(self):
        self.taskbench("ladder chained_spawn --budget 1s --max-blocks 1 --repetitions 1 --min-time "
                       "1ms --param length=10 --quiet --report ladder")
        seen, console = self.browse(self.read("ladder/index.html"),
                                    "--blink-settings=preferredColorScheme=0", script=MEASURE)
        self.assertEqual(console, [])
        if shutil.which("gnuplot"):
            self.assertGreater(len(seen["strokes"]), 20)
        self.assertNotIn("rgb(0, 0, 0)", sum(seen["strokes"], []))

    def test_a_table_on_one_page_has_a_filter_and_no_pager(self):
        for count, shown in ((8, []), (100, []), (101, ["First", "Previous", "Next", "Last"])):
            with self.subTest(count):
                buttons, console = self.browse(self.page_of_many(count), script="""
                  return [...document.querySelector(".tools").querySelectorAll("button")]
                    .filter(each => each.getBoundingClientRect().width > 0)
                    .map(each => each.textContent);""")
                self.assertEqual(console, [])
                self.assertEqual(buttons, shown)

    def test_tables_are_sorted_filtered_and_paged(self):
        seen, console = self.browse(self.page_of_many(2500), script=USE_TABLE)
        self.assertEqual(console, [])
        self.assertEqual(seen["first"]["names"], [f"b{i}" for i in range(100)])
        self.assertEqual(seen["first"]["says"], "1 to 100 of 2,500 rows")
        self.assertEqual(seen["last"]["names"], [f"b{i}" for i in range(2400, 2500)])
        # Sorted by time, not as text: "1.000 µs" to "2.500 ms".
        times = sorted(range(2500), key=lambda i: 7919 * i % 2500)
        self.assertEqual(seen["fastest"]["names"], [f"b{i}" for i in times[:100]])
        self.assertEqual(seen["fastest"]["sorts"][:3], [None, "ascending", None])
        self.assertEqual(seen["slowest"]["names"], [f"b{i}" for i in reversed(times[-100:])])
        self.assertEqual(seen["slowest"]["sorts"][:3], [None, "descending", None])
        self.assertEqual(seen["by name"]["names"][:3], ["b0", "b1", "b2"])
        self.assertEqual(seen["by name"]["sorts"][:3], ["ascending", None, None])
        for name in seen["filtered"]["names"]:
            self.assertIn("b7", name)
        self.assertIn("b73", seen["filtered"]["names"])
        self.assertRegex(seen["filtered"]["says"], r"\d+ rows of 2,500$")
        self.assertEqual(seen["none"]["names"], [])
        self.assertEqual(seen["all"]["says"], "1 to 100 of 2,500 rows")
        self.assertEqual(seen["controls"], [True, True, False, False])
        self.assertEqual(seen["small"], 0)
        self.assertTrue(seen["focusable"])

    def test_without_scripts_the_table_is_whole(self):
        page = self.page_of_many(1500)
        page = re.sub("(?s)<script>.*?</script>", "", page)
        page = page.replace("<noscript>", "<div>").replace("</noscript>", "</div>")
        counts = 'return [...document.querySelectorAll("#results tbody")].map(e => e.rows.length);'
        self.assertEqual(self.browse(page, script=counts)[0], [1000, 500])

    def test_a_flame_graph_is_zoomed_and_searched(self):
        seen, console = self.browse(self.flame_graph(), script=USE_FLAMES, name="seen.svg")
        self.assertEqual(console, [])
        self.assertEqual(seen["before"], [204, True, False])  # 900 of 5,200 samples in 1,180 px
        self.assertEqual(
            seen["zoomed"],
            [1180, 1180, 1180, False, "Zoomed in on caller (900 of 5200 samples, 17.3 %)"])
        self.assertEqual(seen["label"], "caller")
        self.assertEqual(seen["above"], "ping (900 of 5200 samples, 17.3 %)")
        self.assertEqual(seen["keyed"], [1180, "Zoomed in on ping (900 of 5200 samples, 17.3 %)"])
        self.assertEqual(seen["below"], "caller (900 of 5200 samples, 17.3 %)")
        self.assertEqual(seen["reset"], [204, True])
        self.assertEqual(seen["narrow"], [True, 1180])
        self.assertEqual(seen["field"], "input")
        self.assertEqual(len(seen["marked"]), 2)
        self.assertEqual(seen["says"], "17.3 % of all samples match “PING”")
        self.assertEqual(seen["unmarked"], [0, "", ""])


if __name__ == "__main__":
    if BROWSER is None:
        print("SKIPPED: no Chromium here; scripts/install-deps test brings it", flush=True)
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
