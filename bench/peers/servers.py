"""Servers that show runs: Paddock's, and the least that one could write by hand over SQLite."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from bench import homes
from bench.processes import free_port, started, wait_quiet, wait_until
from bench.system import System

METRICS = ("loss", "acc", "lr")
START_SECONDS = 180.0  # MLflow takes its time
LOAD_SECONDS = 600.0  # and so does TensorBoard with many files


class Server(System):
    """Asked over one connection that stays open, as a browser's does."""

    def fill(self, home: Path, runs: int, steps: int) -> None:
        raise NotImplementedError

    def command(self, home: Path, port: int) -> list[str]:
        raise NotImplementedError

    def listing(self, runs: int) -> str:
        """The path that lists so many runs with their last values."""
        raise NotImplementedError

    def series(self, ids: Sequence[str], metric: str) -> str:
        raise NotImplementedError

    def list(self, line: HTTPConnection, runs: int) -> bytes:
        return ask(line, self.listing(runs))

    def ids(self, body: bytes) -> Sequence[str]:
        """Those in what list() answered."""
        return [run["id"] for run in json.loads(body)["runs"]]

    def curves(self, line: HTTPConnection, ids: Sequence[str], metric: str) -> bytes:
        return ask(line, self.series(ids, metric))

    def points(self, body: bytes) -> int:
        """How many points are in what curves() answered: who leaves some out is not compared with the others."""
        return sum(len(found["values"]) for found in json.loads(body)["series"].values())

    def run_by_run(self, line: HTTPConnection, ids: Sequence[str], metric: str) -> bytes | None:
        """The same points as the system's Python client asks for them, where that is not as its page does."""
        return None

    def loaded(self, line: HTTPConnection, runs: int, steps: int) -> bool:
        """Whether all is there to be asked for; most have it when they answer at all."""
        return True

    @contextlib.contextmanager
    def serving(self, home: Path) -> Iterator[HTTPConnection]:
        port = free_port()
        with started(self.command(home, port), home, **self.environment(home)) as process:
            line = HTTPConnection("127.0.0.1", port, timeout=120)
            wait_until(lambda: self._answers(line, process), f"{self.name} answers", 0.05, START_SECONDS)
            wait_quiet(process.pid, self.name)
            line.close()  # the server has given it up meanwhile
            self.list(line, 1)
            yield line
            line.close()

    def _answers(self, line: HTTPConnection, process: subprocess.Popen[bytes]) -> bool:
        if process.poll() is not None:
            raise RuntimeError(f"it has ended with {process.returncode}; is it installed as a whole?")
        try:
            return bool(self.list(line, 1))
        except (OSError, HTTPException):
            line.close()
            return False


def ask(line: HTTPConnection, path: str, body: str | None = None, headers: dict[str, str] | None = None) -> bytes:
    line.request("GET" if body is None else "POST", path, body, headers or {})
    found = line.getresponse()
    said = found.read()
    if found.status != 200:
        raise ValueError(f"{path[:80]}: {found.status} {said[:200]!r}")
    return said


class PaddockServer(Server):
    name = "paddock serve"

    def environment(self, home: Path) -> dict[str, str]:
        return {"PADDOCK_HOME": str(home / "home"), "PADDOCK_CACHE": str(home / "cache")}

    def fill(self, home: Path, runs: int, steps: int) -> None:
        homes.write_home(home / "home", range(runs), steps, METRICS)

    def command(self, home: Path, port: int) -> list[str]:
        return [sys.executable, "-m", "paddock", "serve", "--address", f"127.0.0.1:{port}"]

    def listing(self, runs: int) -> str:
        return f"/api/v1/runs?limit={runs}"

    def series(self, ids: Sequence[str], metric: str) -> str:
        return f"/api/v1/series?metric={metric}&points=0&" + "&".join(f"run={run_id}" for run_id in ids)

    def points(self, body: bytes) -> int:
        return sum(len(found["values"]) for found in json.loads(body)["series"])


class ByHand(Server):
    """One table of runs, one of points with an index, Starlette with its own JSON."""

    name = "starlette + sqlite"
    distribution = "starlette"

    def fill(self, home: Path, runs: int, steps: int) -> None:
        db = sqlite3.connect(home / "by-hand.sqlite")
        db.execute("CREATE TABLE runs (id TEXT PRIMARY KEY, name TEXT, config TEXT, last TEXT)")
        db.execute("CREATE TABLE points (run TEXT, metric TEXT, step INTEGER, value REAL)")
        for number in range(runs):
            run_id, facts = homes.run_id(number), homes.facts(number)
            rows = [json.loads(line) for line in homes.rows(number, range(steps), METRICS)]
            last = dict(zip(METRICS, rows[-1][3:-1], strict=True))
            db.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?)",
                (run_id, facts["name"], json.dumps(facts["config"]), json.dumps(last)),
            )
            db.executemany(
                "INSERT INTO points VALUES (?, ?, ?, ?)",
                [(run_id, name, row[1], row[3 + at]) for row in rows for at, name in enumerate(METRICS)],
            )
        db.execute("CREATE INDEX by_run ON points (run, metric, step)")
        db.commit()
        db.close()

    def command(self, home: Path, port: int) -> list[str]:
        return [sys.executable, "-m", "bench.peers.servers", str(home / "by-hand.sqlite"), str(port)]

    def environment(self, home: Path) -> dict[str, str]:
        return {"PYTHONPATH": str(Path(__file__).parents[2])}

    def listing(self, runs: int) -> str:
        return f"/runs?limit={runs}"

    def series(self, ids: Sequence[str], metric: str) -> str:
        return f"/series?metric={metric}&runs={','.join(ids)}"


def by_hand(path: str, port: int) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    db = sqlite3.connect(path, check_same_thread=False)

    async def runs(request: Request) -> JSONResponse:
        rows = db.execute("SELECT id, name, config, last FROM runs LIMIT ?", (int(request.query_params["limit"]),))
        keys = ("id", "name", "config", "metrics")
        return JSONResponse(
            {"runs": [dict(zip(keys, (i, n, json.loads(c), json.loads(m)), strict=True)) for i, n, c, m in rows]}
        )

    async def series(request: Request) -> JSONResponse:
        found: dict[str, Any] = {}
        for run_id in request.query_params["runs"].split(","):
            rows = db.execute(
                "SELECT step, value FROM points WHERE run = ? AND metric = ? ORDER BY step",
                (run_id, request.query_params["metric"]),
            ).fetchall()
            found[run_id] = {"steps": [row[0] for row in rows], "values": [row[1] for row in rows]}
        return JSONResponse({"series": found})

    app = Starlette(routes=[Route("/runs", runs), Route("/series", series)])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


SYSTEMS = [PaddockServer(), ByHand()]

if __name__ == "__main__":
    by_hand(sys.argv[1], int(sys.argv[2]))
