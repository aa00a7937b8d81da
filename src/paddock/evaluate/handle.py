"""watch(): a directory of checkpoints evaluated beside the training, by a process of its own.

The process is `paddock watch`, so a training that hangs, crashes or ends does not touch it: when the training is gone
it sees to the checkpoints that are there, and ends.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import shlex
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paddock import errors, wire
from paddock.amounts import as_given, parse_seconds
from paddock.errors import PaddockError, TimedOut, UsageError
from paddock.record.layout import Home
from paddock.track import notice

# Set for the watching process and all that it starts: who finds it there must not watch again.
PARENT = "PADDOCK_WATCH_PARENT"
_LINES = 20  # of what it said last
_LIVING: set[Watch] = set()
Evaluate = str | Callable[[str], Any]
Evaluators = Evaluate | Sequence[Evaluate] | Mapping[str, Evaluate]  # or by the names that they shall have


class Evaluated(NamedTuple):
    """What became of one checkpoint under one evaluator."""

    path: str
    step: int | None
    evaluator: str
    state: str  # pending, running, done, failed, missed, skipped, void, cancelled
    values: dict[str, Any]
    reason: str = ""


def watch(directory: Any = None, evaluator: Evaluators = (), *more: Any, **options: Any) -> Any:
    """Evaluate every checkpoint below `directory` beside the training: `with paddock.watch("out", accuracy): train()`.

    `evaluator` is a function that takes the path of a checkpoint and is defined at the top of a file, or a text as
    `file.py:fn` and `pkg.mod.fn`, or several, as a list or as a dict by name. `options` are those of `paddock watch`
    by their long names: `num_eval_workers=2`, `command="..."`, `eval_existing=True`. It returns when the watch has
    begun, so whatever is saved after that is evaluated. `directory` may be several, as a list. For scripts written for
    wandb: with a model instead of a directory it does nothing.
    """
    directories = list(directory) if isinstance(directory, (list, tuple)) else [directory]
    if not directories or not all(isinstance(one, (str, os.PathLike)) for one in directories):
        return None
    if more:
        raise UsageError(
            "paddock.watch() takes a directory and an evaluator.",
            hint='Several are a list: watch("out", [accuracy, loss]); options have names.',
        )
    if os.environ.get(PARENT):
        raise UsageError(
            "paddock.watch() was called again while the evaluator was loaded.",
            hint="Put the training below `if __name__ == '__main__':`, or the evaluator into a file of its own.",
        )
    words = [*map(os.fspath, directories), *(f"--evaluator={spec}" for spec in _specs(evaluator))]
    home = options.pop("home", None)
    current = _current_run()
    if current is not None:
        home = home or str(current.path.parent.parent)
        options.setdefault("run", current.id)
    words += [word for name, value in options.items() for word in _words(name, value)]
    return Watch(os.fspath(directories[0]), [*words, *([f"--home={os.fspath(home)}"] if home else [])])


class Watch:
    """A watch that this process has begun."""

    def __init__(self, directory: str, words: Sequence[str]) -> None:
        self.directory = os.path.abspath(os.path.expanduser(directory)) if "://" not in directory else directory
        command = [sys.executable, "-m", "paddock", "watch", *words, "--json", "--until-eof"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the training
        )
        self._said: deque[bytes] = deque(maxlen=_LINES)
        self._threads = [threading.Thread(target=self._said.extend, args=(self._process.stderr,), daemon=True)]
        self._threads[0].start()
        begun = self._begin()
        _LIVING.add(self)  # one that nobody holds on to goes on
        self.name: str = begun["watcher"]
        self._home = Home(Path(begun["home"]))
        self._directories: list[str] = begun["directories"]  # with a pattern it may be many, and more later
        self._threads.append(threading.Thread(target=self._listen, daemon=True))
        self._threads[1].start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def results(self) -> list[Evaluated]:
        """Every checkpoint that was found so far, in the order in which they were."""
        from paddock.evaluate.ledger.account import Account, tasks
        from paddock.evaluate.ledger.book import watch_id
        from paddock.evaluate.ledger.watches import watches

        mine = {watch_id(directory) for directory in tuple(self._directories)}
        return [
            Evaluated(
                one.finding.path,
                one.finding.step,
                one.finding.evaluator,
                one.state,
                dict(one.result.values) if one.result is not None else {},
                one.reason,
            )
            for found in watches(self._home)
            if found.id in mine
            for one in Account(found.ledger).read(tasks(found.queues))
        ]

    def wait(self, timeout: float | str | None = None) -> list[Evaluated]:
        """Until every checkpoint that is there has been evaluated; the watch is over then. TimedOut when that takes
        longer."""
        from paddock.evaluate.ledger.watcher import ask_to_finish

        if self.is_running:
            ask_to_finish(self._home, self.name)
        self._end(timeout)
        return self.results

    def stop(self, timeout: float | str | None = 60) -> None:
        """End it now. What is being evaluated goes back to the queue, and whoever watches next evaluates it."""
        if self.is_running:
            self._process.terminate()
        self._end(timeout)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.wait()
        else:
            self.stop()

    def _begin(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._close()
            raise _error(list(self._said))
        begun: dict[str, Any] = wire.loads(line)
        for text in begun["remarks"]:
            notice.say(text)
        return begun

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(wire.DecodeError, UnicodeDecodeError):  # it was killed while it wrote
                found = wire.loads(line)
                if found.get("event") == "watching":
                    self._directories += found["directories"]

    def _end(self, timeout: float | str | None) -> None:
        try:
            code = self._process.wait(None if timeout is None else parse_seconds(timeout))
        except subprocess.TimeoutExpired:
            raise TimedOut(
                f"The watch of {self.directory} is not over after {as_given(timeout)}.",
                hint=f"`paddock watch show {shlex.quote(self.directory)}` says what it waits for.",
            ) from None
        self._close()
        if code:
            raise _error(list(self._said))

    def _close(self) -> None:
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        _LIVING.discard(self)


def _specs(evaluator: Any) -> list[str]:
    if isinstance(evaluator, Mapping):
        return [f"{name}:{spec_of(one)}" for name, one in evaluator.items()]
    return [spec_of(one) for one in (evaluator if isinstance(evaluator, (list, tuple)) else [evaluator])]


def spec_of(evaluator: Evaluate) -> str:
    """As `paddock watch` takes it: it is another process that evaluates, and has to find the function."""
    if isinstance(evaluator, str):
        return evaluator
    if not callable(evaluator):
        raise UsageError(f"{evaluator!r} evaluates nothing.", hint="Give a function, or its name as 'file.py:fn'.")
    name = getattr(evaluator, "__qualname__", "")
    code = getattr(inspect.unwrap(evaluator), "__code__", None)
    file = os.path.abspath(code.co_filename) if code is not None else ""
    if not name.isidentifier() or not file.endswith(".py") or not os.path.isfile(file):
        raise UsageError(
            f"{name or evaluator!r} cannot be found by another process.",
            hint="Define it at the top of a file: not inside of a function, as a lambda, or in a notebook.",
        )
    return f"{file}:{name}"


def _words(name: str, value: Any) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    several = value if isinstance(value, (list, tuple)) else [value]
    return [f"{option}={os.fspath(one) if isinstance(one, os.PathLike) else one}" for one in several]


def _environment() -> dict[str, str]:
    """Without the training's own run: the evaluations are others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PADDOCK_RUN_")}
    return {**kept, PARENT: str(os.getpid())}


def _current_run() -> Any:
    if "paddock.track.active" not in sys.modules:
        return None
    from paddock.track import active

    return active.current()


def _error(said: Sequence[bytes]) -> PaddockError:
    """What the process said last, as the error that it was."""
    for line in reversed(said):
        try:
            found = wire.loads(line)["error"]
        except (wire.DecodeError, KeyError, TypeError, UnicodeDecodeError):
            continue
        kind = getattr(errors, found["type"], PaddockError)
        plain = isinstance(kind, type) and issubclass(kind, PaddockError) and kind.__init__ is PaddockError.__init__
        return (kind if plain else PaddockError)(found["message"], hint=found["hint"])
    text = b"".join(said).decode("utf-8", "replace").strip()
    return PaddockError(f"The watch has ended: {text}" if text else "The watch has ended.")
