"""What the verbs about watches share: which watch, how it stands, and how that is told."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from paddock.cli.command import Session
from paddock.cli.output import Cell, Output
from paddock.compare.text import clean, number, span
from paddock.errors import NotFound, UsageError
from paddock.evaluate.ledger.account import PENDING, RUNNING, Evaluation
from paddock.evaluate.ledger.entry import DONE, FAILED, MISSED
from paddock.evaluate.ledger.watcher import Seen, watchers
from paddock.evaluate.ledger.watches import Watch, find, watches
from paddock.evaluate.watching.globs import path_of, pattern_of
from paddock.monitor.watches import Best
from paddock.queue.protocol import Queue
from paddock.queue.show.roster import ALIVE, DEAD, workers

STYLES = {"done": "green", "failed": "red", "missed": "yellow", "running": "cyan", "void": "yellow", "skipped": "dim"}
COUNTED = (PENDING, RUNNING, DONE, FAILED, MISSED)  # the states that are counted in tables
SHORT = {PENDING: "wait", RUNNING: "run", DONE: "done", FAILED: "fail", MISSED: "miss"}
WIDE = 100  # columns of a terminal from which there is room for whole words
_USUAL = re.compile(r"(checkpoints?|ckpts?|models?|weights|out(put)?)", re.I)
_LIVES = {"alive": "green", "silent": "yellow", "dead": "red"}


def known(session: Session) -> list[Watch]:
    return watches(session.home)


def chosen(session: Session, words: Sequence[str]) -> list[Watch]:
    """The watches that the words name, each once."""
    there = known(session)
    return list({watch.id: watch for watch in (_chosen(session, there, word) for word in words)}.values())


def the_one(session: Session, word: str | None) -> str:
    """What was named; else the only watch, or the only one that somebody keeps now."""
    if word is not None:
        return word
    there = known(session)
    kept = [watch for watch in there if any(seen.state != DEAD for seen in watch.watchers)]
    found = next((some for some in (there, kept) if len(some) == 1), None)
    if found is None:
        names = ", ".join(near(watch.directory) for watch in (kept or there)[:5])
        hint = f"There are {names}." if names else "`paddock watch DIRECTORY --evaluator file.py:fn` makes one."
        raise UsageError("Which watch is meant? Name its directory or its id.", hint=hint)
    return found[0].id


def _chosen(session: Session, there: list[Watch], word: str) -> Watch:
    try:
        return find(there, word)
    except NotFound:
        waiting = [seen for seen in watchers(session.home) if seen.awaits(pattern_of(word)) and seen.state == ALIVE]
        if not waiting:
            raise
        hint = "Until then there is nothing to show. `paddock watch stop` ends the waiting, too."
        raise NotFound(f"{word} is not there yet; {waiting[0].name} watches it once it is.", hint=hint) from None


def near(path: str) -> str:
    """The path as it is typed from here, when that is shorter."""
    if "://" in path:
        return path
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return relative if not relative.startswith("..") and len(relative) < len(path) else path


def shown_pattern(pattern: str) -> str:
    return near(path_of(pattern) or pattern)


def shortened(text: str) -> str:
    """A sentence with its paths as they are typed from here."""
    try:
        here = os.getcwd().rstrip(os.sep) + os.sep
    except OSError:
        return text
    return text.replace(f" {here}", " ") if here != os.sep else text


def tell_if_nobody_evaluates(out: Output, queue: Queue) -> None:
    """What was submitted waits there."""
    if not any(seen.state == ALIVE for seen in workers(queue)):
        out.note(f"No worker evaluates them: `paddock worker {shlex.quote(queue.address)}`, or `paddock watch` again.")


def distinct(directories: Sequence[str]) -> dict[str, str]:
    """Each without what all have in common, and without a last part that only says that checkpoints are there."""
    parts = {path: near(path).strip("/").split("/") for path in directories}
    if len(parts) > 1:
        least = min(len(words) for words in parts.values())
        common = next((i for i in range(least - 1) if len({words[i] for words in parts.values()}) > 1), least - 1)
        parts = {path: words[common:] for path, words in parts.items()}
    shorter = {path: words[: -1 if _USUAL.fullmatch(words[-1]) else None] or words for path, words in parts.items()}
    if len({tuple(words) for words in shorter.values()}) == len(parts):
        parts = shorter
    return {path: "/".join(words) for path, words in parts.items()}


def life(seen: Seen) -> tuple[str, str]:
    """alive, alive on node17, silent for 3m, dead."""
    where = "" if seen.here else f" on {seen.host}"
    silent = f" for {span(seen.silence)}" if seen.state == "silent" else ""
    return (f"{seen.state}{where}{silent}", _LIVES[seen.state])


def kept(watch: Watch) -> Cell:
    """Whether somebody watches it now."""
    if not watch.watchers:
        return ("no", "dim")
    alive = [seen for seen in watch.watchers if seen.state == ALIVE]
    text, style = life(watch.watchers[0])
    return (f"{text} (+{len(alive) - 1})" if len(alive) > 1 else text, style)


def shown_best(found: Best | None) -> str:
    """The number first: the rest may be cut off."""
    if found is None:
        return ""
    step = found.evaluation.finding.step
    return number(found.value) + (f" @{step}" if step is not None else "") + f" {found.metric}"


def shown_last(one: Evaluation | None) -> str:
    return os.path.basename(one.finding.path.rstrip("/")) if one is not None else ""


def brief(last: Evaluation | None, wide: bool) -> str:
    step = last.finding.step if last is not None else None
    return clean(shown_last(last)) if wide or step is None else str(step)
