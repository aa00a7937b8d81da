"""NVIDIA's own library, asked through nvidia-ml-py (`paddock[gpu]`): the GPUs, and who uses them how much.

A driver may answer slowly or, with a GPU in trouble, never: this is called by threads that nobody waits for.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple


class Device(NamedTuple):
    number: int
    name: str
    uuid: str
    used: int  # bytes
    total: int
    busy: float | None  # per cent of the time


class Share(NamedTuple):
    """What one process has of all GPUs."""

    busy: float | None  # per cent of one GPU; None where the driver does not say it by process
    memory: int  # bytes


@cache
def missing() -> str:
    """Why there is nothing to ask, in words; "" when there is. It stays so: a forked child need not look again."""
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return "no NVIDIA driver"
    return "" if find_spec("pynvml") else "nvidia-ml-py is not installed: pip install 'paddock[gpu]'"


class Nvml:
    """The library, ready to be asked by this process."""

    def __init__(self) -> None:
        import pynvml

        self._nvml: Any = pynvml
        self.pid = os.getpid()
        self._nvml.nvmlInit()
        self._handles = [self._nvml.nvmlDeviceGetHandleByIndex(i) for i in range(self._nvml.nvmlDeviceGetCount())]
        self._names = [(_text(self._ask("Name", h)), _text(self._ask("UUID", h))) for h in self._handles]
        self._seen = [0] * len(self._handles)  # the driver's own time of the last sample by process

    def look(self) -> tuple[list[Device], dict[int, Share]]:
        devices, shares = [], dict[int, Share]()
        for index, handle in enumerate(self._handles):
            memory, rates = self._ask("MemoryInfo", handle), self._ask("UtilizationRates", handle)
            busy = float(rates.gpu) if rates is not None else None
            used, total = (int(memory.used), int(memory.total)) if memory is not None else (0, 0)
            devices.append(Device(index, *self._names[index], used, total, busy))
            for pid, share in self._of(index, handle, busy).items():
                shares[pid] = _sum(shares.get(pid), share)
        return devices, shares

    def _of(self, index: int, handle: Any, busy: float | None) -> dict[int, Share]:
        """What each process has of one GPU."""
        memory: dict[int, int] = {}
        for kind in ("ComputeRunningProcesses", "GraphicsRunningProcesses"):
            for process in self._ask(kind, handle) or ():
                memory[process.pid] = max(memory.get(process.pid, 0), process.usedGpuMemory or 0)
        samples = self._samples(index, handle)
        if samples is None:  # the driver does not say it by process: who is alone there has all of it
            alone = busy if len(memory) == 1 else None
            return {pid: Share(alone, used) for pid, used in memory.items()}
        return {pid: Share(samples.get(pid, 0.0), memory.get(pid, 0)) for pid in memory.keys() | samples.keys()}

    def _samples(self, index: int, handle: Any) -> dict[int, float] | None:
        """Per cent by process, the mean of what the driver has sampled since the last look."""
        nvml = self._nvml
        try:
            found = nvml.nvmlDeviceGetProcessUtilization(handle, self._seen[index])
        except nvml.NVMLError as error:
            return {} if error.value in (nvml.NVML_SUCCESS, nvml.NVML_ERROR_NOT_FOUND) else None
        values: dict[int, list[int]] = {}
        for sample in found:
            self._seen[index] = max(self._seen[index], sample.timeStamp)
            if sample.pid and sample.smUtil <= 100:  # the buffer has holes, filled with anything
                values.setdefault(sample.pid, []).append(sample.smUtil)
        return {pid: sum(several) / len(several) for pid, several in values.items()}

    def _ask(self, what: str, handle: Any) -> Any:
        """None when this GPU, or this driver, does not know."""
        try:
            return getattr(self._nvml, f"nvmlDeviceGet{what}")(handle)
        except self._nvml.NVMLError:
            return None


def _sum(one: Share | None, other: Share) -> Share:
    if one is None:
        return other
    known = [busy for busy in (one.busy, other.busy) if busy is not None]
    return Share(sum(known) if known else None, one.memory + other.memory)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
