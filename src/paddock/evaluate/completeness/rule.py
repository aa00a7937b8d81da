"""When a candidate is complete: as its format shows, or as the user says, by a marker or by a command."""

from __future__ import annotations

import fnmatch
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import NamedTuple

from paddock.errors import UsageError
from paddock.evaluate.completeness.marker import read as what_was_said
from paddock.evaluate.completeness.settling import Mark, mark_of
from paddock.evaluate.evaluators.template import fill
from paddock.evaluate.formats.choice import judge
from paddock.evaluate.formats.judgement import Judgement, complete, partial
from paddock.evaluate.origin.look import Entry, Look

COMMAND_SECONDS = 60.0  # after which a command has not said so
AGAIN_SECONDS = 2.0  # before it is asked again, at least
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Rule(NamedTuple):
    markers: tuple[str, ...] = ()
    command: str = ""
    seconds: float = COMMAND_SECONDS

    def check(self) -> Rule:
        for marker in self.markers:
            unknown = [name for name in _PLACEHOLDER.findall(marker) if name not in ("name", "stem")]
            if unknown:
                raise UsageError(
                    f"--marker {marker!r} has {{{unknown[0]}}}, which is never filled in.",
                    hint="{name} is that of the checkpoint, {stem} the same without what follows its first dot.",
                )
            if not marker or os.path.isabs(marker) or ".." in marker.split("/"):
                raise UsageError(
                    f"--marker {marker!r} is no name of a file.", hint="Such as _SUCCESS, or '{name}.done' beside it."
                )
        if self.command and "{path}" not in self.command:
            raise UsageError("--complete-command does not use {path}.", hint="Such as 'test -f {path}/DONE'.")
        return self


BY_FORMAT = Rule()  # nothing was said


class Completeness:
    """What the user says replaces what the format shows."""

    def __init__(self, rule: Rule = BY_FORMAT) -> None:
        self._rule = rule
        self._asking = Asking(rule.command, rule.seconds) if rule.command else None

    def judge(self, look: Look) -> Judgement:
        if what_was_said(look) is not None:
            return Judgement(True, "the trainer says so", 0.0, said=True)
        if self._rule.markers:
            found = judge_markers(look, self._rule.markers)
            if not found.complete or self._asking is None:
                return found
        return judge(look) if self._asking is None else self._asking.judge(look)

    def forget(self, path: str) -> None:
        if self._asking is not None:
            self._asking.forget(path)

    def wait(self) -> None:
        """Until no command runs."""
        if self._asking is not None:
            self._asking.wait()


def judge_markers(look: Look, markers: Sequence[str]) -> Judgement:
    """One of these files is there, and is not older than the checkpoint: one that is written over may have an old one.
    Inside of a directory or beside it; `{name}` and `{stem}` are those of the checkpoint, `*` fits anything. Without
    either, a marker beside a directory would speak for all its neighbours."""
    stem = look.name.partition(".")[0] if not look.is_directory else look.name
    beside: dict[str, Entry] = {}
    newest = max((e.mtime for n, e in look.files.items() if not _fits(n, markers, look.name, stem)), default=0)
    if not look.is_directory or any("{" in marker for marker in markers):
        beside = {n: e for n, e in look.beside().items() if _fits(n, markers, look.name, stem, look.is_directory)}
    inside = {n: e for n, e in look.files.items() if n and _fits(n, markers, look.name, stem)}
    found = {**beside, **inside}
    for name, entry in found.items():
        if entry.mtime >= newest:
            return complete(f"{name} says so", 0.0)
    if found:
        return partial(f"{next(iter(found))} is older than it")
    return partial(f"{' or '.join(markers)} is missing")


def _fits(file: str, markers: Sequence[str], name: str, stem: str, own: bool = False) -> bool:
    """`own`: only what names the checkpoint."""
    for marker in markers:
        if own and "{name}" not in marker and "{stem}" not in marker:
            continue
        pattern = marker.replace("{name}", _literal(name)).replace("{stem}", _literal(stem))
        if fnmatch.fnmatchcase(file, pattern):
            return True
    return False


def _literal(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


class Asking:
    """The user's command, asked in a thread: a slow one must not hold up other checkpoints."""

    def __init__(self, command: str, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._command, self._seconds, self._clock = command, seconds, clock
        self._answers: dict[str, tuple[Mark, bool, str, float]] = {}  # path -> of what, the answer, why, and when
        self._asked: dict[str, Mark] = {}
        self._questions: SimpleQueue[tuple[str, Mark]] = SimpleQueue()
        self._idle = threading.Condition()
        self._thread: threading.Thread | None = None

    def judge(self, look: Look) -> Judgement:
        mark = mark_of(look)
        known = self._answers.get(look.path)
        if known is not None and known[0] == mark and (known[1] or self._clock() - known[3] < AGAIN_SECONDS):
            return complete(known[2], 0.0) if known[1] else partial(known[2])
        self._ask(look.path, mark)
        return partial(known[2] if known is not None and known[0] == mark else "the command has not answered yet")

    def forget(self, path: str) -> None:
        with self._idle:
            self._answers.pop(path, None)

    def wait(self) -> None:
        with self._idle:
            self._idle.wait_for(lambda: not self._asked)

    def _ask(self, path: str, mark: Mark) -> None:
        with self._idle:
            if path in self._asked:
                return
            self._asked[path] = mark
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._answer, name="complete-command", daemon=True)
            self._thread.start()
        self._questions.put((path, mark))

    def _answer(self) -> None:
        while True:
            path, mark = self._questions.get()
            is_complete, why = _run(self._command, path, self._seconds)
            with self._idle:
                self._answers[path] = (mark, is_complete, why, self._clock())
                del self._asked[path]
                self._idle.notify_all()


def _run(command: str, path: str, seconds: float) -> tuple[bool, str]:
    words = ["/bin/sh", "-c", fill(command, {"path": path})]
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return False, f"the command cannot be run ({error.strerror})"
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False, f"the command took more than {seconds:g} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code == 0, "the command says so" if code == 0 else f"the command ended with exit code {code}"
