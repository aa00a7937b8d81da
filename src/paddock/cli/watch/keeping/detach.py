"""A watch that goes on in the background: away from the terminal, with a log of its own."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from paddock.cli.watch.plan import Plan
from paddock.errors import PaddockError
from paddock.evaluate.ledger.book import Ledger, watch_id
from paddock.evaluate.ledger.watcher import Seen, watchers
from paddock.queue.show.roster import ALIVE
from paddock.record.layout import Home

_LOGS = 5  # that are kept of each watch
_LINES = 20  # of the log that are told when it did not begin


def running(home: Home, plan: Plan) -> dict[str, Seen]:
    """Of the directories that are to be watched, those that a living watcher watches with the same evaluators."""
    alive = [seen for seen in watchers(home) if seen.state == ALIVE]
    found: dict[str, Seen] = {}
    wanted = {one.name: dict(one.call) for one in plan.options.evaluators}
    for root in plan.roots:
        name = Ledger.of(home, root).path.name
        for seen in alive:
            if any(post.evaluators == wanted for post in seen.at(name)):
                found[root] = seen
    return found


def running_globs(home: Home, plan: Plan) -> set[str]:
    """Of the patterns, those whose directories a living watcher watches with the same evaluators as they appear."""
    alive = [seen for seen in watchers(home) if seen.state == ALIVE]
    found = set()
    wanted = {one.name: dict(one.call) for one in plan.options.evaluators}
    for seen in alive:
        fits = not seen.facts.posts or any(post.evaluators == wanted for post in seen.facts.posts)
        found |= {pattern for pattern in plan.globs if fits and seen.awaits(pattern)}
    return found


def new_log(home: Home, plan: Plan) -> Path:
    """In the directory of the watch, beside the last few."""
    name = watch_id(plan.roots[0] if plan.roots else next(iter(plan.globs)))
    directory = home.path / "watches" / name / "logs"
    directory.mkdir(parents=True, exist_ok=True)
    for old in sorted(directory.glob("*.log"))[: 1 - _LOGS]:
        with contextlib.suppress(OSError):
            old.unlink()
    return directory / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"


def detach(log: Path) -> int | None:
    """In the background process: a descriptor, to be told by that it has begun. Here, once it has: None. When it could
    not, an error with its last words."""
    heard, told = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.setsid()  # no terminal, and no hangup when it is closed
        if os.fork():
            os._exit(0)  # so that the watcher is nobody's child and can never get a terminal again
        os.close(heard)
        _redirect(log)
        return told
    os.close(told)
    os.waitpid(child, 0)
    with open(heard, "rb") as pipe:
        if pipe.read():
            return None
    text = log.read_text(errors="replace").splitlines() if log.exists() else []
    raise PaddockError(
        "The watch did not begin in the background:\n" + "\n".join(text[-_LINES:]), hint=f"All of it is in {log}."
    )


def _redirect(log: Path) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
