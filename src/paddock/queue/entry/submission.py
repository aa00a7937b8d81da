"""submit(): a task goes into a queue, and comes back as the check that says whether it is done."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from paddock import settings, wire
from paddock.amounts import as_given, parse_bytes, parse_seconds
from paddock.errors import Refused, TimedOut, Unreachable, UsageError
from paddock.queue import engine as engines
from paddock.queue.check import split_check
from paddock.queue.directory import DirectoryQueue
from paddock.queue.entry import arguments
from paddock.queue.entry.freeze import Freezer
from paddock.queue.entry.parents import Parents
from paddock.queue.finding import find_queue, remember
from paddock.queue.protocol import Queue
from paddock.queue.task import Dependency, Task
from paddock.record.layout import Home, find_home


@dataclass(frozen=True, repr=False)
class Submitted:
    """A task that is in a queue. As a text it is a shell check that succeeds once the task is done."""

    task: Task
    queue: Path | str  # a URL when it is in Redis
    target: Queue

    @property
    def id(self) -> str:
        return self.task.id

    @property
    def where(self) -> str:
        """Its queue, as submit() takes it."""
        return self.target.address

    @property
    def name(self) -> str:
        return self.task.name

    def __str__(self) -> str:
        return self.target.check(self.task.id)

    def __repr__(self) -> str:
        return f"<task {self.task.label} in {self.where}>"

    def __getattr__(self, name: str) -> Any:
        """What the task says: its command, config, priority and so on."""
        if name in Task.__struct_fields__:
            return getattr(self.task, name)
        raise AttributeError(f"A submitted task has no {name!r}.", name=name, obj=self)

    def state(self) -> str:
        """queued, checking, active, done, failed, paused; "gone" when it was cancelled or cleaned away."""
        from paddock.queue.order.orders import find
        from paddock.queue.order.over import GONE

        place = find(self.target, self.id)
        return place.state if place else GONE

    def wait(self, timeout: float | str | None = None) -> str:
        """Until it is over; "done", "failed" or "gone". TimedOut when that takes longer."""
        from paddock.queue.order.over import wait_until_over

        seconds = None if timeout is None else parse_seconds(timeout)
        over = wait_until_over(self.target, [self.id], seconds)
        if self.id not in over:
            raise TimedOut(
                f"{self.id} is not over after {as_given(timeout)}.", hint="`paddock status` says what it waits for."
            )
        return over[self.id]

    def cancel(self, timeout: float | str | None = 60) -> bool:
        """Take it out of the queue; when it runs, wait until its worker has ended it. False when that worker has not
        said so in time. Refused when it is over already."""
        from paddock.queue.order.cancelling import cancel

        return cancel(self.target, self.id, None if timeout is None else parse_seconds(timeout))


def new_task_id() -> str:
    """Sorts by time of submission, to the microsecond, whatever the time zone of who submits: so it is that of UTC."""
    now = time.time_ns()
    seconds, micros = divmod(now // 1000, 1_000_000)
    return f"{_second(seconds)}-{micros:06d}-{secrets.token_hex(2)}"


@lru_cache(2)
def _second(seconds: int) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(seconds))


def make_task(
    cmd: str,
    *,
    chk: str = "",
    after: Sequence[Dependency] = (),
    base: Path | str,
    cwd: str | os.PathLike[str] | None = None,
    mem: int | str = 0,
    timeout: float | str | None = None,
    tags: str | Iterable[str] = (),
    env: Mapping[str, Any] | None = None,
    engine: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    n_workers: int = 1,
    id: str = "",
    parent: str | None = None,
    **more: Any,
) -> Task:
    """The task as it will be written; every wrong argument is a sentence, and nothing has been written yet."""
    arguments.refuse_wrong(cmd, chk, cwd, more)
    check, found = split_check(chk, base)
    if not isinstance(n_workers, int) or isinstance(n_workers, bool) or n_workers < 1:
        raise UsageError(f"n_workers={n_workers!r} is no count of workers.", hint="It is 1 or more.")
    return Task(
        id=id or new_task_id(),
        command=cmd,
        check=check,
        after=tuple(dict.fromkeys((*found, *after))),
        cwd=os.path.abspath(cwd or os.getcwd()),
        mem=parse_bytes(mem) if mem else 0,
        timeout=parse_seconds(timeout),
        tags=arguments.tags(tags),
        env=arguments.environment(env),
        engine=wire.plain(arguments.engine(engine)).value if engine else {},
        config=wire.plain(arguments.config(config)).value if config else {},
        workers=n_workers,
        submitted=round(time.time(), 6),
        user=_user(),
        parent=os.environ.get("PADDOCK_RUN_ID", "") if parent is None else parent,
        **more,
    )


def submit(
    *args: str | os.PathLike[str],
    cmd: str | None = None,
    queue: str | os.PathLike[str] | None = None,
    on: str | None = None,
    chk: Any = "",
    after: Any = (),
    priority: int = 0,
    gpus: int = 0,
    cpus: int = 0,
    mem: int | str = 0,
    timeout: float | str | None = None,
    retries: int = 0,
    env: Mapping[str, Any] | None = None,
    name: str = "",
    project: str = "",
    group: str = "",
    config: Mapping[str, Any] | None = None,
    tags: str | Iterable[str] = (),
    notes: str = "",
    n_workers: int = 1,
    cwd: str | os.PathLike[str] | None = None,
    snapshot: bool = True,
    engine: Mapping[str, Any] | None = None,
    home: Any = None,
    ship: Callable[[Home, str], None] = lambda home, digest: None,
) -> Submitted:
    """Put a shell command into a queue.

    submit("python train.py --lr 0.1", queue="gpu", gpus=1, after=[other]) or, as roach has it,
    submit(queue, cmd, chk). `after` takes tasks, ids, names, or "failure:ID" and "any:ID". The code is frozen as it is
    now unless snapshot=False. `on` names an engine, such as "slurm://gpu", and `engine` what that is told besides:
    engine={"time": "4h"}.
    """
    if on is not None:
        if queue is not None:
            raise UsageError(f"submit() was given a queue, {queue}, and an engine, {on}.", hint="One is enough.")
        queue = engines.named(on)
    if cmd is not None:  # by its name; what stands before it is roach's queue
        if len(args) > 1 or (args and queue is not None):
            raise UsageError(f"submit() was given two commands, one of them cmd={cmd!r}.", hint="One is enough.")
        args = (*args, cmd)
    if len(args) in (2, 3):
        if queue is not None or (len(args) == 3 and chk):
            twice = "queues" if queue is not None else "checks"
            raise UsageError(
                f"submit() was given two {twice}: of several texts in a row the first is the queue, the second the "
                "command and the third the check.",
                hint="For a command with arguments, give one text: submit('echo hello', queue='gpu').",
            )
        queue, command = args[:2]
        chk = args[2] if len(args) == 3 else chk
    elif len(args) == 1:
        (command,) = args
    else:
        raise UsageError("submit() takes a command, or a queue, a command and a check.")
    about = {
        "cmd": command,
        "chk": chk,
        "after": after,
        "priority": priority,
        "gpus": gpus,
        "cpus": cpus,
        "mem": mem,
        "timeout": timeout,
        "retries": retries,
        "env": env,
        "name": name,
        "project": project,
        "group": group,
        "config": config,
        "tags": tags,
        "notes": notes,
        "n_workers": n_workers,
        "cwd": cwd,
        "snapshot": snapshot,
        "engine": engine,
    }
    return submit_all([about], queue=queue, home=home, ship=ship)[0]


def submit_all(
    tasks: Sequence[Mapping[str, Any]],
    *,
    queue: str | os.PathLike[str] | None = None,
    home: Any = None,
    ship: Callable[[Home, str], None] = lambda home, digest: None,
) -> list[Submitted]:
    """Many tasks at once: one wait for the disk, all or none of them acknowledged. `ship` sends a code snapshot to
    where workers find it that do not see the home: before the task is queued, for a queue that they can share."""
    given = settings.load()
    place = home if isinstance(home, Home) else find_home(home or given.home)
    target = find_queue(queue or given.queue, place)
    _refuse_untold(tasks)
    try:
        target.prepare()
    except (Refused, Unreachable) as error:  # of a server: what is not there is nowhere
        raise type(error)(f"{error.message} Nothing was submitted.", hint=error.hint) from None
    remember(target, place)
    return enter([_settled(one, given.project) for one in tasks], target, place, ship)


def _settled(about: Mapping[str, Any], project: str) -> Mapping[str, Any]:
    """With the project of runs that name none, which is no word of the submission's: a script's own goes before it."""
    return about if about.get("project") or not project else {**about, "facts": {"project": project}}


def _refuse_untold(tasks: Any) -> None:
    alone = isinstance(tasks, (str, Mapping))
    for one in [tasks] if alone else tasks:
        if alone or not isinstance(one, Mapping) or "cmd" not in one:
            raise UsageError(
                f"submit_all() takes a list of dicts, each with a cmd, and was given {one!r}.",
                hint='Such as [{"cmd": "python train.py", "gpus": 1}].',
            )


def enter(
    tasks: Sequence[Mapping[str, Any]],
    queue: Queue,
    home: Home,
    ship: Callable[[Home, str], None] = lambda home, digest: None,
) -> list[Submitted]:
    """The same into a queue that was prepared before: for who submits again and again."""
    parents, freezer = Parents(queue, home), Freezer(home)
    made = [_with_code(_given(one), freezer, queue, parents) for one in tasks]
    if not isinstance(queue, DirectoryQueue):
        for digest in dict.fromkeys(task.code for task in made if task.code):
            ship(home, digest)
    queue.put(made)
    return [Submitted(task, queue.path if isinstance(queue, DirectoryQueue) else queue.address, queue) for task in made]


def _given(about: Mapping[str, Any]) -> dict[str, Any]:
    """None is what a function passes on that was given nothing."""
    return {key: value for key, value in about.items() if value is not None or key == "cmd"}


def _with_code(about: dict[str, Any], freezer: Freezer, queue: Queue, parents: Parents) -> Task:
    freeze = about.pop("snapshot", True)
    waits = parents.find(about.pop("after", ()))
    chk = " && ".join(filter(None, (str(about.pop("chk", "") or "").strip(), *waits.checks)))
    task = make_task(
        about.pop("cmd"),
        base=queue.base if isinstance(queue, DirectoryQueue) else queue.address,
        chk=chk,
        after=waits.after,
        **about,
    )
    return freezer.freeze(task) if freeze else task


@cache
def _user() -> str:
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except Exception:  # no passwd entry for this uid
        return f"{os.getuid()}@{socket.gethostname()}"
