"""paddock watch: evaluate every checkpoint of a directory, once, as soon as it is complete."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.watch_options import watch_options
from paddock.cli.watch_plan import make_plan
from paddock.compare.view import source
from paddock.errors import UsageError
from paddock.evaluate.vigil import Vigil
from paddock.evaluate.watching import Watching
from paddock.record.layout import Home

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
    plan = make_plan(session, home, given)
    watches = plan.watches(home, lambda text: _tell(session, text))
    if once:
        for watching in watches:
            watching.look_until_settled()
        return
    names = ", ".join(evaluator.name for evaluator in plan.options.evaluators)
    session.out.note(f"Watching {', '.join(plan.roots)} with {names}. Ctrl-C ends it.")
    worker = _start_worker(home, str(plan.queue.path), plan.workers) if plan.workers else None
    try:
        _loop(watches, plan.interval, worker)
    finally:
        if worker is not None:
            worker.terminate()
            worker.wait()


def _loop(watches: Sequence[Watching], interval: float, worker: subprocess.Popen[bytes] | None) -> None:
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True

    def is_over() -> bool:
        if worker is not None and worker.poll() is not None:
            raise UsageError("The worker of the evaluations has ended.", hint="`paddock worker` says why.")
        return stopped

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    Vigil(watches, interval).keep(is_over)


def _start_worker(home: Home, queue: str, slots: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "paddock", "worker", queue, "--slots", str(slots), "--home", str(home.path), "-q"]
    return subprocess.Popen(command, start_new_session=True)


def _tell(session: Session, text: str) -> None:
    session.out.note(f"{time.strftime('%H:%M:%S')} {text}")
