"""What the tasks that one waited for have left in their directories and its command names: `train` writes seed=0.pt,
which `eval` reads.

Each frozen task writes to a directory of its own, so that the tasks of a sweep do not overwrite each other's results.
Who waits for another and names what that has made is meant to have it; all else stays apart.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from paddock.queue.task import Task

_BETWEEN = re.compile(r"""[\s'"`;&|<>()]+""")


def link_what_is_named(task: Task, runs: str, here: str, inside: str) -> None:
    """`here` is where the task runs, `inside` that directory below its root; `runs` holds those of all runs."""
    places = [os.path.join(runs, dependency.task, "work", inside) for dependency in task.after]
    places = [place for place in places if os.path.isdir(place)]
    for path in dict.fromkeys(_paths(task.command)) if places else ():
        found = next((place for place in places if os.path.lexists(f"{place}/{path}")), None)
        if found is not None and not os.path.lexists(f"{here}/{path}"):
            try:
                os.makedirs(os.path.dirname(f"{here}/{path}"), exist_ok=True)
                os.symlink(f"{found}/{path}", f"{here}/{path}")
            except OSError:  # another rank was faster; or there is something that cannot be written to
                pass


def _paths(command: str) -> Iterator[str]:
    """The words that could be relative paths; of --model=x.pt both that and x.pt."""
    for word in _BETWEEN.split(command):
        parts = word.split("=")
        for first in range(len(parts)):
            path = os.path.normpath("=".join(parts[first:]))
            if path != "." and not path.startswith(("/", "..", "-")) and "\0" not in path:
                yield path
