"""paddock watch: evaluate every checkpoint of a directory, once, as soon as it is complete."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click
from click.core import ParameterSource

from paddock.cli.command import Session, verb
from paddock.cli.watch.keeping import detach as background
from paddock.cli.watch.keeping.keeping import Keeping
from paddock.cli.watch.options import WatchCommand, watch_options
from paddock.cli.watch.plan import Plan, make_plan
from paddock.cli.watch.shown import near, shown_pattern
from paddock.cli.watch.tables import from_tables
from paddock.compare.source import source
from paddock.errors import UsageError
from paddock.evaluate.ledger.watcher import Seen
from paddock.record.layout import Home

_HELP = """Evaluate every checkpoint below DIRECTORY, once, as soon as it is complete.

\b
  paddock watch out --evaluator evaluate.py:accuracy
  paddock watch 'runs/*/ckpt' --evaluator my_package.metrics.bleu --num-eval-workers 2
  paddock watch out --command 'lm_eval --model hf --model_args pretrained={path} --tasks arc_easy --output_path {out}'

The evaluator gets the path of the checkpoint and returns a dict of numbers, a number, or nothing. Its scores are in a
run of their own and in the training run, at the checkpoint's step, as eval/<evaluator>/<metric>. What is complete is
decided by looking at the format. Started again, it evaluates what came meanwhile, and nothing twice. Without arguments
it keeps the watches of the [[watch]] tables in paddock.toml.

\b
  paddock watch ls | show | stop | rescan     what is watched, and what became of it (a directory called ls is ./ls)
"""


@verb("watch", help=_HELP, cls=WatchCommand)
@click.argument("directories", nargs=-1, metavar="[DIRECTORY]...")
@watch_options
@click.option("--detach", is_flag=True, help="Go on in the background, with a log of its own.")
@click.option("--once", is_flag=True, help="Submit what is complete now, and leave.")
@click.option("--plain", is_flag=True, help="Lines as they come, instead of the live view.")
@click.option("--until-eof", is_flag=True, help="When stdin is closed, see to what is there, and end.")
def watch(session: Session, detach: bool, once: bool, plain: bool, until_eof: bool, **given: Any) -> None:
    home = source(session.home_option).home
    plans = [make_plan(session, home, one) for one in _asked(given)]
    if once:
        _refuse_what_is_missing(plans)
    remarks = list(dict.fromkeys(text for plan in plans for text in plan.remarks(home)))
    for text in remarks:
        session.out.note(text)
    if once:
        Keeping(session, home, plans).look_once(remarks)
    elif detach:
        _detach(session, home, plans)
    else:
        Keeping(session, home, plans).keep(plain=plain, until_eof=until_eof, remarks=remarks)


def _refuse_what_is_missing(plans: list[Plan]) -> None:
    for path in (path for plan in plans for path in plan.awaited):
        hint = "Check the name; without --once it is watched as soon as it appears."
        raise UsageError(f"There is no directory {near(path)}.", hint=hint)
    for pattern in (pattern for plan in plans for pattern in plan.globs if not plan.roots):
        raise UsageError(f"No directory fits {pattern}.", hint="Without --once they are watched as they appear.")


def _asked(given: dict[str, Any]) -> list[dict[str, Any]]:
    """What the command line says; when that is nothing, what paddock.toml says."""
    context = click.get_current_context()
    if any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in given):
        return [given]
    return from_tables(context.command) or [given]


def _detach(session: Session, home: Home, plans: list[Plan]) -> None:
    already: dict[str, Seen] = {}
    kept: set[str] = set()
    left = []
    for plan in plans:  # each for itself: another table may name the same directory
        roots, patterns = background.running(home, plan), background.running_globs(home, plan)
        left.append(plan.without(roots, patterns))
        already |= roots
        kept |= patterns
    for root, seen in already.items():
        session.out.note(f"{near(root)} is watched already, by {seen.name}{'' if seen.here else f' on {seen.host}'}.")
    for pattern in sorted(kept):
        session.out.note(f"{shown_pattern(pattern)} is watched already, as soon as it is there.")
    left = [plan for plan in left if plan.roots or plan.globs]
    if not left:
        session.out.json({"watching": [], "already": sorted(already), "log": None})
        return
    log = background.new_log(home, left[0])
    told = background.detach(log)
    if told is not None:
        session.out.terminal = False
        Keeping(session, home, left, log=str(log)).keep(lambda: _tell_that_it_began(told))
        return
    globs = list(dict.fromkeys(pattern for plan in left for pattern in plan.globs))
    directories = list(dict.fromkeys(root for plan in left for root in plan.roots))
    session.out.json({"watching": directories, "globs": globs, "already": sorted(already), "log": str(log)})
    for root in directories:
        session.out.bare(root)
    shown = ", ".join(map(near, directories[:5])) + (f" and {len(directories) - 5} more" if directories[5:] else "")
    later = ", ".join(f"{shown_pattern(one)} as soon as it is there" for one in globs)
    session.out.line(f"Watching {', and '.join(filter(None, (shown, later)))} in the background.")
    first = shlex.quote(near(directories[0]) if directories else shown_pattern(globs[0]))
    session.out.line(f"  paddock watch show {first}" if directories else "  paddock watch ls")
    session.out.line(f"  paddock watch stop {first}")
    session.out.line(f"  tail -f {shlex.quote(str(log))}")


def _tell_that_it_began(descriptor: int) -> None:
    os.write(descriptor, b"begun")
    os.close(descriptor)
