"""The directory of a run whose task still waits, made before its first attempt: somebody has something to say of it."""

from __future__ import annotations

from paddock import files, wire
from paddock.errors import HomeError
from paddock.queue.entry.facts import facts_of
from paddock.queue.finding import known_queues
from paddock.queue.protocol import AWAY
from paddock.queue.show.view import snapshot
from paddock.record.layout import Home


def give_record(home: Home, task: str) -> None:
    """Nothing when it has one already, or when no queue of the home knows it. Its first attempt finds it there."""
    directory = home.run(task)
    if directory.path.is_dir():
        return
    for queue in known_queues(home):
        try:
            entry = snapshot(queue).by_id().get(task)
        except AWAY:  # a Redis that is away knows nothing
            continue
        if entry is not None and entry.file is not None:
            facts = wire.plain(facts_of(entry.file.task)).value
            try:
                directory.path.mkdir(parents=True, exist_ok=True)
                files.write_once(directory.path / "run.json", wire.dumps(facts))
            except OSError as error:
                raise HomeError(
                    f"{directory.path} cannot be written ({error.strerror}).", hint="See to the disk."
                ) from None
            return
