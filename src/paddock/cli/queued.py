"""What the verbs of the queue share: which queue, which tasks, the question, the tables."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from paddock import settings
from paddock.cli.command import Session
from paddock.cli.output import JSON, Cell, Output
from paddock.compare.text import cut_to, many, path_end, width
from paddock.errors import NotFound, PaddockError, Refused, UsageError
from paddock.model import RUNNING, RunRow
from paddock.queue.directory import DirectoryQueue
from paddock.queue.finding import find_queue, known_queues
from paddock.queue.lifecycle import STATES
from paddock.queue.order.selection import Selection, choose
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.show.view import Entry, snapshot

STATE_STYLES = {"active": "cyan", "done": "green", "failed": "red", "paused": "yellow", "checking": "cyan"}
_SHORTEST = 12  # columns that a text keeps on a narrow terminal
_LISTED = 50  # tasks shown before the question


def queue_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-Q",
        "--queue",
        metavar="NAME|PATH|URL",
        help="The queue [default]; with a slash, any directory; or redis://...",
    )(function)


def selection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which tasks are meant, and that nobody is to be asked: `selection`, `queue` and `yes`."""
    return selecting("All tasks that this can be done to.")(
        click.option("-y", "--yes", is_flag=True, help="Do not ask.")(function)
    )


def selecting(everything: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options that say which tasks are meant, which the verb gets as one `selection`; and `queue`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, words: Any, regex: Any, states: Any, everything: bool, **kwargs: Any) -> Any:
            return function(*args, selection=Selection(words, regex, states, everything), **kwargs)

        found: Callable[..., Any] = call
        for option in reversed(
            (
                click.argument("words", nargs=-1, metavar="[TASK]..."),
                queue_option,
                click.option("--regex", metavar="RE", help="Tasks whose name or command fits."),
                click.option(
                    *("--state", "states"),
                    multiple=True,
                    type=click.Choice(STATES),
                    help="Tasks in this state; repeatable.",
                ),
                click.option("-a", "--all", "everything", is_flag=True, help=everything),
            )
        ):
            found = option(found)
        return found

    return decorate


def open_queue(session: Session, name: str | None, words: Sequence[str] = ()) -> Queue:
    """A queue that is there, to look at. Where none was said, the one with the tasks that were named by their ids."""
    queue = find_queue(name or settings.load().queue, session.home)
    if name is None and words:
        queue = _queue_of(session, queue, words)
    if not queue.exists():
        _explain_absence(session, queue)
    return queue


def _queue_of(session: Session, usual: Queue, words: Sequence[str]) -> Queue:
    """The usual one, unless all of these are ids of tasks in another one and none is in this: there is only one task of
    an id, and the queue is no part of its name."""
    if _here(usual, words):
        return usual
    others = (queue for queue in home_queues(session) if queue.address != usual.address)
    return next((queue for queue in others if _here(queue, words) == set(words)), usual)


def _here(queue: Queue, words: Sequence[str]) -> set[str]:
    """Which of them are ids in this queue."""
    try:
        return {place.id for place in queue.list().places}.intersection(words) if queue.exists() else set()
    except AWAY:
        return set()


def open_to_change(session: Session, name: str | None, words: Sequence[str] = ()) -> Queue:
    """A queue that is there and can be trusted, with all its directories."""
    queue = open_queue(session, name, words)
    queue.prepare()
    return queue


def _explain_absence(session: Session, queue: Queue) -> None:
    if isinstance(queue, DirectoryQueue) and queue.path.is_dir():
        found = sorted(path.name for path in queue.path.iterdir() if not path.name.startswith("."))
        held = f"it holds {', '.join(found[:3])}" if found else "it is empty"
        raise UsageError(f"{queue.path} is no queue: {held}.", hint="A queue has a directory `queued` in it.")
    names = [queue_name(session, other) for other in home_queues(session)]
    known = f"There are: {', '.join(names[:10])}." if names else "`paddock submit` makes one."
    raise NotFound(f"There is no queue {queue.address}.", hint=known)


def home_queues(session: Session) -> list[Queue]:
    """Every queue that the home knows of, by name; those in Redis last, and whether they answer is not known yet."""
    return known_queues(session.home)


def queue_name(session: Session, queue: Queue) -> str:
    """As -Q takes it."""
    here = isinstance(queue, DirectoryQueue) and queue.path.parent == session.home.path / "queues"
    return queue.name if here else queue.address


def chosen(session: Session, queue: Queue, selection: Selection, usual: Sequence[str]) -> list[Entry]:
    """The tasks that are meant; a sentence when there is none."""
    entries = snapshot(queue).entries
    try:
        found = choose(entries, selection, usual, f"the queue {queue_name(session, queue)}")
    except NotFound as unknown:
        _look_elsewhere(session, queue, selection.words, entries, unknown)
        raise
    if not found:
        what = " or ".join(selection.states or usual)
        raise NotFound(f"No task fits: none of them is {what}." if not selection.regex else "No task fits.")
    return found


def _look_elsewhere(
    session: Session, queue: Queue, words: Sequence[str], entries: Sequence[Entry], unknown: NotFound
) -> None:
    """What is in another queue of the home, or runs without one, was meant all the same: say where it is."""
    here = {entry.id for entry in entries}
    missing = {word: _run(session, word) for word in words if word not in here}
    sure = bool(missing)
    for other in home_queues(session):
        if other.address != queue.address and missing:
            try:
                there = {place.id for place in other.list().places}
            except AWAY:
                sure = False
                continue
            if any(word in there or (run and run.id in there) for word, run in missing.items()):
                name = shlex.quote(queue_name(session, other))
                raise NotFound(unknown.message, hint=f"It is in the queue {other.name}: add -Q {name}.") from None
    for run in missing.values():
        if sure and run and run.state == RUNNING and run.id not in here:
            hint = f"It is a run that no queue started: Ctrl-C on {run.host} ends it, or a signal to its process."
            raise NotFound(unknown.message, hint=hint) from None


def _run(session: Session, word: str) -> RunRow | None:
    try:
        with session.catalog() as catalog:
            return catalog.run(word)
    except PaddockError:
        return None


def confirm(out: Output, question: str, nothing: str, *, alone: bool = False) -> None:
    """Ask on stderr, so that stdout stays the result's; no answer is No. A program that wants JSON is not asked.
    `alone`: it is done where nobody is there to be asked, for nothing is lost by it."""
    if out.mode == JSON:
        if alone:
            return
        raise Refused(f"{nothing}: it was not confirmed.", hint="Use --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n"):
        sys.stderr.write("\n")
    if alone and not answer and not (sys.stdin is not None and sys.stdin.isatty()):
        return
    if answer.strip().lower() not in ("y", "yes"):
        raise Refused(f"{nothing}.", hint="Answer y, or use --yes.")


def ask_about(out: Output, entries: Sequence[Entry], selection: Selection, yes: bool, verb: str) -> None:
    """Show the tasks and ask, unless each of them was named."""
    if yes or selection.exact:
        return
    task_table(out, entries[:_LISTED])
    if len(entries) > _LISTED:
        out.line(f"and {len(entries) - _LISTED:,} more")
    confirm(out, f"{verb} {many(len(entries), 'task')}?", "Nothing was changed")


def task_table(out: Output, entries: Sequence[Entry]) -> None:
    rows: list[list[Cell]] = [[(e.id, "bold"), (e.state, STATE_STYLES.get(e.state, "")), e.title] for e in entries]
    fitted_table(out, ["id", "state", "task"], rows, flexible=[2])


def fitted_table(
    out: Output,
    headers: Sequence[str],
    rows: list[list[Cell]],
    flexible: Sequence[int],
    right: Sequence[int] = (),
    paths: Sequence[int] = (),
    optional: Sequence[int] = (),
) -> None:
    """A table whose flexible columns are cut, the widest first, until it fits the terminal; those of paths lose their
    beginning. Where that is not enough the optional ones are left out, the first first. In a pipe all is there."""
    kept = list(range(len(headers)))
    if out.terminal and rows:
        widths = [max(width(headers[i]), *(width(_text(row[i])) for row in rows)) for i in kept]
        for column in optional:
            if sum(min(widths[i], _SHORTEST) if i in flexible else widths[i] for i in kept) + _gaps(kept) > out.width:
                kept.remove(column)
        cut = [i for i in flexible if i in kept]
        over = sum(widths[i] for i in kept) + _gaps(kept) - out.width
        while over > 0:
            widest = max(cut, key=lambda i: widths[i])
            if widths[widest] <= _SHORTEST:
                break
            widths[widest] -= 1
            over -= 1
        cuts = {i: path_end if i in paths else cut_to for i in flexible}
        rows = [[_cut(cell, widths[i], cuts.get(i)) for i, cell in enumerate(row)] for row in rows]
    out.table([headers[i] for i in kept], [[row[i] for i in kept] for row in rows], [i in right for i in kept])


def _gaps(columns: Sequence[int]) -> int:
    return 2 * (len(columns) - 1)


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _cut(cell: Cell, room: int, cut: Callable[[str, int], str] | None) -> Cell:
    if cut is None:
        return cell
    return cut(cell, room) if isinstance(cell, str) else (cut(cell[0], room), cell[1])


def brief(entry: Entry) -> dict[str, Any]:
    """A task in JSON, in short."""
    return {"id": entry.id, "name": entry.name, "queue": entry.queue.address, "state": entry.state}
