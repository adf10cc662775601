#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The demo `http` under real clients. http_test.py PART --server PROGRAM [--curl PROGRAM] [--wrk PROGRAM]

    curl    what a well-behaved client sees: two requests on one connection, pipelining, a method that is not there
    broken  clients that send garbage, hang up in the middle, or reset the connection
    slow    clients that send a byte at a time, or half a request and then nothing, while others are served
    idle    10,000 connections that say nothing: memory, processor time, and that the server still answers
    load    wrk with 64 connections: no failed request
    restart the same while the server replaces its scheduler a hundred times; no connection is lost, nor half a request

Each part starts a server on a free port, and checks in the end that it has as many descriptors open as one that
serves no client. Status 77: skipped, because a tool is absent.
"""
import argparse
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nhello, world\n"
MANY = 10_000  # idle connections wanted
PATIENCE = 20  # s, for what should take ms
RESTARTS = 100
CONNECTIONS = 64  # of wrk


def fail(message):
    sys.exit(f"http_test.py: {message}")


def require(right, message):
    if not right:
        fail(message)


def skip(message):
    print(f"skipped: {message}")
    sys.exit(77)


class Server:
    """The demo on a free port; its processor time and descriptors, from /proc."""

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        found = re.match(r"http://127\.0\.0\.1:(\d+)/$", self.process.stdout.readline())
        require(found, "the server does not say where it listens")
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}/"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def descriptors_when_idle(self):
        """The number of descriptors of a server that serves no client. It is measured while it serves one: before its first
        answer it may still have those open that it needs only to begin, such as a copy of the listening socket."""
        with self.connect() as client:
            client.sendall(REQUEST)
            require(read(client, len(ANSWER)) == ANSWER, "the server does not answer")
            return self.descriptors() - 1

    def expect_descriptors(self, n):
        """The server closes a connection when it learns, a little later, that the client is gone."""
        end = time.monotonic() + PATIENCE
        while (open_now := self.descriptors()) != n and time.monotonic() < end:
            time.sleep(0.01)
        require(open_now == n, f"the server has {open_now} descriptors open instead of {n}")

    def cpu_ns(self):
        """The processor time of all threads together: /proc/PID/schedstat has only that of the first. Without ThreadSanitizer's
        own thread, which alone blocks signals: it wakes ten times per second, each time for up to 0.5 ms."""
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            folder = f"/proc/{self.process.pid}/task/{thread}"
            with open(f"{folder}/status") as status, open(f"{folder}/schedstat") as used:
                if not int(re.search(r"SigBlk:\s+(\w+)", status.read())[1], 16) & 1 << signal.SIGTERM - 1:
                    total += int(used.read().split()[0])
        return total

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])

    def stop(self):
        """It serves until it is killed; what it, or a sanitizer, had to complain about is on its stderr."""
        ended = self.process.poll()
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        said = self.errors.read()
        require(ended is None and not said, f"the server has ended, status {ended}" if ended is not None else
                f"the server complains:\n{said[:10000]}")


def read(client, n):
    """n bytes, or fewer if the server closes before."""
    got = b""
    while len(got) < n and (more := client.recv(n - len(got))):
        got += more
    return got


def answers(server):
    with server.connect() as client:
        client.sendall(REQUEST)
        require(read(client, len(ANSWER)) == ANSWER, "the server does not answer")


def with_curl(server, options):
    if not options.curl:
        skip("curl is not installed")

    def ask(*arguments):
        done = subprocess.run([options.curl, "--silent", "--show-error", "--max-time", str(PATIENCE), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        require(done.returncode == 0, f"curl {arguments}: status {done.returncode}: {done.stderr}")
        return done.stdout

    # The second request of one command finds the connection of the first.
    out = ask("--write-out", "%{http_code} %{num_connects}\n", server.url, server.url)
    require(out == "hello, world\n200 1\nhello, world\n200 0\n", f"two requests on one connection: {out!r}")
    out = ask("--request", "POST", "--data", "x=1", "--write-out", "%{http_code}", server.url)
    require(out == "only GET\n405", f"POST: {out!r}")
    out = ask("--header", "Connection: close", "--include", server.url)
    require("Connection: close" in out and out.endswith("hello, world\n"), f"Connection: close: {out!r}")
    out = ask("--http1.0", "--include", server.url)
    require("Connection: close" in out, f"HTTP/1.0 has no keep-alive: {out!r}")
    with server.connect() as client:
        client.sendall(3 * REQUEST)
        require(read(client, 3 * len(ANSWER)) == 3 * ANSWER, "three requests at once")


def broken(server, _):
    with server.connect() as client:
        client.sendall(b"\x00\xffthis is no HTTP\r\n\r\n")
        got = read(client, 1000)
        require(got.startswith(b"HTTP/1.1 400 ") and b"Connection: close" in got, f"garbage: {got!r}")
    with server.connect() as client:
        client.sendall(REQUEST[:-2] + b"X-Long: " + 9000 * b"x" + b"\r\n\r\n")
        got = read(client, len(b"HTTP/1.1 400 "))  # and no more: the server may close before it has read everything
        require(got == b"HTTP/1.1 400 ", f"a header of more than 8 KiB: {got!r}")
    with server.connect() as client:
        client.sendall(REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + REQUEST)
        got = read(client, 1000)
        require(got.count(b"HTTP/1.1 200 ") == 1, f"nothing is answered after Connection: close: {got!r}")
    for _ in range(200):
        with server.connect() as client:
            client.sendall(REQUEST[:20])  # and hangs up in the middle
    for sent in (b"", REQUEST[:20], REQUEST, 100 * REQUEST):
        for _ in range(50):
            with server.connect() as client:
                client.sendall(sent)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a FIN
    with server.connect() as client:
        client.sendall(REQUEST)
        client.shutdown(socket.SHUT_WR)  # half open: it still reads
        require(read(client, len(ANSWER)) == ANSWER, "a client that has shut down its writing side")
        require(client.recv(1) == b"", "the server closes after the end of the client's stream")
    answers(server)


def slow(server, _):
    with server.connect() as silent, server.connect() as crawling:
        silent.sendall(REQUEST[:-1])  # and nothing more until the others are served
        for byte in REQUEST:
            crawling.sendall(bytes([byte]))
            time.sleep(0.002)
            answers(server)
        require(read(crawling, len(ANSWER)) == ANSWER, "a request byte by byte")
        # A client that does not read its answers, until the server cannot write any more, does not hold up the others.
        with server.connect() as deaf:
            deaf.setblocking(False)
            while select.select([], [deaf], [], 0.3)[1]:
                deaf.send(1000 * REQUEST)
            answers(server)
        silent.sendall(REQUEST[-1:])
        require(read(silent, len(ANSWER)) == ANSWER, "the last byte of a request much later")


def idle(server, options):
    before, memory = server.descriptors(), server.resident_kib()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    n = min(MANY, soft - 200)
    clients = [server.connect() for _ in range(n)]
    server.expect_descriptors(before + n)
    each = 1024 * (server.resident_kib() - memory) / n
    time.sleep(0.3)  # until spinning machines sleep, and the monitor
    begin, cpu = time.monotonic(), server.cpu_ns()
    time.sleep(2)
    used = (server.cpu_ns() - cpu) / 1e6 / (time.monotonic() - begin)
    print(f"{n} idle connections{'' if n == MANY else f', as more than {soft} descriptors are not allowed'}: "
          f"{used:.3f} ms of processor time per second (wanted: 0.05), {each:.0f} bytes resident each")
    require(options.emulator or used <= 2, "the server is busy while its connections are idle")
    for client in clients[::100]:
        client.sendall(REQUEST)
    for client in clients[::100]:
        require(read(client, len(ANSWER)) == ANSWER, "a connection that was idle")
    answers(server)
    for client in clients:
        client.close()


def with_wrk(server, options):
    """How many requests were answered in 2 s; none has failed."""
    done = subprocess.run([options.wrk, "--threads", "1", "--connections", str(CONNECTIONS), "--duration", "2s",
                           "--latency", server.url], stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    require(done.returncode == 0, f"wrk: status {done.returncode}")
    require("Socket errors" not in done.stdout and "Non-2xx" not in done.stdout, "failed requests")
    found = re.search(r"(\d+) requests in", done.stdout)
    return int(found[1]) if found else 0


def load(server, options):
    if not options.wrk:
        skip("wrk is not installed")
    require(with_wrk(server, options) > 100, "hardly any requests")


def restart(server, options):
    if not options.wrk:
        skip("wrk is not installed")
    said = []
    through = threading.Thread(target=lambda: said.append(server.process.stdout.readline()), daemon=True)
    through.start()
    with server.connect() as half, server.connect() as steady:
        half.sendall(REQUEST[:20])
        runs = 0
        end = time.monotonic() + 4 * PATIENCE
        while through.is_alive():
            require(time.monotonic() < end, "the restarts come to no end")
            steady.sendall(3 * REQUEST)
            with_wrk(server, options)
            require(read(steady, 3 * len(ANSWER)) == 3 * ANSWER, "a connection that outlives schedulers")
            runs += 1
        half.sendall(REQUEST[20:])
        require(read(half, len(ANSWER)) == ANSWER, "a request whose first half another scheduler has read")
    print(said[0])
    found = re.match(rf"{RESTARTS} restarts, (\d+) connections$", said[0])
    require(found, f"the server says {said[0]!r}")
    # wrk's connections, one more with which wrk tries the address, the two above, and one from before. If there are
    # more, a client had to connect again.
    require(int(found[1]) <= (CONNECTIONS + 1) * runs + 3, "connections were lost")


PARTS = {"curl": with_curl, "broken": broken, "slow": slow, "idle": idle, "load": load, "restart": restart}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--server", required=True)
    parser.add_argument("--emulator", default="")
    parser.add_argument("--curl", default="")
    parser.add_argument("--wrk", default="")
    options = parser.parse_args()
    options.curl, options.wrk = (t if not t.endswith("-NOTFOUND") else "" for t in (options.curl, options.wrk))
    # The limit holds for both sides, because the server inherits it.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    arguments = ["0", str(RESTARTS)] if options.part == "restart" else ["0"]
    server = Server([*filter(None, options.emulator.split(";")), options.server, *arguments])
    try:
        idle_descriptors = server.descriptors_when_idle()
        server.expect_descriptors(idle_descriptors)
        PARTS[options.part](server, options)
        server.expect_descriptors(idle_descriptors)
    except BaseException:
        server.process.kill()
        raise
    server.stop()


if __name__ == "__main__":
    main()
