"""paddock watch stop: end the watching of a directory."""

from __future__ import annotations

import os
from collections.abc import Sequence, Set

import click

from paddock.cli.command import Session, verb
from paddock.cli.queued import confirm
from paddock.cli.span import SPAN
from paddock.cli.watch.keeping.ending import end_orphans, order, wait
from paddock.cli.watch.shown import chosen, known, near, shown_pattern
from paddock.compare.text import many
from paddock.errors import NotFound, Refused, UsageError
from paddock.evaluate.ledger.book import watch_id
from paddock.evaluate.ledger.watcher import Seen, ask_to_finish, watchers
from paddock.evaluate.ledger.watches import Watch
from paddock.evaluate.watching.globs import expand, is_glob, pattern_of
from paddock.queue.show.roster import DEAD

_HELP = """End the watching of directories, on whatever machine it happens.

\b
  paddock watch stop out
  paddock watch stop --all --finish

What is being evaluated goes back to the queue and is evaluated when the directory is watched again; with --finish the
watcher first sees to everything that is there. A watcher of several directories ends for all of them, after asking.
"""


@verb("watch stop", help=_HELP)
@click.argument("words", nargs=-1, metavar="[WATCH|DIRECTORY]...")
@click.option("-a", "--all", "everything", is_flag=True, help="Every watch of the home.")
@click.option("--finish", is_flag=True, help="First evaluate what is there; do not wait for it.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--timeout", type=SPAN, default="60s", show_default=True, metavar="TIME", help="Wait no longer than this."
)
def stop(session: Session, words: tuple[str, ...], everything: bool, finish: bool, yes: bool, timeout: float) -> None:
    if bool(words) == everything:
        raise UsageError("Which watch is to end?", hint="Name its directory or its id, or say --all.")
    everybody = watchers(session.home)
    patterns = {word: pattern_of(word) for word in words if not os.path.isdir(word)}
    patterns = {
        word: one for word, one in patterns.items() if is_glob(word) or any(seen.awaits(one) for seen in everybody)
    }
    named = [word for word in words if word not in patterns]
    watches = known(session) if everything else chosen(session, named)
    for_patterns = [seen for seen in everybody if everything or any(map(seen.awaits, patterns.values()))]
    found = list({seen.name: seen for seen in [*(s for w in watches for s in w.watchers), *for_patterns]}.values())
    if patterns and not for_patterns:
        raise NotFound(f"Nobody watches {next(iter(patterns))} now.", hint="`paddock watch ls` lists who watches what.")
    _check(session, watches, found, everything)
    if not everything and not yes:
        fitting = {watch_id(path) for one in patterns.values() for path in expand(one)[0]}
        _ask_about_others(session, fitting | {watch.id for watch in watches}, found)
    dead = [seen for seen in found if seen.state == DEAD]
    living = [seen for seen in found if seen.state != DEAD]
    for seen in living:
        ask_to_finish(session.home, seen.name) if finish else order(session.home, seen)
    end_orphans(session.home, dead)
    left = [] if finish else wait(session.home, living, timeout)
    _tell(session, found, left, finish)


def _check(session: Session, watches: Sequence[Watch], found: Sequence[Seen], everything: bool) -> None:
    if not found:
        names = ", ".join(near(watch.directory) for watch in watches[:5])
        if everything:
            session.out.note("Nobody watches anything.")
        else:
            raise NotFound(f"Nobody watches {names} now.", hint="`paddock watch ls` lists who watches what.")
    strangers = [seen for seen in found if not seen.own]
    if strangers:
        raise Refused(
            f"{strangers[0].name} belongs to somebody else.", hint="Nothing was stopped. Its owner can stop it."
        )


def _ask_about_others(session: Session, meant: Set[str], found: Sequence[Seen]) -> None:
    others = {post.directory for seen in found for post in seen.facts.posts if post.watch not in meant}
    if others:
        shown = ", ".join(near(path) for path in sorted(others)[:5]) + (", ..." if len(others) > 5 else "")
        confirm(session.out, f"The same watcher also watches {shown}. End that too?", "Nothing was stopped")


def _tell(session: Session, found: Sequence[Seen], left: Sequence[Seen], finish: bool) -> None:
    out = session.out
    late = {seen.name for seen in left}
    out.json(
        {
            "stopped": [seen.name for seen in found if seen.name not in late and not finish],
            "finishing": [seen.name for seen in found if finish and seen.state != DEAD],
            "left": sorted(late),
        }
    )
    for seen in found:
        out.bare(seen.name)
        where = ", ".join(map(near, seen.directories)) or ", ".join(map(shown_pattern, seen.facts.globs))
        if seen.state == DEAD:
            out.line(f"was dead already: {where} ({seen.name})")
        elif finish:
            out.line(f"finishing: {where} ({seen.name})")
        elif seen.name not in late:
            out.line(f"stopped: {where} ({seen.name})")
    if left:
        names = ", ".join(f"{seen.name} on {seen.host}" for seen in left)
        out.note(f"{many(len(left), 'watcher')} not ended yet: {names}. It ends when it sees that its file is gone.")
