"""The hosts of this minute: this one by what its kernel says, the others by what runs and workers say of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paddock.compare.usage.now import latest
from paddock.gauge.host import ProcessorMeter, memory
from paddock.monitor.now.picture import Gpu, Host, Process, Worker
from paddock.record.layout import Home
from paddock.work.usage import hostusage

_SECONDS = 5.0  # between two readings of samples, which come every ten or so


class HostReader:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._read = -1e9
        self._samples: dict[str, dict[str, Any]] = {}  # host -> what a worker says of it
        self._processes: dict[str, list[Process]] = {}
        self._name = os.uname().nodename
        self._processors = ProcessorMeter()

    def look(self, runs: Mapping[str, int], workers: Iterable[Worker], running: Mapping[str, str]) -> tuple[Host, ...]:
        """`runs`: how many run on each host. `running`: the names of those that run, by id."""
        if time.monotonic() - self._read > _SECONDS:
            self._read = time.monotonic()
            self._samples = {one.name: one.sample for one in hostusage.hosts(self._home) if not one.silent}
            self._processes = self._used(running)
        processes = self._processes
        crew = Counter(worker.host for worker in workers if worker.state == "alive")
        names = sorted({*runs, *crew, *processes, *self._samples} - {self._name, ""})
        used = memory()
        here = Host(
            name=self._name,
            here=True,
            cpus=os.cpu_count(),
            cpu=_number(self._processors.read(), 0.01),
            memory=used["memory"],
            memory_total=used["memory_total"],
            gpus=_gpus(self._samples.get(self._name, {})),
            processes=tuple(processes.get(self._name, ())),
            runs=runs.get(self._name, 0),
            workers=crew[self._name],
        )
        others = [
            _host(name, self._samples.get(name, {}), processes.get(name, ()), runs.get(name, 0), crew[name])
            for name in names
        ]
        return (here, *others)

    def _used(self, running: Mapping[str, str]) -> dict[str, list[Process]]:
        """What each process of these runs used last, where that is sampled."""
        found: dict[str, list[Process]] = {}
        for run_id, name in running.items():
            try:
                samples = latest(Path(self._home.runs, run_id))
            except OSError:
                continue
            for one in samples:
                used = one.values
                process = Process(
                    run=run_id,
                    run_name=name,
                    pid=one.who.pid,
                    rank=one.who.rank,
                    cpu=_number(used.get("cpu"), 0.01),
                    memory=_whole(used.get("rss")),
                    gpu=_number(used.get("gpu"), 0.01),
                    gpu_memory=_whole(used.get("gpu_memory")),
                    time=one.time,
                )
                found.setdefault(one.who.host, []).append(process)
        return found


def _host(name: str, sample: Mapping[str, Any], processes: Iterable[Process], runs: int, workers: int) -> Host:
    return Host(
        name=name,
        cpus=_whole(sample.get("cpus")),
        cpu=_number(sample.get("cpu"), 0.01),
        memory=_whole(sample.get("memory")),
        memory_total=_whole(sample.get("memory_total")),
        gpus=_gpus(sample),
        processes=tuple(processes),
        runs=runs,
        workers=workers,
    )


def _gpus(sample: Mapping[str, Any]) -> tuple[Gpu, ...]:
    found = sample.get("gpus")
    return tuple(
        Gpu(
            index=str(gpu.get("number", "")),
            name=str(gpu.get("name") or ""),
            use=_number(gpu.get("busy"), 0.01),
            memory=_whole(gpu.get("used")),
            memory_total=_whole(gpu.get("total")),
        )
        for gpu in (found if isinstance(found, list) else ())
        if isinstance(gpu, dict)
    )


def _number(value: Any, times: float = 1.0) -> float | None:
    return round(value * times, 4) if isinstance(value, (int, float)) and abs(value) < 1e15 else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e18 else None
