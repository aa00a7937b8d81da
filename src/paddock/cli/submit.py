"""paddock submit: put a command, or a sweep of commands, into a queue."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from paddock import settings
from paddock.cli.command import Session, verb
from paddock.cli.engine import is_refused, see_to, trouble_of
from paddock.cli.span import SPAN
from paddock.compare.source import source
from paddock.compare.text import many
from paddock.errors import Refused, UsageError
from paddock.queue import engine as engines
from paddock.queue.entry import sweep
from paddock.queue.finding import find_queue
from paddock.queue.redis.address import is_redis, no_engine
from paddock.record.layout import Home

_HELP = """Put a shell command into a queue; `paddock worker` runs it.

\b
  paddock submit -- python train.py --lr 0.1
  paddock submit --gpus 1 --retries 2 -- 'python prepare.py && python train.py'
  paddock submit --grid lr=1e-3,1e-4 --grid seed=0..4 -- python train.py --lr {lr} --seed {seed}
  paddock submit --grid 'opt="a,b",c' -- python train.py --opt {opt}
  paddock submit - < job.sh
  a=$(paddock submit -- python train.py); paddock submit --chk "$a" -- python eval.py

Several words are a command and its arguments; one word is a shell command as it stands; `-` reads the command from
stdin. The code is frozen as it is now: later edits do not change what is queued. What it prints is a shell check that
succeeds once the task is done, for --chk of another task; --quiet prints the ids.
"""


@verb("submit", help=_HELP, context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, metavar="[--] COMMAND...")
@click.option("-Q", "--queue", metavar="NAME|PATH", help="The queue [default]; with a slash, any directory.")
@click.option("--on", metavar="URL", help="An engine: slurm://PARTITION, k8s://CONTEXT/NAMESPACE.")
@click.option("--time", metavar="TIME", help="How long the engine's job may take: 90m, 4:00:00, 1-00:00:00.")
@click.option("--engine", "told", multiple=True, metavar="KEY=VALUE", help="More for the engine; repeatable.")
@click.option("--name", help="A name for people; a sweep adds its values.")
@click.option("--project", help="The project of the run [the directory's name].")
@click.option("--group", help="A group of runs [a sweep's name].")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--notes", default="", help="Free text.")
@click.option("--config", "-c", "pairs", multiple=True, metavar="KEY=VALUE", help="For the run's config; repeatable.")
@click.option("--grid", multiple=True, metavar="KEY=VALUES", help="A sweep: lr=1e-3,1e-4 or seed=0..4; repeatable.")
@click.option("--skip-existing", is_flag=True, help="Leave out what is queued, running or finished already.")
@click.option("--chk", default="", metavar="COMMAND", help="Wait until this shell command succeeds.")
@click.option("--after", multiple=True, metavar="TASK", help="Wait for a task: ID, failure:ID or any:ID; repeatable.")
@click.option("--priority", type=int, default=0, help="Higher goes first [0].")
@click.option("--gpus", type=int, default=0, metavar="N", help="GPUs that it needs.")
@click.option("--cpus", type=int, default=0, metavar="N", help="Processors that it needs.")
@click.option("--mem", default="0", metavar="SIZE", help="Memory that it needs, such as 8G.")
@click.option(
    "--workers", "--n-workers", "n_workers", type=int, default=1, metavar="N", help="Ranks that run it together [1]."
)
@click.option("--timeout", type=SPAN, metavar="TIME", help="End it after 90s, 1h30m, 4:00:00.")
@click.option("--retries", type=int, default=0, metavar="N", help="Run it again so often when it fails [0].")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="For its environment; repeatable.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="Where it runs [here].")
@click.option("--no-snapshot", is_flag=True, help="Run the code in place, as it is when the task starts.")
@click.option("--dry-run", is_flag=True, help="Only show the commands; for an engine what it is sent.")
def submit(
    session: Session,
    words: tuple[str, ...],
    queue: str | None,
    on: str | None,
    time: str | None,
    told: tuple[str, ...],
    name: str | None,
    group: str | None,
    project: str | None,
    pairs: tuple[str, ...],
    variables: tuple[str, ...],
    grid: tuple[str, ...],
    skip_existing: bool,
    no_snapshot: bool,
    dry_run: bool,
    **about: Any,
) -> None:
    from paddock.cli.existing import There, existing
    from paddock.queue.entry.freeze import led_outside
    from paddock.queue.entry.submission import submit_all

    out = session.out
    if on and queue:
        raise UsageError(f"--on {on} and --queue {queue} are two places.", hint="One of them is enough.")
    queue = engines.named(on) if on else queue or settings.load().queue
    words = (_from_stdin(),) if words == ("-",) else words
    points = sweep.expand(words, grid)
    for key in sweep.unused(words, grid):
        out.note(f"The command does not use {{{key}}}: its values are in the runs' configs only.")
    for slip, key in sweep.slips(words, grid):
        out.note(f"{{{slip}}} is none of --grid, and stays in the command as it is. Is it {{{key}}}?")
    config = {key: sweep.typed(value) for key, value in _pairs(pairs, "--config").items()}
    home = source(session.home_option).home  # it need not exist yet
    common = {
        **about,
        "project": project or "",
        "group": group or (name or sweep_name(words) if grid else ""),
        "env": _pairs(variables, "--env"),
        "engine": _for_engine(queue, {**_pairs(told, "--engine"), **({"time": time} if time else {})}),
        "snapshot": not no_snapshot,
    }
    tasks = [
        {**common, "cmd": p.command, "config": {**config, **p.config}, "name": _name(name, p.label, words)}
        for p in points
    ]
    there = existing(home, tasks, find_queue(queue, home)) if skip_existing else [None] * len(tasks)
    kept = [task for task, found in zip(tasks, there, strict=True) if found is None]
    if dry_run and engines.is_engine(queue):
        from paddock.cli.dry import show_tasks

        show_tasks(session, home, queue, kept)
        return
    if dry_run:
        _show(session, kept)
        return
    home.prepare()
    made = submit_all(kept, queue=queue, home=home, ship=_send_code) if kept else []
    fresh = iter(made)
    asked_for = [found or next(fresh) for found in there]  # in the order of the sweep
    for one in asked_for:
        out.bare(one.id)
    for task in made:
        out.note(f"{task.task.title} ({task.id}) is in {task.queue}")
    if lost := list(dict.fromkeys(word for task in made for word in led_outside(task.task))):
        out.note(
            f"{', '.join(lost[:3])} is not in the code that was frozen, and will not be found where the task runs: "
            "give the absolute path, or --no-snapshot."
        )
    if made and not no_snapshot and not made[0].task.code:
        why = made[0].task.facts.get("code", {}).get("note") or "there is none"
        out.note(f"The code is not frozen ({why}): it runs in place, as it is then.")
    if len(kept) < len(tasks):
        out.note(f"{many(len(tasks) - len(kept), 'task')} left out: there already.")
    engine = see_to(session, made[0].target, [one.task for one in made]) if made else None
    if made and engine is None and common["engine"]:
        out.note(
            f"No engine runs {made[0].target.address}: --time and --engine do nothing there; --timeout limits a task."
        )
    trouble = trouble_of(engine)
    out.json(
        {
            "tasks": [{"id": t.id, "name": t.name, "queue": str(t.queue), "check": str(t)} for t in made],
            **({"existing": [found._asdict() for found in there if found]} if skip_existing else {}),
            **({"trouble": trouble} if trouble else {}),
        }
    )
    # What was left out is waited for as well, or a --chk of this would begin before it is done.
    checks = [one.check if isinstance(one, There) else str(one) for one in asked_for]
    out.line(" && ".join(dict.fromkeys(filter(None, checks))) or "true")
    if engine is not None and is_refused(engine, {task.id for task in made}):
        out.flush()
        sys.exit(Refused.exit_code)  # they are queued, but nobody will start them before a person has done something


def _send_code(home: Home, digest: str) -> None:
    """To where workers find it that do not see the home, if there is such a place."""
    given = settings.load()
    if given.server or given.code_store:
        from paddock.track.ship.road import ship_code

        ship_code(home, digest)


def _for_engine(queue: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """With what the engine has to be told besides; what it would not understand is said before anything is queued."""
    if told and is_redis(queue):
        raise no_engine(queue)
    if engines.is_engine(queue):
        from paddock.work.launch.engines import frozen, refuse_wrong

        refuse_wrong(engines.parse(queue), told)
        return {**frozen(engines.parse(queue)), **told}
    return dict(told)


def sweep_name(words: Sequence[str]) -> str:
    """What a person would call the command: its script, without what varies."""
    parts = sweep.join(words).split()
    found = next((part for part in parts if part.endswith((".py", ".sh"))), parts[0] if parts else "sweep")
    return found.rpartition("/")[2].rpartition(".")[0] or found


def _name(name: str | None, label: str, words: Sequence[str]) -> str:
    if label:
        return f"{name or sweep_name(words)} {label}"
    return name or ""


def _from_stdin() -> str:
    text = sys.stdin.read().replace("\r\n", "\n").rstrip("\n") if sys.stdin is not None else ""  # of Windows too
    if not text.strip():
        raise UsageError("There was no command on stdin.", hint="paddock submit - < job.sh")
    return text


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{option} {text!r} is no KEY=VALUE.", hint=f"Write {option} lr=0.1.")
        found[key.strip()] = value
    return found


def _show(session: Session, tasks: Sequence[Mapping[str, Any]]) -> None:
    session.out.json({"tasks": [{"name": t["name"], "command": t["cmd"], "config": t["config"]} for t in tasks]})
    for task in tasks:
        session.out.line(task["cmd"])
    session.out.note(f"{many(len(tasks), 'task')} would be submitted.")
