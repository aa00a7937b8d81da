"""A task as a Slurm job beside a bare sbatch of the same command, one at a time and as arrays, and a thousand at once.

The cluster is that of SLURM_CONF. `python -m tests.cluster.slurm start DIRECTORY usual` starts one whose scheduler is
as Slurm has it by itself; without `usual` it is in a hurry, for tests, and a bare job takes half a second, not two.

The end of a bare job is what squeue says, asked without pause; the end of a task is its file in done/. The scheduler
looks at what was submitted now and then, so each begins at a moment of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import random
from statistics import median
from time import perf_counter, sleep
from typing import Any

from bench.fresh import NotMeasured
from bench.report import Line, Results
from bench.system import System

NAME = "slurm"
ABOUT = "Slurm jobs that run `true`, from submission to the end: bare sbatch and Paddock; 1,000 tasks as arrays"
_SINGLE = 9
_MANY = 100


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: System) -> dict[str, float]:
    if shutil.which("sbatch") is None or subprocess.run(["squeue"], capture_output=True).returncode:
        raise NotMeasured("no Slurm answers")
    home = bench.new_home("slurm")
    bare, ours = [], []
    for _ in range(bench.size(_SINGLE, 3)):  # in turns, so that a slow moment hits both
        sleep(random())
        bare.append(_bare(home))
        sleep(random())
        ours.append(_task(home))
    many = bench.size(_MANY, 10)
    bare_many, ours_many = _bare_array(home, many), _tasks(home, many)
    count = bench.size(1_000, 50)
    start = perf_counter()
    _paddock(home, "submit", "-q", "--on", "slurm://?begin=now%2B1hour", "--grid", f"n=0..{count - 1}", "--", "true")
    submitted = perf_counter() - start
    start = perf_counter()
    _paddock(home, "status", "-q")
    asked = perf_counter() - start
    _paddock(home, "cancel", "-q", "-y", "--all", "-Q", "slurm://?begin=now%2B1hour")
    return {
        "bare sbatch, s": median(bare),
        "task, s": median(ours),
        "ratio": median(ours) / median(bare),
        f"{many} bare as an array, s": bare_many,
        f"{many} tasks, s": ours_many,
        "1,000 submitted, s": submitted,
        "status of them, s": asked,
    }


def _bare(home: Path) -> float:
    start = perf_counter()
    job = _run(["sbatch", "--parsable", "--output=/dev/null", "--wrap=true"], home).strip()
    _until_over(home, job, 1)
    return perf_counter() - start


def _bare_array(home: Path, count: int) -> float:
    start = perf_counter()
    words = ["sbatch", "--parsable", "--output=/dev/null", f"--array=0-{count - 1}", "--wrap=true"]
    _until_over(home, _run(words, home).strip(), count)
    return perf_counter() - start


def _task(home: Path) -> float:
    start = perf_counter()
    task = _paddock(home, "submit", "-q", "--on", "slurm://", "--time", "1h", "--", "true").strip()
    while not (home / "home" / "queues" / "slurm" / "done" / task).exists():
        sleep(0.01)
    return perf_counter() - start


def _tasks(home: Path, count: int) -> float:
    start = perf_counter()
    grid = ("--grid", f"n=0..{count - 1}")
    tasks = set(_paddock(home, "submit", "-q", "--on", "slurm://", "--time", "1h", *grid, "--", "true").split())
    while not tasks.issubset(os.listdir(home / "home" / "queues" / "slurm" / "done")):
        sleep(0.01)
    return perf_counter() - start


def _until_over(home: Path, job: str, count: int) -> None:
    while _run(["squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%T"], home).split().count("COMPLETED") < count:
        sleep(0.01)


def _paddock(home: Path, verb: str, *words: str) -> str:
    more = ["--no-snapshot"] if verb == "submit" else []
    return _run([sys.executable, "-m", "paddock", verb, *more, *words], home)


def _run(words: Sequence[str], home: Path) -> str:
    environment = {**os.environ, "PADDOCK_HOME": str(home / "home"), "PADDOCK_CACHE": str(home / "cache")}
    return subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True, check=True).stdout


def lines(results: Results, bench: Any) -> list[Line]:
    found = results.at_most("a task, as many times a bare sbatch", "paddock", "ratio", 1.5, "x")
    return [*found, *results.at_most("1,000 tasks as arrays, submitted", "paddock", "1,000 submitted, s", 10, "s")]
