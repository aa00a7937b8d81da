"""paddock watch rescan: look at a watched directory again, and evaluate anew what has failed."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import replace
from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.watch.plan import make_plan
from paddock.cli.watch.shown import chosen, near, tell_if_nobody_evaluates, the_one
from paddock.compare.text import many
from paddock.errors import HomeError, NotFound, UsageError
from paddock.evaluate.ledger.book import watch_id
from paddock.evaluate.ledger.entry import FAILED
from paddock.evaluate.ledger.watches import Watch
from paddock.evaluate.origin.place import is_url, real
from paddock.evaluate.policy.rules import PLAIN
from paddock.evaluate.watching.again import again, restore
from paddock.evaluate.watching.watch import Watching
from paddock.monitor.watches import stands
from paddock.record.layout import Home

_HELP = """Look at a watched directory again, with the options of its last watch, and submit what is new.

\b
  paddock watch rescan out
  paddock watch rescan out --failed
  paddock watch rescan out --checkpoint out/step=500.pt

--failed evaluates anew what has failed, by the evaluator as it is now. --checkpoint evaluates one checkpoint, whatever
became of it before: also one that was passed over or is done. It does not matter whether somebody watches.
"""


@verb("watch rescan", help=_HELP)
@click.argument("watch", required=False, metavar="[WATCH|DIRECTORY]")
@click.option("--failed", is_flag=True, help="Evaluate anew what has failed.")
@click.option("--checkpoint", metavar="PATH", help="Only this one, and in any case.")
def rescan(session: Session, watch: str | None, failed: bool, checkpoint: str | None) -> None:
    watch = the_one(session, watch)
    (found,) = chosen(session, [watch])
    # A directory whose name is no text is only known as the caller writes it.
    directory = real(os.path.expanduser(watch)) if watch_id(os.path.expanduser(watch)) == found.id else found.directory
    path = _inside(found, checkpoint) if checkpoint else ""
    before = {one.finding.key: one for one in stands(found).evaluations}
    home = session.home  # before we are where it was watched from: its modules and commands are found there
    with contextlib.chdir(_place(found)):
        watching = _watching(session, home, found, directory)
        if path:
            exact = re.compile(f"^{re.escape(path)}$")
            watching = replace(watching, options=replace(watching.options, pattern=exact, existing=True, rules=PLAIN))
        restored = 0 if path else restore(watching)
        refused = None
        try:
            watching.look_until_settled()
        except HomeError as error:  # what is known already can be evaluated anew all the same
            refused = error
        wanted = [
            one.finding
            for one in before.values()
            if (path and _real(one.finding.path) == path) or (failed and not path and one.state == FAILED)
        ]
        anew = [finding for finding in wanted if again(watching, finding)]
    after = [one for one in stands(found).evaluations if one.finding.key not in before]
    new = [one.finding for one in after if not path or _real(one.finding.path) == path]
    if path and not new and not wanted and refused is None:
        raise NotFound(f"{near(path)} is no complete checkpoint.", hint=_why(watching, path))
    _tell(session, found, watching, [f.path for f in new], [f.path for f in anew], restored)
    if refused is not None:
        raise refused


def _place(found: Watch) -> str:
    place = found.setup.get("cwd")
    return place if isinstance(place, str) and os.path.isdir(place) else os.curdir


def _watching(session: Session, home: Home, found: Watch, directory: str) -> Watching:
    """As it was watched last. Options that came with a newer Paddock have their defaults."""
    from paddock.cli.watch.watch import watch as command

    if not found.setup:
        raise UsageError(
            f"It is not known how {near(found.directory)} was watched.", hint="Watch it: `paddock watch --once`."
        )
    usual = command.make_context("watch", []).params
    given: dict[str, Any] = usual | {name: value for name, value in found.setup.items() if name in usual}
    given |= {"directories": (directory,), "directory": ()}
    found_now = make_plan(session, home, given).watches(home, lambda text: None)
    if not found_now:  # its name looks like a pattern, and it is not there
        raise NotFound(f"There is no directory {directory}.", hint="Is its disk mounted?")
    return found_now[0]


def _inside(found: Watch, checkpoint: str) -> str:
    path = _real(os.path.expanduser(checkpoint))
    if not path.startswith(found.directory.rstrip("/") + "/"):
        raise UsageError(f"{checkpoint} is not below {found.directory}.", hint="Name the watch that it belongs to.")
    return path


def _real(path: str) -> str:
    """As the watch knows it, whatever links lead to its directory; a checkpoint may be a link itself."""
    return path if is_url(path) else os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _why(watching: Watching, path: str) -> str:
    from paddock.evaluate.origin.look import look

    here = look(path)
    return f"It is not complete: {watching.completeness.judge(here).why}." if here else "There is nothing."


def _tell(session: Session, found: Watch, watching: Watching, new: list[str], anew: list[str], restored: int) -> None:
    out = session.out
    out.json({"watch": found.id, "new": new, "again": anew, "restored": restored})
    for path in [*new, *anew]:
        out.bare(path)
        out.line(f"submitted: {near(path)}" + (" (again)" if path in anew else ""))
    if restored:
        out.line(f"submitted: {many(restored, 'evaluation')} that had been taken back")
    if not new and not anew and not restored:
        out.line("Nothing new.")
    else:
        tell_if_nobody_evaluates(out, watching.queue)
