"""paddock run: a script under the main-script contract, watched from outside."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from paddock import settings as settings_
from paddock import wire
from paddock.cli.command import Session, verb
from paddock.cli.output import JSON
from paddock.compare.source import source
from paddock.errors import UsageError
from paddock.record.layout import check_id, new_id


@verb("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--project", help="The project the run belongs to.")
@click.option("--name", help="A name for people; made up when left out.")
@click.option("--group", help="A group of runs, such as one sweep.")
@click.option("--job-type", help="Such as train or eval.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--notes", help="Free text.")
@click.option("--id", "run_id", help="The run's id; made up when left out.")
@click.option("--resume", type=click.Choice(["allow", "must", "never"]), help="Continue the run with this --id.")
@click.option("--usage", is_flag=True, help="Sample what its processes use: `paddock usage` draws it.")
@click.argument("script", type=click.Path())
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    session: Session,
    run_id: str | None,
    resume: str | None,
    usage: bool,
    script: str,
    arguments: tuple[str, ...],
    **about: Any,
) -> None:
    """Run SCRIPT as a tracked run: paddock run train.py lr=0.1 model.depth=50

    A script with a dict `config` and a function `main()` gets each KEY=VALUE in its config, and log_metric, log_info,
    log_image, log_runtime and output_dir in its module. Any other Python script runs as it is, with its arguments.
    How it ended is written down even after kill -9 or an out-of-memory kill. The exit code is the script's.
    """
    from paddock.track.script.supervise import begin, supervise, task_run
    from paddock.track.ship.joining import send_rest

    if not os.path.isfile(script):
        raise UsageError(f"There is no script {script!r}.", hint="Give the path of a Python file.")
    home = source(session.home_option).home  # it need not exist yet
    task = task_run(os.environ) if not run_id and not session.home_option else None
    if task is not None:  # its worker watches it already
        home, directory, attempt = task
    else:
        directory, attempt = begin(home, check_id(run_id) if run_id else new_id(), resume)
    given = {key: value for key, value in about.items() if value}
    if usage:
        given |= {"usage": True, "usage_from_start": True}
    given["command"] = ["paddock", "run", script, *arguments]
    command = [sys.executable, "-m", "paddock.track.script.script", wire.dumps(given).decode(), script, *arguments]
    environ = {
        **os.environ,
        "PADDOCK_RUN_ID": directory.id,
        "PADDOCK_RUN_HOME": str(home.path),
        "PADDOCK_ATTEMPT": str(attempt),
    }
    environ.pop("PADDOCK_RUN_OWNER", None)
    if not session.out.human:
        environ["PADDOCK_QUIET"] = "1"
    # With --json stdout carries the JSON alone; what the script prints goes to stderr.
    stdout = sys.stderr.fileno() if session.out.mode == JSON else None
    code = supervise(command, environ, directory, attempt, stdout, record=task is None)
    if task is None:
        send_rest(home, directory, settings_.load())
    session.out.json({"run": directory.id, "attempt": attempt, "exit_code": code})
    session.out.flush()
    sys.exit(code)
