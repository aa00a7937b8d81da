"""Usage.checkpoint(): a moment to be seen on the line of what the processes use. Off by default, and then it costs a
look at one name."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from paddock.errors import PaddockError
from paddock.settings import SETTINGS
from paddock.settings import load as load_settings
from paddock.track import active, notice, terminated
from paddock.track.run import Run
from paddock.track.usage.sampler import Sampler
from paddock.track.usage.target import is_child, target
from paddock.track.usage.words import words

USAGE, SECONDS = (next(s.variable for s in SETTINGS if s.name == name) for name in ("usage", "usage_seconds"))

_lock = threading.RLock()  # of beginning and ending; re-entrant, as a signal may end the run in the middle
_off = False  # decided, and not wanted
_sampler: Sampler | None = None
_hooked = False
_had_run = False


class Usage:
    """What all processes of a run use, sampled every second, with checkpoints on it."""

    @staticmethod
    def checkpoint(*message: Any) -> None:
        """Mark this moment. Nothing is written before the first one of a run; nothing at all while usage is off."""
        if _off:
            return
        _checkpoint(message)

    @staticmethod
    def enable(interval: float | None = None) -> None:
        """Sample from now on, in this process and those that it starts; `interval` in seconds."""
        global _off
        chosen = load_settings(usage=True, usage_seconds=interval)
        os.environ[USAGE], os.environ[SECONDS] = "true", str(chosen.usage_seconds)
        _off = False
        begin(active.current(), chosen.usage_seconds)

    @staticmethod
    def disable() -> None:
        """Sample no more; what was sampled since the last checkpoint is written."""
        global _off
        os.environ[USAGE] = "false"
        _off = True
        _end()

    @staticmethod
    def enabled() -> bool:
        return not _off and (_sampler is not None or _wanted())


def begin(run: Run | None, every: float) -> None:
    """Sample this process; until the run ends, if there is one."""
    global _off, _sampler, _hooked, _had_run
    if _sampler is not None and _sampler.every != every:
        _end()
    with _lock:
        _off = False
        if run is not None and not run.disabled:
            _had_run = True
            if _end not in run._at_finish:
                run._at_finish.append(_end)
        if _sampler is None:
            _sampler = Sampler(every, keeper=None if run is None or run.disabled else run._keeper)
            if "paddock[gpu]" in _sampler.without_gpus:
                notice.say_once("usage of gpus", f"usage of GPUs is not sampled: {_sampler.without_gpus}")
        if not _hooked:
            _hooked = True
            os.register_at_fork(after_in_child=_after_fork)
            atexit.register(_end)
            _at_exit_of_pool_worker()


def switch_off() -> None:
    """init(usage=False)."""
    global _off
    _off = True
    _end()


def join() -> None:
    """A process that a tracked one has started is sampled from the moment it knows of usage: it may never make a
    checkpoint itself."""
    if USAGE in os.environ and is_child() and _wanted():
        begin(None, load_settings().usage_seconds)


def _wanted() -> bool:
    try:
        return bool(load_settings().usage)
    except PaddockError as error:
        notice.say_once("usage", f"usage is off: {error}")
        return False


def _checkpoint(message: tuple[Any, ...]) -> None:
    global _off
    try:
        if _sampler is None:
            with _lock:
                _off = _sampler is None and not _wanted()
                if _off:
                    return
                if _sampler is None:
                    _first()
        sampler, into = _sampler, target()
        if sampler is not None and into is not None:
            into.append([{"k": "usage_mark", "msg": words(message)}])
            sampler.mark(into)
    except Exception as error:  # nothing of this is worth a training
        notice.say_once("usage", f"a checkpoint of usage could not be kept ({type(error).__name__}: {error})")


def _first() -> None:
    """Usage is on, and nobody has begun yet: this process joins the run it belongs to, or begins one, once."""
    run = active.current()
    if run is None and not _had_run and not is_child():
        from paddock.track.start import init

        run = init()
    if run is not None or is_child():
        begin(run, load_settings().usage_seconds)


def _end() -> None:
    global _sampler
    with _lock:
        ended, _sampler = _sampler, None
    # Not under the lock: it writes, for which it waits for the run's, whose holder may be ending us at this moment.
    if ended is not None:
        ended.stop()
        ended.last()


def _after_fork() -> None:
    global _lock, _sampler
    _lock = threading.RLock()  # another thread of the parent may have held it
    if _sampler is not None:
        _sampler.forget()
        _sampler = Sampler(_sampler.every, marked=_sampler.marked)
        _at_exit_of_pool_worker()


def _at_exit_of_pool_worker() -> None:
    """A child of multiprocessing leaves by os._exit(), past what atexit knows. It has a list of its own, which it
    empties when it begins; what is registered here is called right after that. One that has begun already (of a server
    of forks) puts it on that list itself."""
    util, processes = sys.modules.get("multiprocessing.util"), sys.modules.get("multiprocessing.process")
    if util is None or processes is None:
        return
    util.register_after_fork(_end, lambda end: _at_its_end(util, end))
    if processes.parent_process() is not None:
        _at_its_end(util, _end)


def _at_its_end(util: Any, end: Callable[[], None]) -> None:
    util.Finalize(None, end, exitpriority=0)
    terminated.before_end(end)


join()
