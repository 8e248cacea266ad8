#!/usr/bin/env python3
"""The page of `taskbench report` in a real browser: Chromium, headless."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from taskbench_command import CommandTest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)
SKIPPED = 77  # ctest says so, too

# Put at the end of a copy of the page: what the browser has made of it goes into its title.
MEASURE = """<script>
const box = each => { const r = each.getBoundingClientRect(); return [r.width, r.height]; };
document.title = JSON.stringify({
  svgs: [...document.querySelectorAll("svg")].map(box),
  inks: [...document.querySelectorAll("svg text")].map(each => getComputedStyle(each).fill),
  tables: [...document.querySelectorAll("table")].filter(each => !each.closest("details")).map(box),
  headings: [...document.querySelectorAll("h1,h2,h3")].map(each => each.textContent),
  wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  background: getComputedStyle(document.body).backgroundColor,
});
</script></body>"""


class InABrowser(CommandTest):
    def setUp(self):
        super().setUp()
        self.taskbench("run", *self.small("chained_spawn", "ping_pong", repetitions=7),
                       "--workers", "1,2", "--report", "out", "--quiet")
        self.page = (self.folder / "out/index.html").read_text(encoding="utf-8")

    def browse(self, page, *flags, width=1100):
        """The document as the browser sees it after loading, and what its console said."""
        path = self.folder / "out/seen.html"
        path.write_text(page, encoding="utf-8")
        result = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", f"--user-data-dir={self.folder}/profile", "--enable-logging=stderr",
             "--v=0", f"--window-size={width},900", *flags, "--dump-dom", path.as_uri()],
            capture_output=True, encoding="utf-8", errors="replace", timeout=100, check=True,
            env={**os.environ, "HOME": str(self.folder)},
        )
        console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
        return result.stdout, console

    def measured(self, *flags, **options):
        page, console = self.browse(self.page.replace("</body>", MEASURE), *flags, **options)
        self.assertEqual(console, [])
        title = re.search("<title>(.*?)</title>", page, re.S).group(1)
        return json.loads(title.replace("&quot;", '"').replace("&amp;", "&"))

    def test_is_drawn_without_a_word_on_the_console(self):
        page, console = self.browse(self.page)
        self.assertEqual(console, [])
        self.assertIn("chained_spawn work_stealing", page)
        seen = self.measured()
        self.assertGreaterEqual(len(seen["tables"]), 3)
        for width, height in seen["tables"]:
            self.assertGreater(width, 100)
            self.assertGreater(height, 30)
        self.assertEqual(seen["headings"][0], "taskbench report")
        if shutil.which("gnuplot"):
            self.assertEqual(len(seen["svgs"]), 4)
        for width, height in seen["svgs"]:
            self.assertGreater(width, 600)
            self.assertGreater(height, 100)

    def test_a_fault_on_the_console_would_be_seen(self):
        page = self.page.replace("</body>", "<script>nothing.here();</script></body>")
        self.assertEqual(len(self.browse(page)[1]), 1)

    def test_a_narrow_screen_scrolls_tables_and_plots_and_not_the_page(self):
        self.assertFalse(self.measured(width=500)["wide"])

    def test_dark_pages_have_light_writing_in_their_plots(self):
        seen = self.measured("--blink-settings=preferredColorScheme=0")
        self.assertEqual(seen["background"], "rgb(20, 23, 26)")
        for ink in seen["inks"]:
            self.assertGreater(min(map(int, re.findall(r"\d+", ink)[:3])), 120, ink)


if __name__ == "__main__":
    if BROWSER is None:
        print("SKIPPED: no Chromium here; scripts/install-deps test brings it", flush=True)
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
