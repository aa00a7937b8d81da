"""What may be left of a cancelled task whose worker died on this host: its processes are ended, and its run says so."""

from __future__ import annotations

import sys
from pathlib import Path

from paddock import settings
from paddock.queue import lifecycle
from paddock.queue.directory import DirectoryQueue
from paddock.queue.ensemble.gang import process_key
from paddock.queue.ensemble.gathering import Gathering
from paddock.queue.finding import find_queue
from paddock.queue.lifecycle import Place
from paddock.queue.order import cancelling
from paddock.queue.protocol import Queue
from paddock.record.layout import Home, find_home
from paddock.work.processes.process import kill_marked


def bury(home: Home, queue: Queue, place: Place) -> None:
    """The task usually died with its worker; not when its guard was killed as well."""
    kill_marked(f"{place.id}~{place.token}")
    ranks = Gathering(queue, place.id).list() if isinstance(queue, DirectoryQueue) else None
    for seat, rank in ranks.ranks.items() if ranks else ():
        kill_marked(process_key(place.id, rank, seat))
    cancelling.record(home, place)


def main() -> None:
    """python -m paddock.work.processes.burial QUEUE NAME: for who must not import this package."""
    path, place = Path(sys.argv[1]), lifecycle.place(lifecycle.CANCELLED, sys.argv[2])
    beside = Home(path.parent.parent)
    home = beside if beside.queues == path.parent else find_home(settings.load().home)
    if place is not None:
        bury(home, find_queue(sys.argv[1], home), place)


if __name__ == "__main__":
    main()
