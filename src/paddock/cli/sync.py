"""paddock sync: send runs to a server, now."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from paddock import address as addresses
from paddock import settings as settings_
from paddock.catalog.refresh import list_runs
from paddock.cli.choose import named_or_queried
from paddock.cli.command import Session, verb
from paddock.cli.output import Output
from paddock.compare.text import many, size
from paddock.errors import NotFound, RunExists, Unreachable, UsageError
from paddock.record.layout import Home
from paddock.record.token import find_token
from paddock.track.ship.carrier import Carrier, send_all
from paddock.track.ship.connection import Connection
from paddock.track.ship.step import Step

_HELP = """Send runs to a server: what it does not have yet, and nothing twice.

\b
  paddock sync RUN RUN --to gpu7:8642
  paddock sync 'project=digits state!=running'
  paddock sync --all
  paddock sync --all --from s3://bucket/path

Where to is the setting `server` (PADDOCK_SERVER) unless --to says it. What the server has is asked, not remembered, so
it can be interrupted and called again at any time. --watch goes on with what is written later, until Ctrl-C.
"""
_RUNS_AT_ONCE = 50
_WATCH_SECONDS = 1.0
_QUIET_SECONDS = 10.0  # a living process beats twice in this time
_AWAY_SECONDS = 30.0


@verb("sync", help=_HELP)
@click.argument("words", nargs=-1, metavar="[RUN... | QUERY]")
@click.option("--all", "everything", is_flag=True, help="All runs of the home.")
@click.option("--to", metavar="ADDRESS", help="The server: host:port, :port, http(s)://host:port, or a name.")
@click.option("--from", "store", metavar="URL", help="Fetch them instead, from a store: s3://bucket/path.")
@click.option("--watch", is_flag=True, help="Go on with what is written later.")
def sync(
    session: Session, words: tuple[str, ...], everything: bool, to: str | None, store: str | None, watch: bool
) -> None:
    if bool(words) == everything:
        raise UsageError("Which runs?", hint="Name them or give a query; --all sends all of the home.")
    if store:
        _fetch(session, store, words, bool(to or watch))
        return
    given = settings_.load()
    target = to or given.server
    if not target:
        raise UsageError("There is no server to send to.", hint="Name it with --to, or set PADDOCK_SERVER.")
    address = addresses.parse(target)
    connection = Connection(address, find_token(session.home), ca=given.server_ca)
    work = _Sending(session.home, connection, session.out)
    try:
        if watch:
            work.forever(lambda: _chosen(session, words))
        work.once(_chosen(session, words))
    finally:
        connection.close()
    if work.refused:
        raise RunExists(
            f"Not sent, because the server has others of the same id: {', '.join(sorted(work.refused))}.",
            hint="The rest was. Runs that belong together say so by resume='allow' or mode='shared'.",
        )
    session.out.json({"server": address.url, "runs": work.runs, "bytes": work.sent})
    session.out.line(work.sentence())


def _fetch(session: Session, url: str, words: Sequence[str], more: bool) -> None:
    """What workers left in a store that had no server."""
    from paddock.track.ship.road import StoreRoad
    from paddock.track.ship.stored import take_runs

    if more:
        raise UsageError("--from fetches, --to and --watch send.", hint="One call for each.")
    runs, count = take_runs(session.home, StoreRoad(url), words)
    session.out.json({"store": url, "runs": len(runs), "bytes": count})
    for run in runs:
        session.out.bare(run)
    session.out.line(f"{many(len(runs), 'run')} fetched ({size(count)})." if runs else "Nothing is new there.")


def _chosen(session: Session, words: Sequence[str]) -> list[str]:
    if not words:
        return sorted(list_runs(session.home).runs)
    with session.catalog() as catalog:
        found = [run.id for run in named_or_queried(catalog, words) if run.path]
    if not found:
        raise NotFound("No run fits.", hint="`paddock ls` with the same query shows what it means.")
    return found


class _Sending:
    def __init__(self, home: Home, connection: Connection, out: Output) -> None:
        self._home, self._connection, self._out = home, connection, out
        self._said: set[str] = set()
        self.runs, self.sent = 0, 0
        self.refused: dict[str, str] = {}

    def once(self, runs: list[str]) -> None:
        with _bar(self._out, len(runs)) as advance:
            for start in range(0, len(runs), _RUNS_AT_ONCE):
                self._send(runs[start : start + _RUNS_AT_ONCE], advance)

    def forever(self, chosen: Callable[[], list[str]]) -> None:
        """One carrier for all: what the server has said is known until it goes away."""
        self._out.note("Ctrl-C ends it.")
        pause, carrier = _WATCH_SECONDS, self._carrier()
        while True:
            try:
                for run_id in chosen():
                    carrier.add(run_id)
                step = carrier.step(final=False)
                self._note(step)
                pause = _WATCH_SECONDS
                if step.trouble:
                    raise Unreachable(f"The server cannot take it now: {step.trouble}.")
            except Unreachable as error:
                self._say(error.message, error.message)
                pause, carrier = min(pause * 2, _AWAY_SECONDS), self._carrier()
                step = Step()
            if not step.busy:
                time.sleep(max(pause, step.wait, 20 * carrier.look_seconds))

    def sentence(self) -> str:
        if not self.sent:
            return f"The server has all of {many(self.runs, 'run')}."
        return f"{size(self.sent)} of {many(self.runs, 'run')} sent."

    def _send(self, runs: list[str], advance: Callable[[int, int], None]) -> None:
        carrier = self._carrier()

        def told(step: Step) -> None:
            self._note(step)
            advance(0, self.sent)

        trouble = send_all(carrier, runs, told)
        if trouble:
            raise Unreachable(
                f"The server at {self._connection.address.url} cannot take more now: {trouble}.",
                hint="What it has it has. Call sync again when it can.",
            )
        self.refused |= carrier.refused
        self.runs += len(runs)
        advance(len(runs), self.sent)

    def _note(self, step: Step) -> None:
        self.sent += step.sent

    def _carrier(self) -> Carrier:
        return Carrier(self._home, self._connection, self._say, quiet=_QUIET_SECONDS)

    def _say(self, key: str, sentence: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self._out.note(sentence)


@contextmanager
def _bar(out: Output, runs: int) -> Iterator[Callable[[int, int], None]]:
    """How far it is, for people at a terminal."""
    if not out.human or not sys.stderr.isatty():
        yield lambda done, sent: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs  {task.fields[sent]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=runs, sent="")
        yield lambda done, sent: progress.update(task, advance=done, sent=size(sent))
