"""A command on a pseudo-terminal: what a user sees, including key presses."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from taskbench_command import BINARY, CommandTest, command_line, environment, signals_at_default

PATIENCE_S = 60


class TerminalSession:
    """One or both of the output streams are a terminal; the other goes nowhere."""

    def __init__(
        self, arguments, *, columns=100, stdout=True, stderr=True, env=None, cwd=None,
        program=BINARY,
    ):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [program, *command_line(arguments)],
            stdin=slave,
            stdout=slave if stdout else subprocess.DEVNULL,
            stderr=slave if stderr else subprocess.DEVNULL,
            env=environment(**{"TERM": "xterm", **(env or {})}),
            cwd=cwd,
            preexec_fn=self._own_terminal,
            close_fds=True,
        )
        os.close(slave)
        self.text = ""
        self._bytes = b""

    @staticmethod
    def _own_terminal():
        signals_at_default()
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def _read(self, timeout_s):
        """Reads more of the output; False at its end."""
        ready, _, _ = select.select([self.master], [], [], timeout_s)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # EIO: the other side is closed
            return False
        self._bytes += data
        self.text = self._bytes.decode("utf-8", "replace")
        return bool(data)

    def read_until(self, found):
        """Reads until found(text) is true. Fails if the output ends or time runs out first."""
        deadline = time.monotonic() + PATIENCE_S
        while not found(self.text):
            if not self._read(0.1) or time.monotonic() > deadline:
                raise AssertionError(f"not seen in: {self.text!r}")

    def press(self, keys):
        os.write(self.master, keys)

    def finish(self):
        """Reads to the end; returns the exit status."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(0.1) and time.monotonic() < deadline:
            pass
        return self.process.wait(timeout=PATIENCE_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


class TerminalTest(CommandTest):
    def session(self, *arguments, **options):
        """Starts the command on a terminal, in the test's folder."""
        session = TerminalSession(arguments, **{"cwd": self.folder, **options})
        self.addCleanup(session.close)
        return session

    def shown(self, *arguments, **options):
        """Returns everything that a successful command prints to a terminal."""
        session = self.session(*arguments, **options)
        self.assertEqual(session.finish(), 0, session.text)
        return session.text
