#!/usr/bin/env python3
"""Our gRPC server and client against those of others: Python's grpcio as client and as server, and
h2load. The first argument is grpc_peer."""

import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

try:
    import grpc
except ImportError:
    # Packages of the system are meant for its own interpreter.
    SYSTEMS = "/usr/bin/python3"
    if os.path.exists(SYSTEMS) and not os.path.samefile(SYSTEMS, sys.executable):
        os.execv(SYSTEMS, [SYSTEMS, *sys.argv])
    grpc = None

GREETER = "/helloworld.Greeter/SayHello"
NO_GRPC = "Python's grpc is missing: scripts/install-deps test installs python3-grpcio"
NO_H2LOAD = "h2load is missing: scripts/install-deps test installs nghttp2-client"


def field_1(text):
    """Returns a message of the greeter, whose only field is a string."""
    data = text.encode()
    assert len(data) < 128
    return b"\n" + bytes([len(data)]) + data


class OurServer:
    """For a with statement, which gets the server's address."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdout=subprocess.PIPE,
                                        encoding="utf-8")
        said = self.process.stdout.readline()
        self.address = re.fullmatch(r"listening at (127\.0\.0\.1:\d+)\n", said)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ends_when_asked(self):
        """Asks the server to end; returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


class PeerTest(unittest.TestCase):
    program = None


@unittest.skipUnless(grpc, NO_GRPC)
class GrpcioAsClient(PeerTest):
    def setUp(self):
        self.server = self.enterContext(OurServer(self.program))
        channel = grpc.insecure_channel(self.server.address, options=[
            ("grpc.max_receive_message_length", 8 << 20)])
        self.channel = self.enterContext(channel)

    def call(self, path, message=b"", **options):
        return self.channel.unary_unary(path).with_call(message, timeout=options.pop("timeout", 60),
                                                        **options)

    def fails(self, code, *arguments, **options):
        with self.assertRaises(grpc.RpcError) as raised:
            self.call(*arguments, **options)
        self.assertEqual(raised.exception.code(), code, raised.exception)
        return raised.exception

    def test_a_greeting(self):
        for name in ("", "world", "Zoë"):
            reply, _ = self.call(GREETER, field_1(name))
            self.assertEqual(reply, field_1("Hello " + name))

    def test_messages_larger_than_the_windows(self):
        for size in (0, 65_535, 65_536, 3_000_000, (4 << 20)):
            message = bytes(range(256)) * (size // 256 + 1)
            reply, _ = self.call("/test.Peer/Echo", message[:size])
            self.assertTrue(reply == message[:size], size)

    def test_headers_and_trailers_of_its_own(self):
        own = (("x-text", "some"), ("x-bytes-bin", b"\0\1\xff"))
        _, call = self.call("/test.Peer/Echo", b"x", metadata=own)
        for there in (call.initial_metadata(), call.trailing_metadata()):
            self.assertEqual([(key, value) for key, value in there if key.startswith("x-")],
                             list(own))

    def test_what_is_wrong(self):
        status = grpc.StatusCode
        self.assertIn("no method", self.fails(status.UNIMPLEMENTED, "/a.B/C").details())
        failed = self.fails(status.PERMISSION_DENIED, "/test.Peer/Fail", "50 %, é\n".encode())
        self.assertEqual(failed.details(), "50 %, é\n")
        self.fails(status.INVALID_ARGUMENT, GREETER, b"\xff")
        self.fails(status.RESOURCE_EXHAUSTED, "/test.Peer/Echo", bytes((4 << 20) + 1))
        self.fails(status.UNIMPLEMENTED, "/test.Peer/Echo", bytes(10_000),
                   compression=grpc.Compression.Gzip)
        self.fails(status.DEADLINE_EXCEEDED, "/test.Peer/TakeTime", b"30000", timeout=0.05)
        reply, _ = self.call(GREETER, field_1("still there"))
        self.assertEqual(reply, field_1("Hello still there"))

    def test_calls_that_are_cancelled(self):
        for _ in range(20):
            call = self.channel.unary_unary("/test.Peer/TakeTime").future(b"30000")
            call.cancel()
            self.assertTrue(call.cancelled())
        reply, _ = self.call(GREETER, field_1("still there"))
        self.assertEqual(reply, field_1("Hello still there"))

    def test_many_calls_on_one_connection(self):
        calls = [self.channel.unary_unary("/test.Peer/Echo").future(b"%d" % i, timeout=60)
                 for i in range(500)]
        self.assertEqual([call.result() for call in calls], [b"%d" % i for i in range(500)])

    def test_calls_under_way_end_before_the_server(self):
        call = self.channel.unary_unary("/test.Peer/TakeTime").future(b"500", timeout=60)
        self.call(GREETER)
        self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(call.result(), b"done")
        self.assertEqual(self.server.process.wait(timeout=60), 0)
        self.fails(grpc.StatusCode.UNAVAILABLE, GREETER)


class Handlers(grpc.GenericRpcHandler if grpc else object):
    """A server that records what it is asked."""

    def __init__(self):
        self.noted = []
        self.gone = threading.Event()

    def service(self, details):
        method = {"/test.Peer/Echo": self.echo, "/test.Peer/TakeTime": self.take_time,
                  "/test.Peer/Fail": self.fail}.get(details.method)
        return method and grpc.unary_unary_rpc_method_handler(method)

    def echo(self, request, context):
        own = [(key, value) for key, value in context.invocation_metadata() if key == "x-from"]
        context.send_initial_metadata(own)
        context.set_trailing_metadata([("x-trailer", "last")])
        return request

    def take_time(self, request, context):
        self.noted.append(context.time_remaining())
        context.add_callback(self.gone.set)
        for _ in range(int(request) // 10):
            time.sleep(0.01)
            if not context.is_active():
                break
        return b"done"

    def fail(self, request, context):
        context.abort(grpc.StatusCode.PERMISSION_DENIED, request.decode())


@unittest.skipUnless(grpc, NO_GRPC)
class GrpcioAsServer(PeerTest):
    def setUp(self):
        self.handlers = Handlers()
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4),
                                  handlers=[self.handlers])
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        self.addCleanup(lambda: self.server.stop(None).wait())

    def call(self, path, message, *more):
        return subprocess.run([self.program, "call", f"127.0.0.1:{self.port}", path, message,
                               *map(str, more)],
                              capture_output=True, encoding="utf-8", timeout=60, check=True).stdout

    def test_a_message_with_headers_and_trailers(self):
        self.assertEqual(self.call("/test.Peer/Echo", "hello"),
                         "1: status 0, text '', message 'hello', headers x-from=taskbench, "
                         "trailers x-trailer=last\n")

    def test_messages_larger_than_the_windows(self):
        self.assertIn("status 0, text '', message 3000000 bytes,",
                      self.call("/test.Peer/Echo", "@3000000"))

    def test_many_calls_on_one_connection(self):
        self.assertRegex(self.call("/test.Peer/Echo", "hello", 0, 300),
                         r"^300: status 0, .*message 'hello'")

    def test_what_is_wrong(self):
        self.assertIn("status 7, text 'not é, 50 %',", self.call("/test.Peer/Fail", "not é, 50 %"))
        self.assertIn("status 12, text 'Method not found!',", self.call("/a.B/C", ""))
        self.assertIn("status 8,", self.call("/test.Peer/Echo", "@5000000"))

    def test_a_deadline_cancels_the_call(self):
        begun = time.monotonic()
        self.assertIn("status 4, ", self.call("/test.Peer/TakeTime", "30000", 500))
        self.assertLess(time.monotonic() - begun, 20)
        self.assertTrue(self.handlers.gone.wait(20))
        self.assertLess(self.handlers.noted[0], 0.5, "it is told how much time there is")

    def test_a_server_that_is_not_there_or_no_server_of_grpc(self):
        self.server.stop(None).wait()
        result = subprocess.run([self.program, "call", f"127.0.0.1:{self.port}", "/a", ""],
                                capture_output=True, encoding="utf-8", timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("Connection refused", result.stderr)


@unittest.skipUnless(shutil.which("h2load"), NO_H2LOAD)
class H2load(PeerTest):
    def test_all_its_requests_are_answered(self):
        with OurServer(self.program) as server, tempfile.TemporaryDirectory() as folder:
            message = field_1("world")
            body = Path(folder, "body")
            body.write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)
            result = subprocess.run(
                ["h2load", "-n", "2000", "-c", "4", "-m", "50", "-d", body,
                 "-H", "content-type: application/grpc", "-H", "te: trailers",
                 f"http://{server.address}{GREETER}"],
                capture_output=True, encoding="utf-8", timeout=120, check=True).stdout
            self.assertIn("2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout", result)
            self.assertIn("status codes: 2000 2xx", result)
            self.assertEqual(server.ends_when_asked(), 0)


if __name__ == "__main__":
    PeerTest.program = sys.argv.pop(1)
    for needed, message in ((grpc, NO_GRPC), (shutil.which("h2load"), NO_H2LOAD)):
        if not needed:
            print(message)
    unittest.main()
