"""Runs that are sent to a server: what it costs the server, how soon a point is there, and what it costs log()."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from bench import fresh
from bench.processes import cpu_seconds
from bench.report import Line, Results
from bench.system import System

NAME = "ship"
ABOUT = "journals sent to a server on loopback: 1,000 clients with 55 events/s each; one client's points; log()"
CLIENTS, RATE = 1_000, 55  # events a second of each client: more than what must be received, or no clock could show it
WANTED = 50_000  # received in a second
TOKEN = "a-token-of-the-benchmark-0123456789"
EVENT = b"[0,%d,%d,0.25,0.91,2801972593]\n"
ROUNDS_ENOUGH = 2


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: System) -> dict[str, float]:
    if bench.round >= ROUNDS_ENOUGH:
        return {}
    asked = {"clients": bench.size(CLIENTS, 50), "seconds": bench.size(20, 3)}
    found = fresh.call("bench.cases.ship:crowd", system.name, bench.new_home("ship-crowd"), **asked)
    home = bench.new_home("ship-points")
    found |= fresh.call("bench.cases.ship:points", system.name, home, count=bench.size(400, 40))
    calls = bench.size(20_000, 1_000)
    for name, ships in (("log p50 us", True), ("log p50 us, not sent", False)):
        home = bench.new_home("ship-log")
        found[name] = fresh.call("bench.cases.ship:log", system.name, home, calls=calls, ships=ships)["p50 us"]
    return found


@contextmanager
def serving(home: Path) -> Iterator[tuple[int, int]]:
    """A server of its own: its port and its pid."""
    environ = {**os.environ, "PADDOCK_CACHE": str(home / "cache"), "PADDOCK_HOME": str(home / "server")}
    token = home / "server" / "server" / "token"
    token.parent.mkdir(parents=True, mode=0o700)
    token.write_text(TOKEN)
    token.chmod(0o600)
    words = [sys.executable, "-m", "paddock", "serve", "--json", "--address", "127.0.0.1:0"]
    process = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield int(json.loads(process.stdout.readline())["urls"][0].rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.wait()


class Client(asyncio.Protocol):
    """One client's connection: a parcel, its answer, a pause as long as the server asks for, and again. The events are
    as many as the clock says."""

    def __init__(self, number: int, started: float) -> None:
        self.path = f"runs/c{number}/journal/w.jsonl"
        self.began, self.events, self.at, self.have, self.requests = started, 0, 0, 0, 0
        self._answer = b""
        self._under_way = 0
        self._since = started  # the oldest event that is not acknowledged
        self.waited: list[float] = []

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        asyncio.get_running_loop().call_later(0.2 * (hash(self.path) % 100) / 100, self.send)

    def send(self) -> None:
        self._now = time.monotonic()
        due = int((self._now - self.began) * RATE) - self.events
        data = b"".join([EVENT % (self.events + i, 20 * i) for i in range(due)])
        self._under_way = due
        head = b'{"v":1,"parts":[{"path":"%b","at":%d,"size":%d}]}' % (self.path.encode(), self.have, len(data))
        body = len(head).to_bytes(4, "big") + head + data
        self.transport.write(
            b"POST /api/v1/ship/parcels HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %b\r\n"
            b"Content-Type: application/x-paddock-parcel\r\nContent-Length: %d\r\n\r\n"
            % (TOKEN.encode(), len(body))
            + body
        )

    def data_received(self, data: bytes) -> None:
        self._answer += data
        _, blank, body = self._answer.partition(b"\r\n\r\n")
        if not blank or not body.endswith(b"}"):
            return
        self._answer = b""
        reply = json.loads(body)
        self.have, self.requests = reply["files"][0]["have"], self.requests + 1
        self.events += self._under_way
        self.waited.append(time.monotonic() - self._since)
        self._since = self._now
        asyncio.get_running_loop().call_later(max(0.2, reply.get("wait", 0.0)), self.send)


def crowd(system: System, home: Path, clients: int, seconds: int) -> dict[str, float]:
    with serving(home) as (port, pid):
        return asyncio.run(_crowd(home, port, pid, clients, seconds))


async def _crowd(home: Path, port: int, pid: int, clients: int, seconds: int) -> dict[str, float]:
    loop, started = asyncio.get_running_loop(), time.monotonic()
    crowd = [Client(number, started) for number in range(clients)]
    for client in crowd:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)
    await asyncio.sleep(8)  # until the server has found its pace
    for client in crowd:
        client.waited.clear()
    before = sum(client.events for client in crowd), sum(client.requests for client in crowd)
    cpu, own, at = cpu_seconds([pid]), time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    took = time.monotonic() - at
    used, own = cpu_seconds([pid]) - cpu, time.process_time() - own
    received, requests = sum(client.events for client in crowd), sum(client.requests for client in crowd)
    for client in crowd:  # what was acknowledged is there
        path = home / "server" / client.path
        if path.read_bytes().count(b"\n") < client.events:
            raise ValueError(f"{client.path} has fewer than the {client.events} events that were acknowledged")
    waited = sorted(1000 * one for client in crowd for one in client.waited)
    return {
        "events/s": (received - before[0]) / took,
        "requests/s": (requests - before[1]) / took,
        "event acknowledged p95 ms": waited[len(waited) * 95 // 100],
        "server % of a core": 100 * used / took,
        "its clients % of a core": 100 * own / took,
    }


def points(system: System, home: Path, count: int) -> dict[str, float]:
    """From log() to the server's file, as seen by one who looks every few milliseconds."""
    with serving(home) as (port, _):
        _send_to(port)
        run = system.start(home / "client", "bench", {})
        logged: list[int] = []
        seen: list[int] = []
        stop = threading.Event()

        def watch() -> None:
            while not stop.is_set():
                for path in (home / "server" / "runs").glob("*/journal/*.jsonl"):
                    rows = path.read_bytes().count(b"\n[0,")
                    now = perf_counter_ns()
                    seen.extend([now] * (rows - len(seen)))
                time.sleep(0.005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        time.sleep(1)
        for step in range(count):
            logged.append(perf_counter_ns())
            run.log({"loss": step}, step=step)
            time.sleep(0.037)
        time.sleep(1.5)
        stop.set()
        watcher.join()
        run.finish()
    waited = sorted((after - before) / 1e6 for before, after in zip(logged, seen, strict=False))
    assert len(waited) == count, f"{len(waited)} of {count} points arrived"
    return {"point p50 ms": waited[count // 2], "point p95 ms": waited[count * 95 // 100]}


def log(system: System, home: Path, calls: int, ships: bool) -> dict[str, float]:
    """What shipping costs a call: 1,000 a second, so that there is something to send all the time."""
    with serving(home) as (port, _):
        if ships:
            _send_to(port)
        run = system.start(home / "client", "bench", {})
        times = [0] * calls
        values = {"a": 0.5, "b": 1.5, "c": 2.5, "d": 3.5, "e": 4.5}
        for at in range(calls):
            start = perf_counter_ns()
            run.log(values, step=at)
            times[at] = perf_counter_ns() - start
            if not at % 10:
                time.sleep(0.001)
        run.finish()
    times.sort()
    return {"p50 us": times[calls // 2] / 1000}


def _send_to(port: int) -> None:
    os.environ |= {"PADDOCK_SERVER": f"127.0.0.1:{port}", "PADDOCK_TOKEN": TOKEN}


def lines(results: Results, bench: Any) -> list[Line]:
    core = "server % of a core"
    return [
        *results.at_least("1,000 clients: 50,000 events/s received", "paddock", "events/s", bench.size(WANTED, 2_500)),
        *results.at_most("and the server under one core", "paddock", core, 100, "%"),
        *results.at_most("a point at the server within 500 ms p95", "paddock", "point p95 ms", 500, "ms"),
        *results.at_most("log() p50 beside shipping at most 5 us", "paddock", "log p50 us", 5, "us"),
    ]
