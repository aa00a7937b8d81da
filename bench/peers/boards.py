"""The servers of others that show runs: TensorBoard's and MLflow's, asked as their own pages ask them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from bench import homes
from bench.peers.servers import METRICS, Server, ask

# MLflow's server needs the whole distribution, whose parts would slow the import of the skinny one that is measured
# elsewhere: an interpreter that has it may be named.
MLFLOW_PYTHON = "BENCH_MLFLOW_PYTHON"
MOST_POINTS = 2_500  # of a run, that MLflow puts into one answer; its page asks for 320

Row = tuple[int, list[float]]  # the step, and a value for each metric


def values(number: int, steps: int) -> Iterator[Row]:
    for line in homes.rows(number, range(steps), METRICS):
        row = json.loads(line)
        yield row[1], row[3:-1]


class TensorBoard(Server):
    """Its list has the names of runs and metrics; last values it has none."""

    name = "tensorboard"
    distribution = "tensorboard"

    def fill(self, home: Path, runs: int, steps: int) -> None:
        for number in range(runs):
            self.put(home, number, values(number, steps), METRICS)

    def put(self, home: Path, number: int, rows: Iterator[Row], metrics: Sequence[str]) -> None:
        """One run, by tensorboardX's writer of records; add_scalar() and its thread would take many times as long."""
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary
        from tensorboardX.record_writer import RecordWriter

        directory = home / "events" / homes.run_id(number)
        directory.mkdir(parents=True)
        writer = RecordWriter(str(directory / f"events.out.tfevents.{int(homes.CREATED)}.bench"))
        writer.write(Event(wall_time=homes.CREATED, file_version="brain.Event:2").SerializeToString())
        for step, found in rows:
            pairs = zip(metrics, found, strict=True)
            summary = Summary(value=[Summary.Value(tag=metric, simple_value=value) for metric, value in pairs])
            event = Event(wall_time=homes.CREATED + step * homes.STEP_MS / 1000, step=step, summary=summary)
            writer.write(event.SerializeToString())
        writer.close()

    def command(self, home: Path, port: int) -> list[str]:
        words = ["--logdir", str(home / "events"), "--host", "127.0.0.1", "--port", str(port)]
        return [sys.executable, "-m", "tensorboard.main", *words]

    def list(self, line: HTTPConnection, runs: int) -> bytes:
        return ask(line, "/data/plugin/scalars/tags")

    def ids(self, body: bytes) -> Sequence[str]:
        return sorted(json.loads(body))

    def curves(self, line: HTTPConnection, ids: Sequence[str], metric: str) -> bytes:
        form = urlencode([("tag", metric), *(("runs", run_id) for run_id in ids)])
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return ask(line, "/data/plugin/scalars/scalars_multirun", form, headers)

    def points(self, body: bytes) -> int:
        return sum(len(found) for found in json.loads(body).values())

    def loaded(self, line: HTTPConnection, runs: int, steps: int) -> bool:
        """It answers at once and reads the files meanwhile."""
        ids = self.ids(self.list(line, runs))
        pages = [ids[at : at + 50] for at in range(0, len(ids), 50)]
        asked = ((page, metric) for page in pages for metric in METRICS)
        return len(ids) == runs and all(
            self.points(self.curves(line, page, metric)) == steps * len(page) for page, metric in asked
        )


class MlflowServer(Server):
    """Its page asks for a metric of up to 100 runs at once, its client run by run."""

    name = "mlflow server"
    distribution = "" if os.environ.get(MLFLOW_PYTHON) else "mlflow"

    def _python(self) -> str:
        return os.environ.get(MLFLOW_PYTHON) or sys.executable

    def environment(self, home: Path) -> dict[str, str]:
        return {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "GIT_PYTHON_REFRESH": "quiet"}

    def fill(self, home: Path, runs: int, steps: int) -> None:
        self.put(home, runs, lambda number: values(number, steps), METRICS)

    def put(self, home: Path, runs: int, rows: Callable[[int], Iterator[Row]], metrics: Sequence[str]) -> None:
        """The runs by its own client, settings and points straight into its tables: one by one they would take long."""
        make = (
            "import sys, mlflow\n"
            "client = mlflow.MlflowClient(tracking_uri=sys.argv[1])\n"
            "for n in range(int(sys.argv[2])):\n"
            "    run = client.create_run('0', run_name=f'vit-{n}').info.run_id\n"
            "    client.set_terminated(run)\n"
            "    print(run)\n"
        )
        words = [self._python(), "-c", make, f"sqlite:///{home}/mlflow.db", str(runs)]
        made = subprocess.run(
            words, check=True, capture_output=True, text=True, env=os.environ | self.environment(home)
        )
        into = "(key, value, timestamp, run_uuid, step, is_nan) VALUES (?, ?, ?, ?, ?, ?)"
        with sqlite3.connect(home / "mlflow.db") as db:
            for number, run in enumerate(made.stdout.split()):
                last: list[tuple[str, float, int, str, int, int]] = []
                for step, found in rows(number):
                    pairs = zip(metrics, found, strict=True)
                    last = [(metric, value, 1000 * step, run, step, 0) for metric, value in pairs]
                    db.executemany(f"INSERT INTO metrics {into}", last)
                db.executemany(f"INSERT INTO latest_metrics {into}", last)
                config = [(key, str(value), run) for key, value in homes.facts(number)["config"].items()]
                db.executemany("INSERT INTO params (key, value, run_uuid) VALUES (?, ?, ?)", config)
        db.close()

    def command(self, home: Path, port: int) -> list[str]:
        where = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        store = ["--backend-store-uri", f"sqlite:///{home}/mlflow.db", "--artifacts-destination", str(home / "files")]
        return [self._python(), "-m", "mlflow", "server", *where, *store]

    def list(self, line: HTTPConnection, runs: int) -> bytes:
        asked = json.dumps({"experiment_ids": ["0"], "max_results": runs})
        return ask(line, "/api/2.0/mlflow/runs/search", asked, {"Content-Type": "application/json"})

    def ids(self, body: bytes) -> Sequence[str]:
        return [run["info"]["run_id"] for run in json.loads(body).get("runs", [])]

    def curves(self, line: HTTPConnection, ids: Sequence[str], metric: str) -> bytes:
        asked = {"run_ids": ids, "metric_key": metric, "max_results": MOST_POINTS}
        return ask(line, f"/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval?{urlencode(asked, doseq=True)}")

    def points(self, body: bytes) -> int:
        return len(json.loads(body)["metrics"])

    def run_by_run(self, line: HTTPConnection, ids: Sequence[str], metric: str) -> bytes:
        path = f"/api/2.0/mlflow/metrics/get-history?metric_key={metric}&max_results=25000&run_id="
        return b"".join(ask(line, path + run_id) for run_id in ids)


SYSTEMS = [TensorBoard(), MlflowServer()]
