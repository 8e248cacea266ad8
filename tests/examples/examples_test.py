#!/usr/bin/env python3
"""Runs the programs of examples/, found in the folder given as the first argument."""

import contextlib
import errno
import http.server
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path


class Pages(http.server.BaseHTTPRequestHandler):
    """Sends one page in chunks, after an interim answer at /?early, and less than it has announced
    at /cut; gives no answer at /silence until the client has gone."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/silence":
            self.connection.recv(1)
            return
        if self.path == "/?early":
            self.send_response_only(103)
            self.end_headers()
        self.send_response(200)
        if self.path == "/cut":
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"the beginning")
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in ("one ", "and another", ""):
            self.wfile.write(f"{len(chunk):x}\r\n{chunk}\r\n".encode())

    def log_message(self, *_):
        pass


class Examples(unittest.TestCase):
    folder = None

    def run_example(self, name, *arguments, check=True):
        return subprocess.run([self.folder / name, *arguments], capture_output=True,
                              encoding="utf-8", timeout=60, check=check)

    @contextlib.contextmanager
    def server(self, name, **options):
        """Starts a program that prints where it listens; yields it and a function that connects to
        it."""
        with subprocess.Popen([self.folder / name, "127.0.0.1:0"], stdout=subprocess.PIPE,
                              encoding="utf-8", **options) as process:
            try:
                said = process.stdout.readline()
                port = int(re.fullmatch(r"listening at 127\.0\.0\.1:(\d+)\n", said)[1])
                yield process, lambda: socket.create_connection(("127.0.0.1", port), timeout=60)
            finally:
                process.kill()

    def test_the_model_of_the_ring_holds_and_finds_the_bug(self):
        self.assertRegex(self.run_example("ring_model").stdout,
                         r"^\d+ executions, all as it should be\n$")
        found = self.run_example("ring_model_with_bug", check=False)
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertIn("data race", found.stdout)
        self.assertRegex(found.stdout, r"(?m)^ +\d+ +\d +store +#\d+ .* ring\.hpp:\d+$")

    def test_timer_future_waits_two_seconds_between_its_lines(self):
        begun = time.monotonic()
        result = self.run_example("timer_future")
        self.assertEqual((result.stdout, result.stderr), ("howdy!\ndone!\n", ""))
        self.assertGreaterEqual(time.monotonic() - begun, 2)

    def test_echo_server_ends_when_it_was_told_to_and_its_connections_have_ended(self):
        for told in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(told), self.server("echo_server") as (process, connect):
                with connect() as one, connect() as other:
                    for connection in (one, other):
                        connection.sendall(b"hello")
                        self.assertEqual(connection.recv(5, socket.MSG_WAITALL), b"hello")
                    process.send_signal(told)
                    self.assertEqual(process.stdout.readline(), "no more connections\n")
                    self.assertRaises(ConnectionRefusedError, connect)
                    other.sendall(b"still served")
                    self.assertEqual(other.recv(12, socket.MSG_WAITALL), b"still served")
                    self.assertIsNone(process.poll())
                self.assertEqual(process.wait(timeout=60), 0)

    def test_chat_tells_everybody_but_who_said_it(self):
        with self.server("chat") as (_, connect):
            with contextlib.ExitStack() as stack:
                guests = []
                for others in range(3):
                    connection = stack.enter_context(connect())
                    guests.append(connection.makefile("rw", newline="\n"))
                    self.assertEqual(guests[-1].readline(), f"welcome; others here: {others}\n")
                    if others == 0:
                        name = "%s:%d: " % connection.getsockname()
                for part in ("hello, ", "all\n"):
                    guests[0].write(part)
                    guests[0].flush()
                for guest in guests[1:]:
                    self.assertEqual(guest.readline(), name + "hello, all\n")

    def test_chat_goes_on_after_more_guests_came_than_it_has_descriptors_for(self):
        with self.server("chat", stderr=subprocess.PIPE) as (process, connect):
            limit = len(os.listdir(f"/proc/{process.pid}/fd")) + 4
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (limit, limit))
            with contextlib.ExitStack() as stack:
                for _ in range(8):
                    stack.enter_context(connect())
                self.assertIn(os.strerror(errno.EMFILE), process.stderr.readline())
            with connect() as guest:
                self.assertRegex(guest.makefile().readline(), "^welcome; others here: ")

    def test_http_client_gets_a_page_or_gives_up_in_time(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
            threading.Thread(target=server.serve_forever).start()
            url = "http://localhost:%d" % server.server_port
            try:
                page = self.run_example("http_client", url + "/page")
                self.assertEqual(page.stdout, "one and another")
                self.assertIn("HTTP/1.1 200 OK\n", page.stderr)
                early = self.run_example("http_client", url + "?early")
                self.assertEqual(early.stdout, "one and another")
                self.assertTrue(early.stderr.startswith("HTTP/1.1 200 OK\n"), early.stderr)
                part = self.run_example("http_client", url + "#part")
                self.assertEqual(part.stdout, "one and another")
                cut = self.run_example("http_client", url + "/cut", check=False)
                self.assertEqual((cut.returncode, cut.stdout, cut.stderr),
                                 (1, "", "http_client: the server's answer was cut\n"))
                late = self.run_example("http_client", url + "/silence", "1", check=False)
                self.assertEqual((late.returncode, late.stderr),
                                 (1, "http_client: no answer in time\n"))
            finally:
                server.shutdown()

    def test_http_client_takes_only_a_whole_number_of_seconds(self):
        for seconds in ("soon", "2x", "-1", ""):
            with self.subTest(seconds):
                result = self.run_example("http_client", "http://127.0.0.1:1/", seconds,
                                          check=False)
                self.assertEqual((result.returncode, result.stderr),
                                 (1, "http_client: SECONDS is a whole number\n"))

    def test_payments_pass_with_ten_thousand_seeds(self):
        self.assertEqual(self.run_example("payments_test").stdout, "10000 seeds passed\n")

    def test_payments_do_not_pass_without_a_seed(self):
        for seeds in ("0", "-1", "many"):
            with self.subTest(seeds):
                result = self.run_example("payments_test", seeds, check=False)
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (1, "", "payments_test: SEEDS is a whole number, 1 or more\n"))

    def test_a_bug_in_payments_is_found_by_a_seed_that_finds_it_again(self):
        found = self.run_example("payments_test_with_bug", check=False)
        message = re.match(r"seed (\d+) failed, after \d+ that passed: .*: not so: (each payment "
                           r"is booked once: the balance is \d+)\n", found.stderr)
        self.assertEqual((found.returncode, found.stdout), (1, ""))
        last = re.search(r"what happened last:\n(.*)TASKBENCH", found.stderr, re.DOTALL)[1]
        again = [subprocess.run([self.folder / "payments_test_with_bug"], capture_output=True,
                                encoding="utf-8", timeout=60,
                                env={**os.environ, "TASKBENCH_TEST_SEED": message[1]})
                 for _ in range(2)]
        self.assertEqual(again[0].stderr, again[1].stderr)
        self.assertIn(message[2], again[0].stderr)
        self.assertIn(last, again[0].stderr)


if __name__ == "__main__":
    Examples.folder = Path(sys.argv.pop(1))
    unittest.main()
