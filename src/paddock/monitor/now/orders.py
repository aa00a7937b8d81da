"""What a person orders at the console or the board: cancel a run, answer its question."""

from __future__ import annotations

import contextlib
import functools
import os
import signal

from paddock.catalog.catalog import Catalog
from paddock.errors import NotFound, Refused
from paddock.model import RUNNING
from paddock.queue.finding import known_queues
from paddock.queue.order import cancelling, orders
from paddock.queue.protocol import AWAY
from paddock.queue.show.view import IN_ORDER
from paddock.record import stop
from paddock.record.answer import answer as write_answer
from paddock.record.layout import Home
from paddock.record.process import boot_id, exists, start_ticks
from paddock.record.scan import header, journal_files
from paddock.work.processes.burial import bury


def cancel(home: Home, catalog: Catalog, run_id: str) -> str:
    """A task is taken out of its queue, and ended when it runs. A run that nobody queued is asked to stop, and by a
    signal where its processes are ours and on this host."""
    for queue in known_queues(home):
        try:
            place = next((place for place in queue.list(IN_ORDER).places if place.id == run_id), None)
        except AWAY:
            continue
        if place is not None and place.state in orders.FROM[orders.CANCEL]:
            queue.prepare()
            step = orders.carry_out(queue, orders.CANCEL, place)
            orders.make_durable(queue, [step])
            owned = [step.after] if step.after is not None else []
            left = cancelling.wait_until_over(queue, owned, 0.0, functools.partial(bury, home, queue))
            return f"{run_id} is being ended by its worker." if left else f"{run_id} was cancelled."
    row = catalog.run(run_id)
    if row.state != RUNNING:
        raise Refused(f"{run_id} is {row.state}.", hint="There is nothing to cancel.")
    directory = home.run(run_id)
    stop.ask(directory, row.attempts, "cancelled at the console")
    told = sum(_terminate(header(file.path, file.packed), row.attempts) for file in journal_files(directory.journals))
    if told:
        return f"{run_id} was asked to end (SIGTERM)."
    return f"{run_id} was asked to stop: it will when it calls paddock.should_stop()."


def _terminate(who: dict[str, object], attempt: int) -> bool:
    """Only that very process: by pid, start time and boot."""
    pid, start = who.get("pid"), who.get("start")
    if who.get("role") != "main" or who.get("attempt") != attempt or who.get("host") != os.uname().nodename:
        return False
    if type(pid) is not int or not isinstance(start, str) or not start or who.get("boot") != boot_id():
        return False
    if not exists(pid, start) or start_ticks(pid) != start or pid == os.getpid():
        return False
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGTERM)
        return True
    return False


def answer(home: Home, catalog: Catalog, run_id: str, ask: str, text: str) -> str:
    asked = next((one for one in catalog.questions(run_id) if one.id == ask), None)
    if asked is None:
        raise NotFound("Nobody waits for an answer to this any more.")
    write_answer(home.run(run_id), asked, text)
    return f"{run_id} was answered."
