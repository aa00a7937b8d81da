"""How the process ends: by itself, by sys.exit(), by an exception, by a signal. Each is written down before it happens.

`kill -9` and the kernel's out-of-memory killer leave no time to write; the catalog sees that the process is gone, and
`paddock run` sees the signal.
"""

from __future__ import annotations

import atexit
import builtins
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, NoReturn

from paddock.track import terminated

_MAX_TRACEBACK = 64_000  # characters


@dataclass(frozen=True)
class Ending:
    code: int
    reason: str  # finished, exit, exception, signal, interrupted
    signal: str | None = None
    exception: dict[str, str] | None = None

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = {"k": "end", "code": self.code, "reason": self.reason}
        if self.signal:
            found["signal"] = self.signal
        if self.exception:
            found["exception"] = self.exception
        return found


def by_exception(kind: type[BaseException], value: BaseException | None, trace: TracebackType | None) -> Ending:
    if issubclass(kind, SystemExit):
        return by_exit(getattr(value, "code", None))
    text = "".join(traceback.format_exception(kind, value, trace))
    if len(text) > _MAX_TRACEBACK:
        text = text[: _MAX_TRACEBACK // 2] + "\n[...]\n" + text[-_MAX_TRACEBACK // 2 :]
    facts = {"type": kind.__name__, "message": str(value)[:4000], "traceback": text}
    if issubclass(kind, KeyboardInterrupt):
        return Ending(130, "interrupted", "INT", facts)
    return Ending(1, "exception", None, facts)


def by_exit(code: Any) -> Ending:
    number = 0 if code is None else code if isinstance(code, int) else 1
    return Ending(number, "finished" if number == 0 else "exit")


class Leaving(SystemExit):
    """What sys.exit() raises while we listen. When it dies in the middle of somebody's code, that code has caught it
    and goes on; when it ends the process, it dies with no code around it."""

    def __init__(self, code: Any, swallowed: Callable[[], None]) -> None:
        super().__init__(code)
        self.swallowed = swallowed

    def __del__(self) -> None:
        if sys._getframe().f_back is not None:
            self.swallowed()


class Hooks:
    """The process's own hooks, put in once and taken out by `remove`."""

    def __init__(self, finish: Callable[[Ending], None], *, signals: bool) -> None:
        self._finish = finish
        self._pid = os.getpid()
        self._ending: Ending | None = None
        self._excepthook = sys.excepthook
        self._exit = sys.exit
        self._quitters = {name: getattr(builtins, name) for name in ("exit", "quit") if hasattr(builtins, name)}
        sys.excepthook = self._on_exception
        sys.exit = self._on_exit
        for name in self._quitters:
            setattr(builtins, name, self._on_exit)
        atexit.register(self._at_exit)
        self._signals: dict[int, Any] = {}
        if signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                # Only where nobody else has a plan: a trainer's own handler (to save a checkpoint) comes first.
                if signal.getsignal(number) == signal.SIG_DFL:
                    terminated.not_for_children(self._on_signal)
                    self._signals[number] = signal.signal(number, self._on_signal)

    @property
    def is_ours(self) -> bool:
        """A forked child inherits the hooks; its end is not the run's."""
        return os.getpid() == self._pid

    def remove(self) -> None:
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._excepthook
        if sys.exit == self._on_exit:
            sys.exit = self._exit
        for name, before in self._quitters.items():
            if getattr(builtins, name, None) == self._on_exit:
                setattr(builtins, name, before)
        atexit.unregister(self._at_exit)
        if threading.current_thread() is threading.main_thread():
            for number, before in self._signals.items():
                if signal.getsignal(number) == self._on_signal:
                    signal.signal(number, before)
            terminated.forget(self._on_signal)

    def _on_exception(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        self._ending = by_exception(kind, value, trace)
        self._excepthook(kind, value, trace)

    def _on_exit(self, code: Any = None) -> NoReturn:
        if threading.current_thread() is not threading.main_thread():  # it ends the thread, not the process
            raise SystemExit(code)
        self._ending = by_exit(code)
        raise Leaving(code, self._stays)

    def _stays(self) -> None:
        self._ending = None

    def _at_exit(self) -> None:
        if self.is_ours:
            self._finish(self._ending or Ending(0, "finished"))

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name.removeprefix("SIG")
        if self.is_ours:
            try:
                self._finish(Ending(128 + number, "signal", name))
            except Exception:
                pass
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
