#!/usr/bin/env python3
"""`taskbench report` and `taskbench run --report`: pages from valid and invalid results."""

import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import unittest
from html.parser import HTMLParser

from fake_program import HANGS, fake_gnuplot
from taskbench_command import BINARY, CommandTest, main
from terminal_session import TerminalTest

PAGE = ["index.html", "plots", "report.md"]

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """The contents of a page; fails for elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)


class ReportTest(CommandTest):
    def result(self, path, names=("sort", "hash"), date="2026-01-01T00:00:00Z", ns=100,
               **context):
        rows = [
            {
                "name": name, "run_name": name, "run_type": "iteration", "repetition_index": index,
                "iterations": 10, "time_unit": "ns", "real_time": ns * (1 + index / 100),
                "cpu_time": ns, "items_per_second": 5,
            }
            for name in names for index in range(7)
        ]
        context = {"date": date, "host_name": "host", "num_cpus": 2, **context}
        self.write(path, json.dumps({"context": context, "benchmarks": rows}))
        return path

    def gnuplot(self, body=""):
        """Makes a folder for PATH with a gnuplot that does `body` before it draws."""
        return {"PATH": fake_gnuplot(self.folder / "bin", body)}

    def without_gnuplot(self):
        (self.folder / "bin").mkdir()
        return {"PATH": str(self.folder / "bin")}

    def report(self, *arguments, env=None, **options):
        env = self.gnuplot() if env is None else env
        return self.taskbench("report", *arguments, "--out", "out", env=env, **options)

    def page(self):
        return Page(self.read("out/index.html"))

    def markdown(self):
        return self.read("out/report.md")

    def plots(self, pattern="*"):
        return sorted((self.folder / "out/plots").glob(pattern))


class Written(ReportTest):
    def test_a_page_markdown_and_a_plot_of_each_benchmark(self):
        result = self.report(self.result("r.json"))
        self.assertEqual(result.stderr, "taskbench: note: wrote out/index.html\n")
        self.assertEqual(self.left("out"), PAGE)
        self.assertEqual(self.left("out/plots"), sorted(
            f"{name}.{form}" for form in ("svg", "png")
            for name in ("overview", "distribution-sort", "distribution-hash", "counters-reported")
        ))
        page = self.page()
        self.assertEqual(page.count("svg"), 4)
        self.assertIn("Every dot is one repetition, 7 in each row", page.text)
        for path in re.findall(r"\]\((plots/[^)]*)\)", self.markdown()):
            self.assertTrue((self.folder / "out" / path).exists(), path)

    def test_gnuplot_files_are_kept_on_demand_and_draw_the_same_again(self):
        self.report(self.result("r.json"), "--gnuplot")
        self.assertEqual({path.suffix for path in self.plots()}, {".svg", ".png", ".gp", ".dat"})

    @unittest.skipUnless(shutil.which("gnuplot"), "SKIPPED: gnuplot is not installed")
    def test_the_real_gnuplot_draws_every_kind_of_plot_without_complaint(self):
        self.compared()
        self.result("a.json", ["sort", "hash/8", "hash/64", 'x<&"\'%\\`$(`'])
        self.result("b.json", ["sort", "hash/8"], ns=104, num_cpus=8)
        self.result("least.json", ["least/1", "edge"], ns=1e-15)
        self.result("greatest.json", ["greatest", "edge"], ns=9e29, date="2026-01-02T00:00:00Z")
        self.report("a.json", "b.json", "c.json", "least.json", "greatest.json", "--gnuplot",
                    env={})
        scripts = self.plots("*.gp")
        kinds = {re.split("[-.]", path.name)[0] for path in scripts}
        self.assertEqual(
            kinds, {"overview", "distribution", "counters", "history", "effects", "processes"}
        )
        for script in scripts:
            again = subprocess.run(
                ["gnuplot", script.name], cwd=script.parent, capture_output=True, check=True
            )
            self.assertEqual(again.stderr, b"", script.name)
        page = self.page()
        self.assertEqual(page.count("svg"), len(scripts))
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        self.assertEqual(len(ids), len(set(ids)))

    def test_names_are_text_wherever_they_stand(self):
        hostile = "<script>alert(1)</script>&\"'\u0007|`x`\n# head\u202e"
        self.result("r.json", [hostile], host_name=hostile)
        self.report("r.json")
        page = self.page()
        self.assertEqual(page.count("script"), 1, "the page's own")
        self.assertIn("<script>alert(1)</script>&\"'", page.text)
        self.assertNotIn("\u0007", page.text)
        self.assertNotIn("<script", self.markdown())
        self.assertNotIn("\n# head", self.markdown())
        for name in self.left("out/plots"):
            self.assertRegex(name, r"^[a-z0-9_-]+\.(svg|png)$")

    def test_a_path_that_is_not_utf_8(self):
        path = os.fsencode(self.folder) + b"/r\xff.json"
        os.rename(self.folder / self.result("r.json"), path)
        self.start("report", os.fsdecode(path), "--out", "out", env=self.gnuplot()).communicate()
        self.assertIn("r\ufffd.json", self.page().text)

    def test_links_and_sections_can_be_reached_by_keyboard(self):
        self.report(self.result("r.json"))
        page = self.page()
        ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
        for tag, attrs in page.tags:
            if tag == "a":
                self.assertIn(attrs["href"].removeprefix("#"), ids)
            if "aria-labelledby" in attrs:
                self.assertIn(attrs["aria-labelledby"], ids)
            if tag == "svg":
                self.assertEqual(attrs["role"], "img")
                self.assertTrue(attrs["aria-label"])
            if tag == "th":
                self.assertIn(attrs["scope"], ("row", "col"))

    def test_a_hundred_results_at_once(self):
        paths = [
            self.result(f"h/{day:03}.json", ["sort"], ns=100 + day,
                        date=f"2026-{1 + day // 28:02}-{1 + day % 28:02}T00:00:00Z")
            for day in range(100)
        ]
        self.report(*reversed(paths), "--gnuplot")
        self.assertEqual(len(self.plots("*.svg")), 3)
        self.assertIn("100 results in the order of their dates", self.page().text)
        data = self.read("out/plots/history-sort.dat")
        lines = data.split("# index 1")[1].splitlines()[2:]
        medians = [float(line.split()[0]) for line in lines]
        self.assertEqual(medians, sorted(medians))
        self.assertEqual(len(medians), 100)

    def compared(self):
        self.program("base")
        self.program("head", "sort=1300 hash=500")
        self.taskbench("ab --base ./base --head ./head --max-blocks 8 --json c.json --journal j",
                       status=1)

    def test_a_comparison_shows_its_verdicts(self):
        self.compared()
        self.report("c.json", self.result("r.json"))
        for says in ("c.json: FAIL: sort is ",
                     "8 blocks of 4 processes", "16 a side", "taskbench ab --base ./base"):
            self.assertIn(says, self.page().text)
        self.assertTrue((self.folder / "out/plots/effects.svg").exists())
        self.assertIn("| sort | ", self.markdown())

    def test_a_comparison_of_what_is_the_same_or_does_not_run(self):
        self.program("base")
        self.program("broken", body="sys.exit('boom')")
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        self.taskbench("gate --base ./one --head ./two --json same.json")
        self.taskbench("gate --base ./base --head ./broken --json no.json", status=5)
        self.write("base.json", json.dumps(
            {**self.load("no.json"), "outcome": "no_base", "verdict": "INCONCLUSIVE"}))
        self.report("same.json", "no.json", "base.json")
        text = self.page().text
        self.assertIn("same.json: PASS: nothing was measured, because both are the same", text)
        self.assertIn("no.json: no verdict: head failed while it was measured.", text)
        self.assertIn("base.json: INCONCLUSIVE: head failed while it was measured, so that", text)


class Replaced(ReportTest):
    def test_a_report_is_replaced_and_other_files_stay(self):
        self.report(self.result("r.json", ["old"]))
        self.write("out/notes.txt", "mine")
        self.report(self.result("r.json", ["new"]))
        self.assertIn("new", self.page().text)
        self.assertNotIn("distribution-old", self.markdown())
        self.assertEqual(self.read("out/notes.txt"), "mine")
        self.assertEqual(self.left("out"), sorted([*PAGE, "notes.txt"]))

    def test_what_a_killed_report_has_left_is_removed_by_the_next(self):
        old, young, other = ".taskbench-report-1-0.tmp", ".taskbench-report-2-0.tmp", ".other.tmp"
        held = ".taskbench-report-3-0.tmp"
        for name in (old, young, other, held):
            (self.folder / name / "plots").mkdir(parents=True)
            if name != young:
                os.utime(self.folder / name, (1, 1))
        lock = os.open(self.folder / held, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.report(self.result("r.json", ["a"]))
        left = [name for name in os.listdir(self.folder) if name.endswith(".tmp")]
        self.assertEqual(sorted(left), sorted([young, held, other]))
        os.utime(self.folder / young, (1, 1))  # now old, while the report's folder exists
        self.report("r.json")
        left = [name for name in os.listdir(self.folder) if name.endswith(".tmp")]
        self.assertEqual(sorted(left), sorted([held, other]))

    def test_a_slash_at_the_end_means_nothing(self):
        self.taskbench("report", self.result("r.json"), "--out", "out/", env=self.gnuplot())
        self.assertEqual(self.left(), ["bin", "out", "r.json"])

    def test_what_is_in_the_way_is_left_alone(self):
        self.report(self.result("r.json"))
        before = self.read("out/index.html")
        shutil.rmtree(self.folder / "out/plots")
        self.write("out/plots", "in the way")
        self.result("r.json", ["x"])
        self.refused("report r.json --out out", env=self.gnuplot(),
                     says='where "plots" is a file')
        self.assertEqual(self.read("out/index.html"), before)
        self.assertEqual(self.left("out"), PAGE)


class WithoutPlots(ReportTest):
    """The report is written all the same, and says what is missing and why."""

    def test_gnuplot_is_missing(self):
        env = self.without_gnuplot()
        result = self.report(self.result("r.json", ["sort"]), env=env)
        says = "gnuplot is not installed; on Debian and Ubuntu the package gnuplot-nox provides it."
        self.assertIn(f"note: 2 of 2 plots were not drawn: {says}", result.stderr)
        self.assertIn(f"would appear here: {says}", self.page().text)
        self.assertIn(f"would appear here: {says}", self.markdown())
        self.assertGreater(self.page().count("table"), 1)
        self.report("r.json", "--gnuplot", env=env)  # keeps gnuplot's input
        self.assertIn("distribution-sort.gp", self.left("out/plots"))

    def test_gnuplot_fails(self):
        self.result("r.json", ["sort"])
        for body, says in (
            ("sys.exit('line 7: undefined variable')",
             "gnuplot exited with status 1: line 7: undefined variable"),
            ("import os; os.kill(os.getpid(), 9)", "gnuplot was killed by signal 9"),
            ("import time; time.sleep(600)", "gnuplot did not end in time"),
            ("open(name + '.svg', 'w').write('<svg viewBox=\"0 0 1 1\"><g'); sys.exit()",
             "gnuplot did not finish the drawing; is the disk full?"),
        ):
            with self.subTest(body):
                result = self.report("r.json", "--plot-timeout", "1s", env=self.gnuplot(body))
                self.assertRegex(result.stderr, rf"note: \d of \d plots were not drawn: {says}")
                self.assertRegex(self.page().text, rf"would appear here: {says}")
                self.assertEqual(self.page().count("svg"), 0)
                self.assertEqual(self.left("out"), ["index.html", "report.md"])
                self.assertEqual(self.left(), ["bin", "out", "r.json"])

    def test_one_plot_fails_and_the_others_are_there(self):
        self.report(self.result("r.json"),
                    env=self.gnuplot("if 'hash' in name: sys.exit('no')"))
        self.assertIn("distribution-sort.svg", self.left("out/plots"))
        self.assertNotIn("distribution-hash.svg", self.left("out/plots"))
        self.assertEqual(self.page().count("svg"), 3)


class Refused(ReportTest):
    def test_files_that_cannot_be_read(self):
        self.result("good.json")
        cases = {
            "empty": (b"", "is empty"),
            "cut": ((self.folder / "good.json").read_bytes()[:200], "is not valid JSON"),
            "binary": (bytes(range(256)), "is not valid JSON"),
            "foreign": (b'{"results": []}', "has no benchmark"),
            "nan": (b'{"benchmarks": [{"name": "x", "iterations": 1, "real_time": NaN,'
                    b' "cpu_time": 1}]}', "'x' has \"real_time\": NaN"),
            "half": (b'{"taskbench_paired": 1, "outcome": "jud', "not a sound report of "),
            "later": (b'{"taskbench_paired": 9}', "'taskbench_paired' is 9; this taskbench reads"),
            "bare": (b'{"taskbench_paired": 1, "outcome": "judged"}', "not a sound report of "),
        }
        for name, (content, says) in cases.items():
            self.write(name, content)
            result = self.refused(f"report good.json {name} --out out", says=says)
            self.assertIn(f"{name}: ", result.stderr)
        self.refuse("report --out out", {
            "missing": "missing: does not exist", ".": ".: is a folder"})
        self.assertFalse((self.folder / "out").exists())

    def test_answer_of_compare_is_called_that(self):
        self.result("r.json")
        answer = self.taskbench("compare r.json r.json --format json", status=3)
        self.write("answer", answer.stdout)
        says = "answer: is the answer of `taskbench compare`, not a result: those are written by "
        result = self.refused("report r.json answer --out out", says=says)
        self.assertIn("`taskbench run --json`", result.stderr)
        self.assertIn("`taskbench ab --json`", result.stderr)

    def test_one_result_given_twice_is_refused_whatever_it_is_called(self):
        self.result("r.json")
        shutil.copy(self.folder / "r.json", self.folder / "copy")
        (self.folder / "link").symlink_to("r.json")
        self.refuse("report --out out r.json", {
            again: f"r.json and {again} are the same result; leave one out"
            for again in ("./r.json", "link", "copy")
        })
        self.assertFalse((self.folder / "out").exists())

    def test_arguments(self):
        self.result("r.json")
        self.refuse("report", {
            "--out out": "name the result files",
            "r.json": "--out is missing",
            "r.json --out ''": "--out: the file name is empty",
            "r.json r.json --out out": "'r.json' is given twice",
            "r.json --out out --plot-timeout 0": "--plot-timeout: '0' is out of range",
        })

    def test_places_that_take_no_report(self):
        self.result("r.json")
        self.write("file", "mine")
        for command in ("report r.json --out", "run --report"):
            self.refuse(command, {
                "file": "it is a file; name a folder", "no/such": 'there is no folder "no"'})
        self.assertEqual(self.read("file"), "mine")
        self.assertEqual(self.left(), ["file", "r.json"])

    def test_denied_permission(self):
        self.result("r.json")
        (self.folder / "closed").mkdir(mode=0o555)
        self.refuse("report r.json --out", {
            "closed": "permission denied", "closed/new": "permission denied"}, **self.as_nobody())
        self.assertEqual(self.left("closed"), [])

    def test_full_disk(self):
        self.report(self.result("r.json"))
        before = {path: path.read_bytes() for path in (self.folder / "out").glob("*.*")}
        self.result("r.json", ["new"])
        # A file size limit takes effect at the same place as a full disk, and needs no privilege.
        self.refused(
            "report r.json --out out", env=self.gnuplot(), says="the limit for file sizes",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
        )
        self.assertEqual(self.left("out"), PAGE)
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content)


class OfARun(ReportTest):
    def test_holds_the_result_beside_the_page(self):
        result = self.taskbench("run", *self.small("chained_spawn"), "--report", "out",
                                env=self.gnuplot())
        self.assertIn("note: wrote out/index.html", result.stderr)
        self.assertEqual(self.left("out"), [*PAGE, "result.json"])
        self.assertEqual(len(self.load("out/result.json")["taskbench"]["cases"]), 1)
        self.assertIn("chained_spawn work_stealing", self.page().text)
        self.assertIn("--report out", self.page().text)

    def test_is_enough_of_a_result_for_quiet(self):
        result = self.taskbench("run", *self.small("chained_spawn"), "--report", "out", "--quiet",
                                env=self.gnuplot())
        self.assertEqual(result.stdout + result.stderr, "")
        self.assertIn("index.html", self.left("out"))


class Interrupted(ReportTest):
    """^C while gnuplot draws: SIGINT, and the exit status of a program that it ended."""

    def interrupted(self, *arguments):
        """Interrupts the command while a plot of counters is drawn, which takes forever."""
        hangs = HANGS.format(marker=str(self.folder / "drawing"))
        env = self.gnuplot(f"if name.startswith('counters'):\n    {hangs}")
        errors = self.interrupt(*arguments, when=self.written("drawing"), env=env)
        self.assertEqual([name for name in self.left() if name.startswith(".")], [])
        return errors

    def test_of_a_run_leaves_the_plots_that_are_drawn_and_exits_130(self):
        errors = self.interrupted("run", *self.small("chained_spawn"), "--report", "out")
        self.assertIn("note: 1 of 2 plots were not drawn: gnuplot was interrupted.", errors)
        self.assertEqual(self.left("out"), [*PAGE, "result.json"])
        page = self.page()
        self.assertEqual(page.count("svg"), 1)
        self.assertIn("would appear here: gnuplot was interrupted", page.text)
        self.assertEqual(len(self.load("out/result.json")["taskbench"]["cases"]), 1)

    def test_of_a_report_leaves_none_and_exits_130(self):
        errors = self.interrupted("report", self.result("r.json"), "--out", "out")
        self.assertIn("note: interrupted; no report was written", errors)
        self.assertEqual(self.left(), ["bin", "drawing", "r.json"])

    def test_of_a_report_that_still_reads_ends_at_once(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start("report pipe --out out")
        with open(self.folder / "pipe", "w", encoding="utf-8"):  # opens once the command reads it
            said = process.stderr.readline()
            self.assertEqual(said, "taskbench: reading result 1 of 1, 2 s elapsed\n")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(errors, "taskbench: note: interrupted; no report was written\n")
        self.assertEqual(self.left(), ["pipe"])

    def test_of_a_report_leaves_an_older_one_as_it_was(self):
        self.report(self.result("r.json", ["old"]))
        before = self.read("out/index.html")
        self.interrupted("report", self.result("r.json", ["new"]), "--out", "out")
        self.assertEqual(self.read("out/index.html"), before)
        self.assertEqual(self.left("out"), PAGE)


class Console(TerminalTest):
    def test_distributions_are_drawn_where_they_can_be_seen(self):
        run = ("run --workers 1", *self.small("chained_spawn", repetitions=9))
        for env, drawn in (({}, True), ({"NO_COLOR": "1"}, True), ({"LC_ALL": "C"}, False),
                           ({"TERM": "dumb"}, False)):
            with self.subTest(env):
                text = self.shown(*run, columns=120, env={"LC_ALL": "C.UTF-8", **env})
                self.assertEqual("█" in text, drawn)
                if not env:
                    self.assertIn("distrib", text)
                if "NO_COLOR" in env:
                    self.assertNotIn("\x1b[1m", text)
        pipe = {"LC_ALL": "C.UTF-8", "COLUMNS": "120", "TERM": "xterm"}
        self.assertNotIn("█", self.taskbench(*run, env=pipe).stdout)


if __name__ == "__main__":
    main()
