"""paddock.submit(): into a queue, and, when an engine runs that queue, to the engine at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from paddock import settings
from paddock.errors import PaddockError, Refused, Unreachable
from paddock.queue.directory import DirectoryQueue
from paddock.queue.engine import is_engine, named, parse, read
from paddock.queue.entry import submission
from paddock.queue.entry.submission import Submitted
from paddock.queue.redis.address import is_redis, no_engine
from paddock.record.layout import Home, find_home


@wraps(submission.submit)
def submit(*args: str, home: Any = None, **about: Any) -> Submitted:
    on = named(about["on"]) if isinstance(about.get("on"), str) else None
    said = on or about.get("queue") or (args[0] if len(args) > 1 else None)
    (told,) = _told(said, [about])
    made = submission.submit(*args, home=home, ship=send_code, **told)
    _start([made], home)
    return made


@wraps(submission.submit_all)
def submit_all(tasks: Sequence[Mapping[str, Any]], *, home: Any = None, **about: Any) -> list[Submitted]:
    tasks = _told(about.get("queue"), tasks)
    made = submission.submit_all(tasks, home=home, ship=send_code, **about)
    _start(made, home)
    return made


def _told(said: Any, tasks: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """With what the engine has to be told besides; what it would not understand is said before anything is queued."""
    queue = said or settings.load().queue
    if isinstance(queue, str) and is_redis(queue) and any(one.get("engine") for one in tasks):
        raise no_engine(queue)
    if isinstance(queue, str) and is_engine(queue):
        from paddock.work.launch.engines import frozen, refuse_wrong

        sound = [one for one in tasks if isinstance(one.get("engine") or {}, Mapping)]
        for one in sound:
            refuse_wrong(parse(queue), one.get("engine") or {})
        if (more := frozen(parse(queue))) and len(sound) == len(tasks):
            return [{**one, "engine": {**more, **(one.get("engine") or {})}} for one in tasks]
    return tasks


def send_code(home: Home, digest: str) -> None:
    """To where workers find it that do not see the home; by a process of its own, for what sends stands beside us."""
    given = settings.load()
    if not given.server and not given.code_store:
        return
    argv = [sys.executable, "-m", "paddock.track.ship.sending", str(home.path), digest]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unreachable(done.stderr.strip() or "The code could not be sent.", hint="Nothing was submitted.")


def _start(made: Sequence[Submitted], home: Any) -> None:
    """An engine that is away or refuses is an error, but the tasks are queued: a program may go on all the same."""
    engine = read(made[0].queue) if made and isinstance(made[0].queue, Path) else None
    if engine is None or not isinstance(made[0].queue, Path):
        return
    from paddock.work.launch.engines import launcher
    from paddock.work.launch.tending import start

    place = home if isinstance(home, Home) else find_home(home or settings.load().home)
    tasks = [one.task for one in made]
    found = start(DirectoryQueue(made[0].queue), launcher(engine, place), engine.scheme, tasks)
    mine = {one.id for one in made}
    refused = [one for one in found.launched if one.trouble and not one.later and one.task in mine]
    said: PaddockError | None = found.trouble or (Refused(refused[0].trouble) if refused else None)
    if said is not None:
        raise type(said)(
            said.message,
            hint=f"{said.hint} What was submitted is queued ({made[0].id}); `paddock status` tries again.".strip(),
        )
