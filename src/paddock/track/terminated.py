"""SIGTERM in processes that multiprocessing has started, which is how `with Pool()` ends them.

A handler of Python's own is called by the main thread when that comes to it. A signal that comes while a child is
being forked is forgotten, and one that comes just before a wait for a lock is heard when the wait is over: then the
pool would wait for ever for a worker that has not heard. So children do not inherit our handlers, no signal is taken in
while one is forked, and where a child has something to say before it ends, a thread sees to it that it does end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from paddock.errors import PaddockError
from paddock.settings import load as load_settings

PATIENCE_SECONDS = 1.0  # for the main thread, which may be in a call that does not return
SIGNALS = (signal.SIGTERM, signal.SIGHUP)

_handlers: list[Any] = []  # ours, which are for the process that has set them
_fork = threading.local()  # the signals that were blocked before
_hooked = False
_words: list[Callable[[], Any]] = []
_pipe = -1  # its end that the interpreter writes signals to


def not_for_children(handler: Any) -> None:
    """Of what this process has set for SIGNALS."""
    global _hooked
    if handler not in _handlers:
        _handlers.append(handler)
    if not _hooked:
        _hooked = True
        os.register_at_fork(before=_before_fork, after_in_parent=_unblock, after_in_child=_in_child)


def forget(handler: Any) -> None:
    if handler in _handlers:
        _handlers.remove(handler)


def before_end(say: Callable[[], Any]) -> None:
    """Have it called before SIGTERM ends this process, when it is one of multiprocessing and nobody else has a plan."""
    if say in _words:
        return
    if _words or _listen():
        _words.append(say)


def _listen() -> bool:
    global _pipe
    processes = sys.modules.get("multiprocessing.process")
    if processes is None or processes.parent_process() is None or not _may():
        return False
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(SIGNALS[0]) != signal.SIG_DFL:
        return False
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    others = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if others != -1:  # an event loop's: it stays, and this process ends as it always did
        signal.set_wakeup_fd(others)
        os.close(reader)
        os.close(writer)
        return False
    _pipe = writer
    threading.Thread(target=_see_to_it, args=(reader,), name="paddock-end", daemon=True).start()
    not_for_children(_on_signal)
    signal.signal(signal.SIGTERM, _on_signal)
    return True


def _may() -> bool:
    try:
        return bool(load_settings().capture_signals)
    except PaddockError:
        return False


def _on_signal(number: int, frame: FrameType | None) -> None:
    _say()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _see_to_it(reader: int) -> None:
    while seen := os.read(reader, 64):
        if signal.SIGTERM in seen and signal.getsignal(signal.SIGTERM) is _on_signal:
            time.sleep(PATIENCE_SECONDS)
            saying = threading.Thread(target=_say, daemon=True)
            saying.start()
            saying.join(PATIENCE_SECONDS)  # it may wait for what the main thread holds
            os.kill(os.getpid(), signal.SIGKILL)


def _say() -> None:
    for say in _words:
        try:
            say()
        except Exception:  # it is to end all the same
            pass


def _before_fork() -> None:
    _fork.mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _fork.mask)


def _in_child() -> None:
    """What the child has heard by now waits until it may be heard."""
    global _pipe
    for number in SIGNALS:
        if signal.getsignal(number) in _handlers:
            signal.signal(number, signal.SIG_DFL)
    if _pipe != -1:
        signal.set_wakeup_fd(-1)
        os.close(_pipe)
        _pipe = -1
    _words.clear()
    _handlers.clear()
    _unblock()
