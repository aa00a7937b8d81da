"""paddock watch: evaluate every checkpoint of a directory, once, as soon as it is complete."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType

import click

from paddock.cli.command import Session, verb
from paddock.compare.view import source
from paddock.errors import UsageError
from paddock.evaluate import evaluator as evaluators
from paddock.evaluate import training
from paddock.evaluate.evaluator import Evaluator
from paddock.evaluate.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.steps import compile_rule
from paddock.evaluate.vigil import Vigil
from paddock.evaluate.watching import Options, Watching
from paddock.queue.directory import find_queue
from paddock.queue.submission import parse_seconds
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
@click.option("--directory", "named", multiple=True, metavar="PATH", help="The same; a glob may fit many.")
@click.option("--evaluator", "functions", multiple=True, metavar="FILE.py:FN", help="Or pkg.mod.fn; repeatable.")
@click.option("--command", "commands", multiple=True, metavar="CMD", help="A shell command with {path} and {out}.")
@click.option("--regex-filter", "--regex_filter", default=DEFAULT_PATTERN, show_default=True, help="On the full path.")
@click.option("--eval-existing", "--eval_existing", is_flag=True, help="Also what was there before the first watch.")
@click.option("--polling-interval", "--polling_interval", default=5.0, show_default=True, help="Seconds between looks.")
@click.option("--num-eval-workers", "--num_eval_workers", default=5, show_default=True, help="Evaluations at once.")
@click.option("--num-watch-workers", "--num_watch_workers", default=1, hidden=True)
@click.option(
    "-Q", "--queue", default="evaluation", show_default=True, metavar="NAME|PATH", help="For the evaluations."
)
@click.option("--no-worker", is_flag=True, help="Only submit: workers of that queue evaluate.")
@click.option("--run", help="The training run; else it is found from the directory.")
@click.option("--quiet-time", metavar="TIME", help="At rest for so long is complete, whatever the format needs.")
@click.option("--step-rule", metavar="RE", help=r"Where the step is in the path: 'it(\d+)'.")
@click.option("--timeout", metavar="TIME", help="End an evaluation after 10m, 2h.")
@click.option("--retries", default=0, metavar="N", help="Evaluate again so often when it fails [0].")
@click.option("--gpus", default=0, metavar="N", help="GPUs that an evaluation needs [0].")
@click.option("--once", is_flag=True, help="Look once, submit what is complete, and leave.")
def watch(
    session: Session,
    directories: tuple[str, ...],
    named: tuple[str, ...],
    functions: tuple[str, ...],
    commands: tuple[str, ...],
    regex_filter: str,
    eval_existing: bool,
    polling_interval: float,
    num_eval_workers: int,
    num_watch_workers: int,
    queue: str,
    no_worker: bool,
    run: str | None,
    quiet_time: str | None,
    step_rule: str | None,
    timeout: str | None,
    retries: int,
    gpus: int,
    once: bool,
) -> None:
    chosen = _evaluators(functions, commands)
    options = Options(
        pattern=compile_pattern(regex_filter),
        evaluators=chosen,
        existing=eval_existing,
        quiet=parse_seconds(quiet_time) if quiet_time else None,
        step_rule=compile_rule(step_rule) if step_rule else None,
        timeout=parse_seconds(timeout),
        retries=retries,
        gpus=gpus,
    )
    roots = _roots([*directories, *named])
    home = source(session.home_option).home
    home.prepare()
    target = find_queue(queue, home)
    target.prepare()
    find = _training_runs(session, home, run)
    watches = [Watching(home, root, target, options, find, lambda text: _tell(session, text)) for root in roots]
    if once:
        for watching in watches:
            watching.look()
        return
    session.out.note(f"Watching {', '.join(roots)} with {', '.join(e.name for e in chosen)}. Ctrl-C ends it.")
    worker = None if no_worker else _start_worker(home, str(target.path), num_eval_workers)
    try:
        _loop(watches, polling_interval, worker)
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


def _evaluators(functions: Sequence[str], commands: Sequence[str]) -> tuple[Evaluator, ...]:
    found = [evaluators.function(spec) for spec in functions] + [evaluators.command(text) for text in commands]
    if not found:
        raise UsageError("Nothing evaluates the checkpoints.", hint="Give --evaluator file.py:function or --command.")
    if len({one.name for one in found}) != len(found):
        raise UsageError("Two evaluators have the same name.", hint="Rename one of the functions.")
    for one in found:
        if "function" in one.call:
            # In a process of its own: what it imports is not ours to keep, and may take its time.
            command = [sys.executable, "-m", "paddock.evaluate.call", "--check", one.call["function"]]
            checked = subprocess.run(command, capture_output=True, text=True, check=False)
            if checked.returncode:
                raise UsageError(_last_words(checked.stderr) or f"{one.call['function']} cannot be loaded.")
    return tuple(found)


def _last_words(text: str) -> str:
    """Our own sentence, or the last line of a traceback with where it came from."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if lines and lines[-1].startswith("paddock: "):
        return lines[-1].removeprefix("paddock: ")
    return "The evaluator cannot be loaded:\n" + "\n".join(lines[-6:]) if lines else ""


def _roots(given: Sequence[str]) -> list[str]:
    if not given:
        raise UsageError("Which directory is to be watched?", hint="paddock watch DIRECTORY --evaluator file.py:fn")
    found: list[str] = []
    for text in given:
        expanded = os.path.expanduser(text)
        some = (
            sorted(path for path in glob.glob(expanded) if os.path.isdir(path)) if glob.has_magic(text) else [expanded]
        )
        if not some or not os.path.isdir(some[0]):
            raise UsageError(f"There is no directory {text}.", hint="Make it first, or check the name.")
        found += some
    return list(dict.fromkeys(os.path.abspath(path) for path in found))


def _training_runs(session: Session, home: Home, run: str | None) -> Callable[[str], str]:
    known: dict[str, str] = {}
    if run is not None:
        with session.catalog() as catalog:
            always = catalog.run(run).id
        return lambda path: always

    def find(path: str) -> str:
        directory = os.path.dirname(path)
        if directory not in known:
            with source(session.home_option).catalog() as catalog:
                catalog.refresh()
                found = training.find(home, directory, catalog.runs())
            known[directory] = found or training.make(home, directory)
        return known[directory]

    return find


def _start_worker(home: Home, queue: str, slots: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "paddock", "worker", queue, "--slots", str(slots), "--home", str(home.path), "-q"]
    return subprocess.Popen(command, start_new_session=True)


def _tell(session: Session, text: str) -> None:
    session.out.note(f"{time.strftime('%H:%M:%S')} {text}")
