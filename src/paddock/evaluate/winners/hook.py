"""--on-best: a command for each new best, once, also when the watcher dies meanwhile.

    watches/<id>/bests/<metric>/<key>.begun    whoever puts this file runs the command
    watches/<id>/bests/<metric>/<key>.ended    its exit code, written by the shell that ran it
    watches/<id>/bests/<metric>/<key>.log      what it printed

The command outlives the watcher, and says itself how it ended. Only what was killed with it is run again.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from paddock import files, wire
from paddock.evaluate.evaluators.template import fill
from paddock.record.process import Place, Process, place, start_ticks

_WHEN_TOLD = 'read go && [ "$go" = go ] || exit 0; '
_SHELL = _WHEN_TOLD + '/bin/sh -c "$1" >>"$2.log" 2>&1; echo $? >"$2.aside" && mv "$2.aside" "$2.ended"'
_MOST_WORDS = 300


class Hook:
    def __init__(self, command: str, directory: Path, say: Callable[[str], None]) -> None:
        self._command, self._directory, self._say = command, directory, say
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, key: str, words: Mapping[str, str]) -> None:
        """Unless it was run for this one before."""
        if key in self._running or self._is_dealt_with(key):
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        # The shell begins only when it reads a line, so that it is known before it does anything.
        process = subprocess.Popen(
            ["/bin/sh", "-c", _SHELL, "on-best", fill(self._command, words), str(self._directory / key)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        about = {"pid": process.pid, "start": start_ticks(process.pid), **place()._asdict()}
        mine = files.write_once(self._directory / f"{key}.begun", wire.dumps(about))
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(b"go\n" if mine else b"no\n")
            process.stdin.close()
        if mine:
            self._running[key] = process
        else:
            process.wait()

    def poll(self) -> bool:
        """Say what has failed; whether any runs."""
        for key, process in list(self._running.items()):
            if process.poll() is not None:
                del self._running[key]
                self._tell(key)
        return bool(self._running)

    def wait(self, seconds: float) -> None:
        """At the end of the watch. What takes longer goes on by itself."""
        for process in list(self._running.values()):
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                self._say("the command of --on-best still runs, and goes on without the watch")
        self.poll()

    def _tell(self, key: str) -> None:
        code = _text(self._directory / f"{key}.ended").strip() or "nothing"
        if code != "0":
            words = _text(self._directory / f"{key}.log").strip().rpartition("\n")[2][-_MOST_WORDS:]
            self._say(f"--on-best failed with {code}: {words or 'it printed nothing'}")

    def _is_dealt_with(self, key: str) -> bool:
        text = _text(self._directory / f"{key}.begun")
        if not text:
            return False
        try:
            about = wire.loads(text.encode())
        except wire.DecodeError:
            return True
        words = (str(about.get(field, "")) for field in Place._fields)
        if not Process(Place(*words), int(about["pid"]), str(about["start"])).is_gone():
            return True  # of one on another machine, or in another container, that is not known
        if not (self._directory / f"{key}.ended").exists():  # killed with its watcher: as if it had not begun
            (self._directory / f"{key}.begun").unlink(missing_ok=True)
            return False
        return True


def _text(path: Path) -> str:
    try:
        return os.fsdecode(path.read_bytes())
    except OSError:
        return ""
