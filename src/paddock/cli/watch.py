"""paddock watch: evaluate every checkpoint of a directory, once, as soon as it is complete."""

from __future__ import annotations

from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.watch_keeping import Keeping
from paddock.cli.watch_options import watch_options
from paddock.cli.watch_plan import make_plan
from paddock.compare.view import source

_HELP = """Evaluate every checkpoint below DIRECTORY, once, as soon as it is complete.

\b
  paddock watch out --evaluator evaluate.py:accuracy
  paddock watch 'runs/*/ckpt' --evaluator my_package.metrics.bleu --num-eval-workers 2
  paddock watch out --command 'lm_eval --model hf --model_args pretrained={path} --tasks arc_easy --output_path {out}'

The evaluator gets the path of the checkpoint and returns a dict of numbers, a number, or nothing. Its scores are in a
run of their own and in the training run, at the checkpoint's step, as eval/<evaluator>/<metric>. What is complete is
decided by looking at the format. Started again, it evaluates what came meanwhile, and nothing twice.
"""


@verb("watch", help=_HELP)
@click.argument("directories", nargs=-1, metavar="[DIRECTORY]...")
@watch_options
@click.option("--once", is_flag=True, help="Submit what is complete now, and leave.")
def watch(session: Session, once: bool, **given: Any) -> None:
    home = source(session.home_option).home
    keeping = Keeping(session, home, [make_plan(session, home, given)])
    if once:
        keeping.look_once()
    else:
        keeping.keep()
