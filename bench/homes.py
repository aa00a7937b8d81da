"""Paddock homes with many runs, written through Paddock's own layout and wire format but without a process per run."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import data

CREATED = round(time.time()) - 3600.0  # young enough that a run which has not ended may still be looked at
STEP_MS = 50
METRICS = ("loss", "acc")


def write_home(home: Path, runs: range, steps: int, metrics: tuple[str, ...] = METRICS, finished: bool = True) -> None:
    for number in runs:
        write_run(home, number, steps, metrics, finished)


def write_run(home: Path, number: int, steps: int, metrics: tuple[str, ...], finished: bool) -> None:
    from paddock import wire
    from paddock.record.layout import Home

    directory = Home(home).run(run_id(number))
    directory.journals.mkdir(parents=True)
    directory.facts.write_bytes(wire.dumps(facts(number)))
    lines = [wire.record_line(opening(number)), *rows(number, range(steps), metrics)]
    lines.insert(1, wire.record_line({"k": "columns", "id": 0, "names": metrics}))
    if finished:
        end = {"k": "end", "t": CREATED + number + steps * STEP_MS / 1000, "code": 0, "reason": "finished"}
        lines.append(wire.record_line(end))
    journal(home, number).write_bytes(b"".join(lines))


def append_rows(home: Path, runs: range, steps: range, metrics: tuple[str, ...] = METRICS) -> None:
    for number in runs:
        with journal(home, number).open("ab") as file:
            file.write(b"".join(rows(number, steps, metrics)))


def rows(number: int, steps: range, metrics: tuple[str, ...]) -> Iterator[bytes]:
    from paddock.wire import row_line

    noise = random.Random(number * 1_000_003 + steps.start)
    for step in steps:
        yield row_line([0, step, step * STEP_MS, *(noise.random() for _ in metrics)])


def run_id(number: int) -> str:
    return f"bench{number:06d}"


def journal(home: Path, number: int) -> Path:
    return home / "runs" / run_id(number) / "journal" / f"bench-{number}.jsonl"


def opening(number: int) -> dict[str, Any]:
    return {
        "k": "open", "v": 1, "t": CREATED + number, "run": run_id(number), "writer": f"bench-{number}", "role": "main",
        "host": "elsewhere", "pid": 1, "start": "0", "boot": "elsewhere", "rank": None, "world": None, "attempt": 1,
        "user": "bench", "paddock": "0", "oom": -1,
    }  # fmt: skip


def facts(number: int) -> dict[str, Any]:
    config = data.CONFIG | {"seed": number % 5, "lr": 0.0001 * (1 + number // 5 % 10)}
    packages = {f"package-{n}": f"1.{n}.0" for n in range(100)}
    return {
        "v": 1, "id": run_id(number), "name": f"vit-{number}", "project": "bench", "group": f"g{number // 5}",
        "job_type": None, "tags": ["bench"], "notes": "", "created": CREATED + number, "user": "bench",
        "command": ["python", "train.py"], "executable": "/usr/bin/python3", "cwd": "/home/bench", "config": config,
        "code": {"root": "/home/bench", "script": "train.py", "git": None, "snapshot": None, "files": 0, "bytes": 0,
                 "left_out": [], "left_out_count": 0, "note": ""},
        "environment": {"python": "3.11.0", "packages": packages, "variables": {}},
        "host": {"name": "bench", "os": "Linux", "cpus": 2, "memory": 1 << 34, "gpus": []},
        "launch": {}, "parent": None,
    }  # fmt: skip


def settle() -> None:
    """A directory that changed a moment ago is looked at again; one that is older is not."""
    time.sleep(2.5)
