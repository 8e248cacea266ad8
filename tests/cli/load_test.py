#!/usr/bin/env python3
"""`taskbench run --load wrk`, with fake and broken wrks."""

import os
import sys

from taskbench_command import CommandTest, main

CASE = "http_hello/{}/workers:1/load:wrk"

# Asks 40 times on one connection, and reports 30 answers, because wrk leaves out the last ones.
WRK = """#!{python} -IS
import os, socket, sys
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + chr(10))
if sys.argv[1:] == ["-v"]:
    print("wrk debian/4.1.0-3 [epoll] Copyright (C) 2012 Will Glozer\\nUsage: wrk <url>")
    sys.exit(1)
port = int(sys.argv[-1].split(":")[2].rstrip("/"))
with socket.create_connection(("127.0.0.1", port)) as server:
    for _ in range(40):
        server.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
        answer = b""
        while not answer.endswith(b"world!"):
            answer += server.recv(1000)
{body}
print('''Running 1s test @ http://127.0.0.1/
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   590.77us  130.72us   1.50m    78.79%
    Req/Sec    84.96k     2.28k   88.20k    72.73%
  Latency Distribution
     50%  594.00us
     75%  661.00us
     90%    0.92ms
     99%    2.00s
  30 requests in 1.10s, 13.36MB read{errors}
Requests/sec:  84502.40
Transfer/sec:     12.17MB''')
"""


class Load(CommandTest):
    def wrk(self, body="", errors=""):
        """Returns an environment with a wrk in it."""
        text = WRK.format(python=sys.executable, log=str(self.folder / "wrk.log"), body=body,
                          errors=errors)
        self.write("bin/wrk", text, 0o755)
        return {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def loaded(self, options="", status=0, env=None):
        return self.taskbench("run http_hello --load wrk --workers 1 --min-time 1 --repetitions 1 "
                              f"--json r.json {options}", status=status, env=env or self.wrk())

    def test_what_wrk_prints_stands_where_the_own_clients_figures_do(self):
        result = self.loaded("--scheduler work_stealing,current_thread --param requests=10")
        self.assertIn("requests_per_s", result.stdout)
        cases = self.load("r.json")["taskbench"]["cases"]
        rows = self.load("r.json")["benchmarks"]
        self.assertEqual(self.read("wrk.log").splitlines()[0], "-v")
        self.assertRegex(self.read("wrk.log").splitlines()[1],
                         r"^-t1 -c50 -d1 --latency http://127\.0\.0\.1:\d+/$")
        for case, row, scheduler in zip(cases, rows, ("work_stealing", "current_thread")):
            name = CASE.format(scheduler).replace("/load", "/requests:10/load")
            self.assertEqual((case["name"], row["name"]), (name, name))
            self.assertEqual(case["load"], {"name": "wrk", "version": "debian/4.1.0-3"})
            self.assertEqual(row["iterations"], 3)
            self.assertEqual(
                {figure: row[figure] for figure in case["observed"]},
                {"requests_per_s": 84502.4, "latency_p50_ns": 594e3, "latency_p75_ns": 661e3,
                 "latency_p90_ns": 920e3, "latency_p99_ns": 2e9, "latency_slowest_ns": 90e9})

    def test_a_wrk_that_fails_is_not_laid_to_the_server(self):
        for body, says in (("sys.exit('no more threads')", "exited with status 1: no more threads"),
                           ("print('bogus'); sys.exit()", "output is not understood: 'bogus'"),
                           ("print('  1.5x requests in 2s, 3MB read')", "'  1.5x requests in"),
                           ("print('Requests/sec: 7'); sys.exit()", "no latencies"),
                           ("os.kill(os.getpid(), 9)", "killed by signal 9")):
            with self.subTest(body):
                result = self.loaded(status=4, env=self.wrk(body))
                self.assertIn(f"taskbench: error: {CASE.format('work_stealing')}: ", result.stderr)
                self.assertIn(says, result.stderr)

    def test_errors_of_the_server_are_failures_of_the_workload(self):
        for errors in ("Socket errors: connect 0, read 2, write 0, timeout 0",
                       "Non-2xx or 3xx responses: 4"):
            with self.subTest(errors):
                result = self.loaded(status=5, env=self.wrk(errors=f"\n  {errors}"))
                self.assertIn(f"wrk reports errors: {errors}", result.stderr)
        none = "Socket errors: connect 0, read 0, write 0, timeout 0"
        self.loaded(env=self.wrk(errors=f"\n  {none}"))

    def test_what_the_server_did_not_see_was_not_answered(self):
        env = self.wrk("print('  41 requests in 1s, 1MB read'); print = lambda text: "
                       "sys.stdout.write(text.replace('  30 req', '  41 req') + chr(10))")
        result = self.loaded(status=5, env=env)
        self.assertIn("requests at the server", result.stderr)

    def test_no_wrk_is_one_line_that_names_the_package(self):
        (self.folder / "empty").mkdir()
        result = self.loaded(status=4, env={"PATH": str(self.folder / "empty")})
        self.assertEqual(result.stderr, "taskbench: error: wrk is not installed; the package wrk "
                                        "provides it\n")
        self.assertEqual(result.stdout, "")

    def test_interrupted_it_does_not_wait_for_wrk(self):
        marker = str(self.folder / "begun")
        env = self.wrk(f"open({marker!r}, 'w'); import time; time.sleep(600)")
        self.interrupt("run http_hello --load wrk --workers 1", when=self.written("begun"), env=env)

    def test_what_is_refused(self):
        self.refuse("run", {
            "echo --load wrk": "--load: wrk cannot load 'echo'",
            "--load wrkk": "did you mean 'wrk'?",
            "--load wrk --min-time 500ms": "--min-time: wrk takes whole seconds, not 500ms",
            "--load wrk --min-time 1.5": "whole seconds, not 1500ms",
            "--load wrk --time-budget 1m": "--time-budget",
            "--load wrk --counters basic": "--counters",
        })

    def test_without_names_it_runs_what_it_can_load(self):
        listed = self.taskbench("run --load wrk --workers 1 --list").stdout
        self.assertEqual(listed, CASE.format("work_stealing") + "\n")


if __name__ == "__main__":
    main()
