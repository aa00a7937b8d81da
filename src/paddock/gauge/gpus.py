"""The GPUs of this host, asked once for all of a user's processes.

The driver's answer takes milliseconds and is about everybody anyway. So whoever first finds the last one too old asks
anew and leaves it in a file in memory; the others read that, in microseconds. With a driver that never answers one
thread hangs, and the others see that the file grows old.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from typing import NamedTuple

from paddock import wire
from paddock.gauge import nvml
from paddock.gauge.nvml import Device, Nvml, Share

STALE = 5  # intervals after which an answer says nothing any more
_BYTES = 1 << 20


class Gpus(NamedTuple):
    at: float  # seconds since the boot, which all processes count alike
    devices: tuple[Device, ...]
    processes: dict[int, Share]


class GpuMeter:
    """`why` there are no numbers, "" when there are."""

    def __init__(self, every: float, path: str = "") -> None:
        self._every, self._path = every, path or _place()
        self._descriptor, self._nvml = -1, None
        self._last: Gpus | None = None
        self.why = nvml.missing()

    _nvml: Nvml | None

    def look(self) -> Gpus | None:
        """The GPUs as they were at most an interval ago; None when nobody knows."""
        if self.why:
            return None
        try:
            found = self._shared()
        except (OSError, wire.DecodeError, ValueError, TypeError, AttributeError):
            found = None  # it is just being written, or somebody's nonsense
        self._last = found or self._last
        now = _now()
        if self._last is None or not 0 <= now - self._last.at < 0.9 * self._every:
            self._ask(now)
        return self._last if self._last is not None and now - self._last.at < STALE * self._every else None

    def share(self, pid: int) -> Share | None:
        found = self.look()
        return None if found is None else found.processes.get(pid, Share(0.0, 0))

    def _shared(self) -> Gpus | None:
        data = os.pread(self._open(), _BYTES, 0)
        return _read(data) if data else None

    def _open(self) -> int:
        if self._descriptor < 0:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            about = os.fstat(descriptor)
            # The place is everybody's: a file of somebody else could tell us anything.
            if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode):
                os.close(descriptor)
                raise OSError(1, "not ours", self._path)
            self._descriptor = descriptor
        return self._descriptor

    def _ask(self, now: float) -> None:
        try:
            descriptor = self._open()
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another one is asking at this moment
        except OSError:
            descriptor = -1  # nothing can be shared here
        try:
            if self._nvml is None or self._nvml.pid != os.getpid():
                self._nvml = Nvml()
            devices, processes = self._nvml.look()
            self._last = Gpus(round(now, 3), tuple(devices), processes)
            if descriptor >= 0:
                data = wire.dumps([self._last.at, devices, {str(pid): share for pid, share in processes.items()}])
                os.ftruncate(descriptor, os.pwrite(descriptor, data, 0))
        except Exception as error:  # whatever the driver's library says: there are no numbers, and a reason
            self.why = f"{type(error).__name__}: {error}"
        finally:
            if descriptor >= 0:
                fcntl.flock(descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _read(data: bytes) -> Gpus:
    at, devices, processes = wire.loads(data)
    shares = {int(pid): Share(*share) for pid, share in processes.items()}
    return Gpus(float(at), tuple(Device(*device) for device in devices), shares)


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _place() -> str:
    """In memory, and each user's own."""
    places = (os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp")
    directory = next(place for place in places if place and (place == "/tmp" or os.access(place, os.W_OK | os.X_OK)))
    return f"{directory}/paddock-gpus-{os.geteuid()}"
