"""A control group per task, where the system lets us make one: nothing leaves it by accident, and all of it can be
killed or frozen in one step."""

from __future__ import annotations

import os
import re

_PREFIX = "paddock-"
_PLAIN = re.compile(r"[A-Za-z0-9._~@-]{1,200}")


class Cgroup:
    def __init__(self, path: str) -> None:
        self.path = path

    def add(self, pid: int) -> bool:
        """Move a process inside; False when it is gone or the system refuses. The kernel then waits until every
        processor has passed a quiet moment, for 10 to 20 ms, in which nobody on this machine can start a process."""
        return self._write("cgroup.procs", b"%d" % pid)

    def members(self) -> list[int]:
        return [int(pid) for pid in self._read("cgroup.procs").split()]

    def holds(self, pid: int) -> bool:
        """Whether a process is inside, or in a group that the task made inside."""
        own = os.path.basename(self.path)
        try:
            with open(f"/proc/{pid}/cgroup") as file:
                return any(own in line.rstrip().split("/") for line in file if line.startswith("0::"))
        except OSError:
            return False

    def freeze(self, on: bool) -> bool:
        """Stop all of it, or let it go on; False when the system refused."""
        return self._write("cgroup.freeze", b"1" if on else b"0")

    def kill(self) -> None:
        self._write("cgroup.kill", b"1")

    def peak_memory(self) -> int:
        """Bytes; 0 where memory is not counted."""
        text = self._read("memory.peak").strip()
        return int(text) if text.isdigit() else 0

    def remove(self) -> bool:
        """A group with a process in it, dead and unburied ones included, cannot be removed yet. Groups that the task
        made inside go with it."""
        try:
            os.rmdir(self.path)  # mostly there are none
            return True
        except OSError:
            pass
        for directory, _, _ in os.walk(self.path, topdown=False):
            try:
                os.rmdir(directory)
            except FileNotFoundError:
                pass
            except OSError:
                return False
        return True

    def _read(self, name: str) -> bytes:
        path = f"{self.path}/{name}"
        if not os.access(path, os.R_OK):  # as memory.peak often is not there
            return b""
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def _write(self, name: str, data: bytes) -> bool:
        try:
            descriptor = os.open(f"{self.path}/{name}", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            os.write(descriptor, data)
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)


def base() -> str:
    """Our own group's directory; "" when there is none, or none that we may make others in."""
    try:
        with open("/proc/self/cgroup") as file:
            own = next((line[3:].strip() for line in file if line.startswith("0::")), "")
        with open("/proc/self/mountinfo") as file:
            fields = [line.split() for line in file if " - cgroup2 " in line]
    except OSError:
        return ""
    for line in fields:
        root, mount = line[3], line[4]
        if own.startswith("/..") or not own.startswith(root):
            continue
        path = os.path.normpath(f"{mount}/{own.removeprefix(root)}")
        if os.access(path, os.W_OK | os.X_OK):
            return path
    return ""


def make(base: str, key: str) -> Cgroup | None:
    path = f"{base}/{name(key)}"
    try:
        os.mkdir(path)
    except FileExistsError:  # left by a guard that was killed
        return Cgroup(path) if not Cgroup(path).members() else None
    except OSError:
        return None
    return Cgroup(path)


def of(pid: int) -> Cgroup | None:
    """The group that a process of a task is in: one that was started ahead has one of another name."""
    where = base()
    try:
        with open(f"/proc/{pid}/cgroup") as file:
            own = next((line[3:].rstrip("\n") for line in file if line.startswith("0::")), "")
    except OSError:
        return None
    here = next((part for part in own.split("/") if part.startswith(_PREFIX)), "")
    return Cgroup(f"{where}/{here}") if where and here and os.path.isdir(f"{where}/{here}") else None


def existing(key: str) -> Cgroup | None:
    """The group of a task whose guard is gone."""
    where = base()
    path = f"{where}/{name(key)}"
    return Cgroup(path) if where and os.path.isdir(path) else None


def name(key: str) -> str:
    if _PLAIN.fullmatch(key):
        return _PREFIX + key
    import hashlib  # seldom: it loads a library of ciphers, and a task would wait for that

    return _PREFIX + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def usable() -> str:
    """The directory to make groups in, after trying one out; "" when it does not work here."""
    where = base()
    group = make(where, f"probe-{os.getpid()}") if where else None
    if group is None:
        return ""
    works = all(os.path.exists(f"{group.path}/cgroup.{verb}") for verb in ("kill", "freeze"))
    try:
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", 'echo 0 2>/dev/null >"$0"', f"{group.path}/cgroup.procs"], {})
        works = os.waitpid(pid, 0)[1] == 0 and works
    except OSError:
        works = False
    return where if group.remove() and works else ""
