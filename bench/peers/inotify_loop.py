"""A bare loop: inotify, and the evaluator called in the same process. It remembers nothing, and a crash ends it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.processes import started, wait_until
from bench.watchers import Watcher

LOOP = """
import ctypes, importlib.util, os, struct, sys
spec = importlib.util.spec_from_file_location("evaluator", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(0)
watched = {libc.inotify_add_watch(fd, os.fsencode(path), 0x80): path for path in sys.argv[2:]}  # IN_MOVED_TO
print("ready", flush=True)
while True:
    data, at = os.read(fd, 65536), 0
    while at < len(data):
        number, _, _, size = struct.unpack_from("iIII", data, at)
        name = os.fsdecode(data[at + 16 : at + 16 + size].rstrip(b"\\0"))
        at += 16 + size
        module.evaluate(os.path.join(watched[number], name))
"""


class Inotify(Watcher):
    name = "inotify loop"

    @contextlib.contextmanager
    def watching(self, home: Path, directories: Sequence[Path], evaluator: Path) -> Iterator[None]:
        with started([sys.executable, "-c", LOOP, evaluator, *directories], home):
            log = home / f"{Path(sys.executable).name}.log"
            wait_until(lambda: log.exists() and b"ready" in log.read_bytes(), "the loop begins")
            yield


SYSTEMS = (Inotify(),)
