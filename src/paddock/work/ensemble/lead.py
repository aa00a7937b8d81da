"""Leading a task of several ranks: claim it when enough seats are offered, wait for all its ranks, settle it as one."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from paddock.errors import PaddockError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import Go, Result, Seat
from paddock.queue.ensemble.gathering import Gathering
from paddock.queue.lease import Watch, read_identity
from paddock.queue.lifecycle import QUEUED, Place, Token, ended
from paddock.work.attempts import attempt as attempts
from paddock.work.attempts.attempt import Running
from paddock.work.attempts.settle import End
from paddock.work.ensemble.ranks import Workplace, output_path
from paddock.work.processes import process
from paddock.work.queues.desk import Desk
from paddock.work.queues.waiting import Candidate

DEAD_EVERY = 2.0  # seconds between looks at the workers of the other ranks


@dataclass
class Led:
    """An attempt that this worker leads. Its file is watched like that of any task; its ranks are seats like others."""

    running: Running
    token: Token
    go: Go
    at: Gathering
    watch: Watch
    results: dict[Seat, Result] = field(default_factory=dict)
    stopped: bool = False
    looked: float = 0.0


def lead(work: Workplace, desk: Desk, found: Candidate) -> tuple[bool, Led | None]:
    """Begin an attempt if enough living workers offer a seat, and nothing of an earlier attempt is left; whether the
    task was ours for a moment, and what we lead."""
    queue, watch = desk.queue, desk.reclaim.watch
    at, needed = Gathering(queue, found.place.id), found.file.task.workers
    if _choice(work, at, watch, needed) is None:
        return False, None
    token = Token(work.worker, len(found.file.attempts) + 1)
    try:
        mine = queue.claim(found.place, token)
    except OSError as error:
        work.say(f"{found.place.id} cannot be begun now ({error.strerror})")
        return True, None
    if mine is None:
        desk.mirror.forget(found.place.state, found.place.name)
        return False, None
    desk.mirror.moved(found.place, mine)
    taken: list[Seat] = []
    try:
        file = queue.read(mine)  # it may have been edited between the look and the claim
        rival = desk.has_rival(mine)
        # Again: seats of an attempt that came and went since then are seen only now that the task is ours.
        seats = _choice(work, at, watch, needed) if file.task.workers == needed and not rival else None
        for rank, seat in enumerate(seats or ()):
            if not at.take(seat, rank):
                break
            taken.append(seat)
        if seats is not None and len(taken) == needed:
            running, output = attempts.begin(work.home, mine, file, work.worker, (), work.cache)
            os.close(output)
            go = _go(queue, at, token, running.number, seats)
            at.say_go(token, go)
            work.say(f"leads {needed} ranks of {found.file.task.label}")
            return True, Led(running, token, go, at, watch)
    except (PaddockError, OSError) as error:
        work.say(f"{found.place.id} cannot be begun now ({error})")
    _give_back(desk, mine, at, taken)
    return True, None


def _choice(work: Workplace, at: Gathering, watch: Watch, needed: int) -> tuple[Seat, ...] | None:
    found = at.list()
    if found is None or found.unsettled or len(found.offers) < needed:
        return None
    dead = {worker for worker in {seat.worker for seat in found.offers} - {work.worker} if watch.is_dead(worker)}
    return gang.choose((seat for seat in found.offers if seat.worker not in dead), needed, work.worker)


def _give_back(desk: Desk, mine: Place, at: Gathering, taken: Iterable[Seat]) -> None:
    for rank, seat in enumerate(taken):
        at.put_back(seat, rank)
    with contextlib.suppress(OSError):  # then the look at what was left behind does it
        if desk.queue.move(mine, ended(mine, QUEUED)):
            desk.mirror.moved(mine, ended(mine, QUEUED))


def _go(queue: DirectoryQueue, at: Gathering, token: Token, attempt: int, seats: tuple[Seat, ...]) -> Go:
    found = {worker: read_identity(queue.workers / worker) for worker in {seat.worker for seat in seats}}
    machines = {(known.host, known.machine) if known else ("", worker) for worker, known in found.items()}
    hosts = tuple(known.host if (known := found[seat.worker]) else "" for seat in seats)
    address = "127.0.0.1" if len(machines) == 1 else socket.gethostname()
    rendezvous = str(at.path / gang.rendezvous_name(token))
    return Go(str(token), attempt, tuple(map(str, seats)), hosts, rendezvous, address, _free_port())


def _free_port() -> int:
    """One that nobody has now. It may be taken before rank 0 asks for it; the rendezvous file has no such trouble."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def follow(led: Led, say: Callable[[str], None]) -> End | None:
    """Gather the ranks' results; how the attempt ended, once nothing of it is left anywhere."""
    found = led.at.list()
    if found is None:
        return None
    for seat, (rank, well) in sorted(found.results.items(), key=lambda item: item[1]):
        if seat not in led.results and str(seat) in led.go.seats:
            unread = Result(
                rank, seat.worker, status=0 if well else None, exit="" if well else "its result is unreadable"
            )
            led.results[seat] = led.at.result(seat, rank, well) or unread
    now = time.monotonic()
    if now - led.looked >= DEAD_EVERY:
        led.looked = now
        for seat in gang.missing(found, led.go, led.watch.is_dead)[1]:
            rank = led.go.places.index(seat)
            process.kill_marked(gang.process_key(led.running.place.id, rank, seat))
            led.results.setdefault(seat, Result(rank, seat.worker, how="lost", exit="its worker died"))
    bad = [result for result in led.results.values() if not result.well]
    if (bad or led.running.order) and not led.stopped:
        _stop(led, led.running.order or f"rank {bad[0].rank}: {bad[0].exit}", say)
    return _end(led) if len(led.results) == len(led.go.seats) else None


def _stop(led: Led, why: str, say: Callable[[str], None]) -> None:
    with contextlib.suppress(OSError):
        led.at.say_stop(led.token, why)
        led.stopped = True
        say(f"ends all ranks of {led.running.place.id} ({why})")


def _end(led: Led) -> End:
    results, running = list(led.results.values()), led.running
    outcome, deciding = gang.verdict(results)
    text = deciding.exit if outcome == "done" else f"rank {deciding.rank}: {deciding.exit}"
    if running.order and not (running.order == "requeued" and outcome == "done"):
        outcome = running.order
    running.output = str(output_path(running.run.output, led.go, deciding.rank))  # what it says last explains most
    workers = ", ".join(dict.fromkeys(seat.worker for seat in led.go.places))
    longest, most = max(r.seconds for r in results), max(r.peak_memory for r in results)
    return End(outcome, text, deciding.status, longest, most, sum(r.processor_seconds for r in results), workers)
