"""paddock task: run a task that was handed over as a file, as a pod does, and say in the end what became of it.

No verb for people: engines whose jobs see no disk of ours call it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from paddock.cli.command import Session, verb

_HELP = """Run the task in FILE, without a queue. Its output comes to stdout.

The exit code is 0 when it is done, 10 when it failed, 75 when it was given back.
"""


@verb("task", help=_HELP)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def task(session: Session, file: Path) -> None:
    from paddock.cli import handed
    from paddock.cli.worker import _tell

    state = handed.run(file, session.home_option, lambda texts: _tell(session, texts))
    session.out.json({"task": file.name, "state": state})
    sys.exit(handed.code(state))
