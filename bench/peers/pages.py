"""The pages of servers that show runs, filled with the same numbers: many runs, or one with many long curves."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench import homes
from bench.peers.boards import MlflowServer, Row, TensorBoard
from bench.peers.servers import METRICS, PaddockServer, Server, ask
from bench.peers.trackio import PROJECT, Trackio

STEPS = 20  # of each of many runs
LONG = "vit-0"  # the run with the long curves


def names(metrics: int) -> tuple[str, ...]:
    return tuple(f"group{n // 10}/metric{n}" for n in range(metrics))


def table(number: int, steps: int, metrics: tuple[str, ...]) -> Iterator[Row]:
    for line in homes.rows(number, range(steps), metrics):
        row = json.loads(line)
        yield row[1], row[3:-1]


class Page(Server):
    """`listed` shows many runs, `curved` the curves of one."""

    def many(self, home: Path, runs: int) -> None:
        self.fill(home, runs, STEPS)

    def long(self, home: Path, metrics: int, points: int) -> None:
        raise NotImplementedError

    def listed(self, line: HTTPConnection) -> str:
        raise NotImplementedError

    def curved(self, line: HTTPConnection) -> str:
        raise NotImplementedError

    def ready(self, line: HTTPConnection, runs: int) -> bool:
        """Whether so many runs are read."""
        return len(self.ids(self.list(line, runs))) >= runs


class PaddockPage(Page, PaddockServer):
    name = "paddock board"

    def long(self, home: Path, metrics: int, points: int) -> None:
        homes.write_home(home / "home", range(1), points, names(metrics))

    def overlaid(self, home: Path, runs: int, points: int) -> None:
        homes.write_home(home / "home", range(runs), points, ("loss",))

    def listed(self, line: HTTPConnection) -> str:
        return "/runs"

    def curved(self, line: HTTPConnection) -> str:
        return f"/runs/{homes.run_id(0)}"


class TensorBoardPage(Page, TensorBoard):
    name = "tensorboard page"

    def long(self, home: Path, metrics: int, points: int) -> None:
        self.put(home, 0, table(0, points, names(metrics)), names(metrics))

    def listed(self, line: HTTPConnection) -> str:
        return "/#timeseries"

    def curved(self, line: HTTPConnection) -> str:
        return "/#timeseries"


class MlflowPage(Page, MlflowServer):
    name = "mlflow page"

    def long(self, home: Path, metrics: int, points: int) -> None:
        self.put(home, 1, lambda _: table(0, points, names(metrics)), names(metrics))

    def listed(self, line: HTTPConnection) -> str:
        return "/#/experiments/0/runs"

    def curved(self, line: HTTPConnection) -> str:
        run = self.ids(self.list(line, 1))[0]
        return f"/#/experiments/0/runs/{run}/model-metrics"


class TrackioPage(Page):
    name = "trackio page"
    distribution = "trackio"

    def environment(self, home: Path) -> dict[str, str]:
        return Trackio().environment(home)

    def fill(self, home: Path, runs: int, steps: int) -> None:
        self._insert(runs, steps, METRICS)

    def long(self, home: Path, metrics: int, points: int) -> None:
        self._insert(1, points, names(metrics))

    def _insert(self, runs: int, steps: int, metrics: tuple[str, ...]) -> None:
        """Tables made by itself; the rows straight into them: run by run they would take long."""
        from trackio.sqlite_storage import SQLiteStorage

        first = [dict.fromkeys(metrics, 0.0)]
        SQLiteStorage.bulk_log(
            PROJECT, "vit-0", first, steps=[0], config=homes.facts(0)["config"], run_id=homes.run_id(0)
        )
        with sqlite3.connect(SQLiteStorage.get_project_db_path(PROJECT)) as db:
            db.execute("DELETE FROM metrics")
            db.execute("DELETE FROM configs")
            for number in range(runs):
                name, run, at = f"vit-{number}", homes.run_id(number), "2026-01-01T00:00:00+00:00"
                rows = (
                    (run, at, name, step, _compact(dict(zip(metrics, found, strict=True))))
                    for step, found in table(number, steps, metrics)
                )
                db.executemany(
                    "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", rows
                )
                db.execute(
                    "INSERT INTO configs (run_id, run_name, config, created_at) VALUES (?, ?, ?, ?)",
                    (run, name, _compact(homes.facts(number)["config"]), at),
                )
        db.close()

    def command(self, home: Path, port: int) -> list[str]:
        show = f"import trackio; trackio.show('{PROJECT}', open_browser=False, host='127.0.0.1', server_port={port})"
        return [sys.executable, "-c", show]

    def list(self, line: HTTPConnection, runs: int) -> bytes:
        asked = json.dumps({"project": PROJECT})
        return ask(line, "/api/get_runs_for_project", asked, {"Content-Type": "application/json"})

    def ids(self, body: bytes) -> list[str]:
        found = json.loads(body)
        return [str(run) for run in (found["data"] if isinstance(found, dict) else found)]

    def listed(self, line: HTTPConnection) -> str:
        return f"/runs?project={PROJECT}"

    def curved(self, line: HTTPConnection) -> str:
        return f"/metrics?project={PROJECT}"


def _compact(values: dict[str, Any]) -> str:
    """Without spaces, as trackio itself writes: its page believes in metrics only where a digit follows the colon."""
    return json.dumps(values, separators=(",", ":"))


SYSTEMS = [PaddockPage(), TensorBoardPage(), MlflowPage(), TrackioPage()]
