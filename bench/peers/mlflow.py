"""MLflow (the skinny distribution, which imports fastest) with its file store and its SQLite store, no server."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.system import Run, System

BATCH = 1_000  # metrics that log_batch takes at most


class Mlflow(System):
    distribution = "mlflow-skinny"
    statement = "import mlflow"
    data_runs = 20

    def __init__(self, name: str, uri: str, log_calls: int) -> None:
        self.name, self.uri, self.log_calls = name, uri, log_calls

    def environment(self, home: Path) -> dict[str, str]:
        return {
            "MLFLOW_TRACKING_URI": self.uri.format(home=home),
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_ALLOW_FILE_STORE": "true",
            "DO_NOT_TRACK": "true",
            "MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING": "false",
            "GIT_PYTHON_REFRESH": "quiet",
        }

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        import mlflow

        mlflow.start_run(run_name=name)
        mlflow.log_params(config)
        return Run(mlflow.log_metrics, mlflow.end_run)

    def write(self, home: Path, runs: Iterable[tuple[str, Iterator[dict[str, float]]]]) -> None:
        from mlflow import MlflowClient
        from mlflow.entities import Metric

        client = MlflowClient()
        for name, rows in runs:
            run = client.create_run("0", run_name=name).info.run_id
            metrics = [Metric(key, value, 0, step) for step, row in enumerate(rows) for key, value in row.items()]
            for start in range(0, len(metrics), BATCH):
                client.log_batch(run, metrics[start : start + BATCH])
            client.set_terminated(run)

    def histories(self, metric: str) -> Iterator[tuple[str, Any]]:
        from mlflow import MlflowClient

        client = MlflowClient()
        for run in client.search_runs(["0"], max_results=50_000):
            yield run.info.run_id, client.get_metric_history(run.info.run_id, metric)

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        return {run: array("d", [point.value for point in history]) for run, history in self.histories(metric)}

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        for _, history in self.histories(metric):
            yield from (point.step for point in history)


SYSTEMS = (
    Mlflow("mlflow file", "file://{home}/mlruns", log_calls=500),
    Mlflow("mlflow sqlite", "sqlite:///{home}/mlflow.db", log_calls=150),
)
