"""What sampling costs: a checkpoint while it is off, one sample with few and with many children, 32 processes for some
time. Counted in processor time, which a busy machine does not change much."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System

NAME = "usage"
ABOUT = (
    "off: ns of a checkpoint; us of processor of a sample with 1 and 100 children; % of a core of 32 processes at 1 Hz"
)
PROCESSES, CHILDREN, SAMPLES, BATCHES = 32, 100, 200, 20
IDLE = """
import os, sys, time
import paddock
from paddock.monitor.usage import Usage
paddock.init(id="bench", mode="shared")
Usage.checkpoint("begin")
time.sleep(2)
print("ready", flush=True)
sys.stdin.readline()
before = time.process_time()
sys.stdin.readline()
print(time.process_time() - before, flush=True)
"""


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: System) -> dict[str, float]:
    found = fresh.call("bench.cases.usage:measure_off", system.name, bench.new_home("usage-off"))
    found |= fresh.call("bench.cases.usage:measure_sample", system.name, bench.new_home("usage-sample"))
    seconds = bench.size(20, 4)
    on, off = (idle(system, bench.new_home("usage-many"), seconds, sampled) for sampled in ("true", "false"))
    return found | {"32 on %": 100 * on / seconds, "32 off %": 100 * off / seconds, "32 %": 100 * (on - off) / seconds}


def measure_off(system: System, home: Path) -> dict[str, float]:
    from paddock.monitor.usage import Usage

    checkpoint, count = Usage.checkpoint, 200_000
    checkpoint("decides", "once")
    start = perf_counter_ns()
    for step in range(count):
        checkpoint("step", step)
    called = perf_counter_ns()
    for _ in range(count):
        pass
    return {"off ns": (called - start - (perf_counter_ns() - called)) / count}


def measure_sample(system: System, home: Path) -> dict[str, float]:
    from paddock.track.usage.sampler import Sampler

    found, children = {}, list[int]()
    for count in (1, CHILDREN):
        while len(children) < count:
            pid = os.fork()
            if not pid:
                time.sleep(600)
                os._exit(0)
            children.append(pid)
        sampler = Sampler(3600.0)
        for _ in range(100):
            sampler._sample()
        found[f"{count} children us"] = min(_sampled(sampler) for _ in range(BATCHES))
        sampler.stop()
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return found


def _sampled(sampler: Any) -> float:
    """Microseconds of a sample. The quickest of many such batches is the one that nobody disturbed: the machine's own
    speed may change while children are started, and is not what is asked for."""
    start = time.thread_time()
    for _ in range(SAMPLES):
        sampler._sample()
    return (time.thread_time() - start) / SAMPLES * 1e6


def idle(system: System, home: Path, seconds: int, sampled: str) -> float:
    """What so many processes use of a processor while they do nothing but being sampled, or not."""
    settings = fresh.environment() | system.environment(home)
    settings |= {"PADDOCK_USAGE": sampled, "PADDOCK_QUIET": "1", "PADDOCK_CAPTURE_CODE": "false"}
    command = [sys.executable, "-c", IDLE]
    pipe = subprocess.PIPE
    several = [
        subprocess.Popen(command, cwd=home, env=settings, stdin=pipe, stdout=pipe, text=True) for _ in range(PROCESSES)
    ]
    for process in several:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in several:
        _tell(process)
    time.sleep(seconds)
    used = 0.0
    for process in several:
        _tell(process)
        assert process.stdout is not None
        used += float(process.stdout.readline())
    for process in several:
        process.communicate()
    return used


def _tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def lines(results: Results, bench: Any) -> list[Line]:
    one = results.median("paddock", "1 children us") or 0.0
    return [
        *results.at_most("a checkpoint that is off at most 200 ns", "paddock", "off ns", 200, "ns"),
        *results.at_most(
            "a sample with 100 children at most 1.3 x one with 1", "paddock", "100 children us", 1.3 * one, "us"
        ),
        *results.at_most("32 processes at 1 Hz below 1 % of a core", "paddock", "32 %", 1.0, "%"),
    ]
