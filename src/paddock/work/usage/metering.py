"""The worker's look at what its host and its tasks use: a thread of its own, which nobody waits for. A task that is
over before the next look costs nothing; looks take a two hundredth of the time at most, however many processes there
are.

What it finds of a task is handed to the worker's loop, which alone writes to the tasks' journals.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.record.layout import Home
from paddock.work.attempts.attempt import Running
from paddock.work.processes.process import MARKER
from paddock.work.usage.hostusage import HostFile, sweep

if TYPE_CHECKING:
    from paddock.gauge.gpus import Gpus
    from paddock.gauge.trees import Entry, TreeMeter

_SHARE = 200  # times as long as a look took is waited before the next one
_HELD = 1000  # records that wait for a loop that hangs


class _Taken(NamedTuple):
    key: str
    at: float  # monotonic
    every: float
    columns: tuple[str, ...]
    values: list[Any]


class Metering:
    def __init__(
        self, home: Home, worker: str, guard: int, every: float, running: Mapping[str, tuple[Any, Running]]
    ) -> None:
        self._home, self._every, self._guard, self._running = home, every, guard, running
        self._file = HostFile(home, worker)
        self._meters: dict[str, tuple[TreeMeter, float]] = {}  # by key, with the time of the last look
        self._keys: dict[tuple[int, int], str] = {}  # of the guard's children
        self._taken: deque[_Taken] = deque(maxlen=_HELD)
        self._stop = threading.Event()

    def start(self) -> None:
        if self._every > 0:
            threading.Thread(target=self._work, name="paddock-metering", daemon=True).start()

    def take(self) -> list[tuple[str, dict[str, Any]]]:
        """(key, record) of what was found since the last call."""
        found = []
        while self._taken:
            one = self._taken.popleft()
            row = [round(1000 * (one.at - time.monotonic())), *one.values]
            record = {"k": "usage", "every": round(one.every, 3), "tree": True, "columns": ["ms", *one.columns]}
            found.append((one.key, {**record, "rows": [row]}))
        return found

    def close(self) -> None:
        self._stop.set()
        if self._every > 0:
            self._file.remove()

    def _work(self) -> None:
        from paddock.gauge.gpus import GpuMeter  # here: the first task does not wait for them
        from paddock.gauge.host import HostMeter

        host, gpus = HostMeter(self._home.path, self._every), GpuMeter(self._every)
        pause = min(self._every, 1.0)  # soon for the first time: who looks at the hosts sees a new one
        swept = False
        while not self._stop.wait(pause):
            began = time.thread_time()
            try:
                if not swept:
                    swept = True
                    sweep(self._home)
                self._file.write(host.read())
                self._look(gpus.look())
            except Exception:  # a disk that refuses, a process that vanished: the next look is another one
                pass
            pause = max(self._every, _SHARE * (time.thread_time() - began))
        self._file.remove()

    def _look(self, gpus: Gpus | None) -> None:
        from paddock.gauge.trees import TreeMeter, table, trees

        now = time.time()
        tasks = {key: running for key, (_, running) in list(self._running.items())}
        long = {key: now - one.started for key, one in tasks.items() if now - one.started >= self._every}
        self._meters = {key: meter for key, meter in self._meters.items() if key in long}
        if not long:
            return
        processes = table()
        here = {entry.pid: key for entry in processes.values() if (key := self._key(entry)) in long}
        self._keys = {who: key for who, key in self._keys.items() if who[0] in processes}
        at = time.monotonic()
        for key, members in trees(here, processes).items():
            meter, last = self._meters.get(key) or (TreeMeter(at - long[key]), at - long[key])
            self._meters[key] = meter, at
            values = meter.read(members)
            self._taken.append(_Taken(key, at, at - last, *_with_gpus(values, members, gpus)))

    def _key(self, entry: Entry) -> str:
        """Which task a child of the guard is; "" for any other process."""
        if entry.parent != self._guard:
            return ""
        key = self._keys.get(entry.identity)
        if key is None or key.startswith("spare-"):  # one that was kept ready is told later which task it is
            key = self._keys[entry.identity] = _marked(entry.pid)
        return key


def _with_gpus(values: list[Any], members: list[Entry], gpus: Gpus | None) -> tuple[tuple[str, ...], list[Any]]:
    from paddock.gauge.trees import COLUMNS

    if gpus is None:
        return COLUMNS, values
    shares = [gpus.processes[entry.pid] for entry in members if entry.pid in gpus.processes]
    busy = [share.busy for share in shares if share.busy is not None]
    known = round(sum(busy), 1) if busy or not shares else None
    return (*COLUMNS, "gpu", "gpu_memory"), [*values, known, sum(share.memory for share in shares)]


def _marked(pid: int) -> str:
    """The token that the process was started with."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return ""
    start = f"{MARKER}=".encode()
    return next((os.fsdecode(v[len(start) :]) for v in variables if v.startswith(start)), "")
