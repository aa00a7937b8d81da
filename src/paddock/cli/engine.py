"""What the verbs of the queue share about engines: whoever looks at an engine's queue sees to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from paddock.cli.command import Session
from paddock.compare.text import many
from paddock.errors import PaddockError, Unreachable
from paddock.queue import engine as engines
from paddock.queue.directory import DirectoryQueue
from paddock.queue.protocol import Queue
from paddock.queue.task import Task

if TYPE_CHECKING:
    from paddock.work.launch.tending import Tended
    from paddock.work.launcher import Launcher

_NAMED = 3  # refusals that are told one by one


def see_to(session: Session, queue: Queue, fresh: Sequence[Task] = (), by: Launcher | None = None) -> Tended | None:
    """Have the engine of this queue start what waits, or only what is `fresh`, submitted this moment, `by` a launcher
    that is there already; None when it has none. What went wrong is said, not raised."""
    if not isinstance(queue, DirectoryQueue):
        queue.tend()
        return None
    engine = engines.read(queue.path)
    if engine is None:
        return None
    from paddock.work.launch.engines import launcher
    from paddock.work.launch.tending import Tended, start, tend

    try:
        asked = by or launcher(engine, session.home)
        found = start(queue, asked, engine.scheme, fresh) if fresh else tend(queue, asked, engine.scheme)
    except PaddockError as error:  # it cannot even be asked
        found = Tended({}, trouble=error)
    started = [one for one in found.launched if one.job]
    refused = [one for one in found.launched if one.trouble]
    if started:
        session.out.note(f"{engine.url} has {many(len(started), 'new job')}.")
    named = refused[:_NAMED] if any(not one.later for one in refused) else refused[:1]
    for one in named:
        session.out.trouble(f"{one.task} is queued, but got no job: {one.trouble}")
    if len(refused) > len(named):
        session.out.trouble(f"{len(refused) - len(named)} more got none.")
    if found.stuck:
        session.out.note(
            f"{many(len(found.stuck), 'task')} had several jobs that ended before the task began, and get no more: "
            f"{', '.join(found.stuck[:_NAMED])}. `paddock logs` may say why; `paddock pause` and `resume` try again."
        )
    if found.failed:
        session.out.note(f"{many(len(found.failed), 'task')} failed: what they waited for will not happen.")
    if found.trouble is not None:
        session.out.trouble(f"{found.trouble} The tasks are queued; the next `paddock status` tries again.")
    return found


def trouble_of(found: Tended | None) -> list[str]:
    """What went wrong, for programs."""
    if found is None:
        return []
    refused = list(dict.fromkeys(one.trouble for one in found.launched if one.trouble))
    return [*([str(found.trouble)] if found.trouble is not None else []), *refused]


def is_refused(found: Tended, tasks: Collection[str]) -> bool:
    """The engine has answered, and does not want these: no look will change that. One that is away may come back."""
    if found.trouble is not None:
        return not isinstance(found.trouble, Unreachable)
    return any(one.trouble and not one.later for one in found.launched if one.task in tasks)


def give_another_chance(queue: Queue, tasks: Sequence[str]) -> None:
    """A person wants them tried again, however many of their jobs ended in vain."""
    if isinstance(queue, DirectoryQueue) and engines.read(queue.path) is not None:
        from paddock.work.launch.jobs import forget

        forget(queue, tasks)


def jobs_of(found: Tended | None) -> dict[str, str] | None:
    """What an engine says of each task, for people; None when no engine runs the queue."""
    if found is None:
        return None
    if found.trouble is not None:
        from paddock.queue.show.status import OTHERS

        return {OTHERS: found.trouble.message}  # whether they have jobs, nobody knows now
    told = {one.task: f"job {one.job} submitted" if one.job else one.trouble for one in found.launched}
    for task, jobs in found.jobs.items():
        last = max(jobs, key=lambda job: job.state.may_run, default=None)
        if last is not None:
            told.setdefault(task, f"job {last.id} {last.about}".strip())
    return told
