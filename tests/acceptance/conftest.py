"""Homes written record by record, and the real command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paddock import wire
from paddock.record import code
from paddock.record.journal import Journal
from paddock.record.layout import Home, RunDirectory
from tests.redisserver import RedisServer
from tests.waiting import DEADLINE

SOURCE = str(Path(__file__).parents[2] / "src")


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.err == "", self.err
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The JSON on stderr; nothing may stand on stdout then."""
        assert self.out == ""
        return json.loads(self.err)["error"]


class Program:
    """`python -m paddock ...` for one home."""

    def __init__(self, home: Path, cwd: Path, environment: dict[str, str]) -> None:
        self.home, self.cwd, self.environment = home, cwd, environment

    def start(self, *arguments: str, env: dict[str, str | None] | None = None, **options: Any) -> subprocess.Popen[str]:
        environment = {**self.environment, **(env or {})}
        return subprocess.Popen(
            [sys.executable, "-m", "paddock", *arguments],
            cwd=self.cwd,
            env={key: value for key, value in environment.items() if value is not None},
            text=True,
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    def __call__(self, *arguments: str, stdin: str = "", env: dict[str, str | None] | None = None) -> Result:
        process = self.start(*arguments, env=env)
        out, err = process.communicate(stdin, timeout=DEADLINE)
        return Result(process.returncode, out, err)


def new_program(home: Path, place: Path) -> Program:
    cwd = place / "cwd"
    cwd.mkdir()
    path = f"{SOURCE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}".rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path, "PADDOCK_HOME": str(home), "COLUMNS": "100"}
    return Program(home, cwd, environment | {"PADDOCK_CACHE": str(place / "cache")})


@pytest.fixture
def program(home: Home, tmp_path: Path) -> Program:
    return new_program(home.path, tmp_path)


def write_run(
    home: Home,
    run_id: str,
    *,
    name: str = "",
    points: dict[str, list[float]] | None = None,
    records: list[dict[str, Any]] | None = None,
    end: dict[str, Any] | None = None,
    running: bool = False,
    output: str | None = None,
    **facts: Any,
) -> RunDirectory:
    """A run on disk as a training process would have left it; the points of acc@val are tagged."""
    directory = RunDirectory(home.runs / run_id)
    for path in (directory.journals, directory.output, directory.files):
        path.mkdir(parents=True)
    run = {
        "v": 1,
        "id": run_id,
        "name": name or run_id,
        "project": "digits",
        "group": None,
        "job_type": None,
        "tags": [],
        "notes": "",
        "created": time.time() - 60,
        "user": "ann",
        "command": ["train.py"],
        "executable": sys.executable,
        "cwd": "/nowhere",
        "config": {},
        "code": {},
        "environment": {"python": "3.11.0", "packages": {"torch": "2.1"}},
        "host": {"name": "box", "cpus": 2},
        "launch": {},
        "parent": None,
    }
    directory.facts.write_bytes(wire.dumps(wire.plain(run | facts).value))
    header = {
        "run": run_id,
        "writer": "box-1-aa",
        "role": "main",
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "start": "",
        "boot": _boot(),
        "rank": None,
        "attempt": 1,
        "oom": -1,
    }
    journal = Journal(directory.journals / "box-1-aa.jsonl", header)
    for number, (metric, values) in enumerate((points or {}).items()):
        base, _, split = metric.partition("@")
        tags = {"tags": {"split": split, "fold": 1}} if split else {}
        journal.append({"k": "columns", "id": number, "names": [base], **tags})
        for step, value in enumerate(values):
            journal.write(wire.row_line([number, step, step * 10, value]))
    for record in records or []:
        journal.append_now(dict(record))
    if not running:
        journal.append_now({"k": "end", **(end or {"code": 0, "reason": "finished"})})
    journal.close()
    if output is not None:
        (directory.output / "1.log").write_bytes(output.encode())
    return directory


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture
def write(home: Home) -> Callable[..., RunDirectory]:
    home.prepare()
    return lambda run_id, **facts: write_run(home, run_id, **facts)


FAILURE = {
    "code": 1,
    "reason": "exception",
    "exception": {
        "type": "ValueError",
        "message": "loss is nan",
        "traceback": 'Traceback (most recent call last):\n  File "train.py", line 3\nValueError: loss is nan\n',
    },
}


@pytest.fixture
def digits(home: Home, write: Callable[..., RunDirectory]) -> Home:
    """Two learning rates with two seeds each, one failed run, one that runs."""
    for number, (lr, seed, acc) in enumerate([(0.1, 0, 0.90), (0.1, 1, 0.92), (0.01, 0, 0.80), (0.01, 1, 0.84)]):
        write(
            f"aa{number}",
            name=f"digits-{number}",
            created=time.time() - 3600 * (number + 1),
            config={"lr": lr, "seed": seed, "model": {"name": "mlp", "depth": 3}},
            tags=["base"] if lr == 0.1 else [],
            points={"acc": [0.1, acc, acc - 0.05], "loss": [2.0, 1.0 - acc, 1.1 - acc]},
            output=f"epoch 0\nepoch 1\nseed {seed}\n",
            environment={"python": "3.11.0", "packages": {"torch": f"2.{number}", "numpy": "1"}},
            command=["train.py", f"lr={lr}"],
        )
    write(
        "bb1",
        name="broken",
        created=time.time() - 7200,
        config={"lr": 9.0, "seed": 0, "model": {"name": "mlp", "depth": 3}},
        points={"loss": [1.0, float("nan")]} | {"acc": [0.1]},
        end=FAILURE,
        records=[
            {"k": "mark", "step": 1, "name": "diverged", "data": {"norm": 3}},
            {"k": "alert", "title": "diverged", "text": "loss is nan", "level": "error"},
            {"k": "dropped", "counts": {"unserialisable": 2}},
        ],
    )
    write("cc1", name="now", project="other", running=True, points={"loss": [3.0]}, output="hello\n")
    return home


def snapshot(home: Home, files: dict[str, bytes]) -> str:
    """Keep these files in the home's code store; returns the snapshot's digest."""
    entries = {
        path: {"digest": code.put_object(home, data), "mode": "644", "size": len(data)} for path, data in files.items()
    }
    return code.put_manifest(home, entries)


@pytest.fixture
def keep_code(home: Home) -> Callable[[dict[str, bytes]], str]:
    home.prepare()
    return lambda files: snapshot(home, files)


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    made = RedisServer(tmp_path / "redis")
    try:
        yield made
    finally:
        made.stop()
