"""Tasks of several ranks, which run together or not at all: what their directory says. Pure: names in, decisions out.

    gangs/<task id>/
      offer~<seat>           a slot that a worker keeps free for the task, until enough of them are there
      rank-2~<seat>          taken by the leader: that slot is the place of rank 2
      go~<token>             all places are taken: who is which rank. No rank starts before this is there
      rendezvous~<token>     the ranks' own file, to find each other by
      done-2~<seat>          rank 2 ended well
      failed-2~<seat>        rank 2 ended otherwise, and so must all others
      stop~<token>           the leader says that it is over

A seat is one slot of one worker, named by the worker and a number that it never uses again. So no two files are ever
meant by one name, and whoever acts on an old listing harms nobody. An offer is taken by a rename and withdrawn by a
removal: of the two only one succeeds. The leader is whoever wins the claim of the task's own file, as with any task;
its token in that file's name is what all ranks run for.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from paddock.queue.lease import Identity
from paddock.queue.lifecycle import Place, Token
from paddock.queue.task import Task

GANGS = "gangs"
_NAME = re.compile(
    r"(?P<kind>offer|go|stop|rendezvous|(?P<ranked>rank|done|failed)-(?P<rank>\d{1,6}))"
    r"~(?P<worker>[A-Za-z0-9-]+)\.(?P<number>\d+)"
)


class Seat(NamedTuple):
    """One slot of one worker."""

    worker: str
    number: int

    def __str__(self) -> str:
        return f"{self.worker}.{self.number}"


def offer_name(seat: Seat) -> str:
    return f"offer~{seat}"


def rank_name(rank: int, seat: Seat) -> str:
    return f"rank-{rank}~{seat}"


def result_name(rank: int, seat: Seat, well: bool) -> str:
    return f"{'done' if well else 'failed'}-{rank}~{seat}"


def go_name(token: Token) -> str:
    return f"go~{token}"


def stop_name(token: Token) -> str:
    return f"stop~{token}"


def rendezvous_name(token: Token) -> str:
    return f"rendezvous~{token}"


def process_key(task_id: str, rank: int, seat: Seat) -> str:
    """By which the processes of a rank are found: no task's own key looks like it."""
    return f"{task_id}~{rank_name(rank, seat)}"


class Gang(NamedTuple):
    """What a listing of the directory says."""

    offers: frozenset[Seat] = frozenset()
    ranks: Mapping[Seat, int] = {}
    results: Mapping[Seat, tuple[int, bool]] = {}  # rank, and whether it ended well
    go: frozenset[Token] = frozenset()
    stop: frozenset[Token] = frozenset()

    @property
    def unsettled(self) -> list[Seat]:
        """Seats of an attempt whose process may still be there."""
        return [seat for seat in self.ranks if seat not in self.results]


def read_names(names: Iterable[str]) -> Gang:
    offers, ranks, results = set(), {}, {}
    tokens: dict[str, set[Token]] = {"go": set(), "stop": set(), "rendezvous": set()}
    for name in names:
        match = _NAME.fullmatch(name)
        if match is None:
            continue  # written just now, or somebody's note
        kind, seat = match["ranked"] or match["kind"], Seat(match["worker"], int(match["number"]))
        if kind in tokens:
            tokens[kind].add(Token(*seat))
        elif kind == "offer":
            offers.add(seat)
        elif kind == "rank":
            ranks[seat] = int(match["rank"])
        else:
            results[seat] = (int(match["rank"]), kind == "done")
    return Gang(frozenset(offers), ranks, results, frozenset(tokens["go"]), frozenset(tokens["stop"]))


# Gathering


def capacity(task: Task, workers: Iterable[Identity]) -> int:
    """How many ranks could run if nothing else did. A task that needs more than all workers have gathers nothing: it
    would keep slots empty for nobody."""
    return sum(_room(task, worker) for worker in workers)


def _room(task: Task, worker: Identity) -> int:
    """What a worker has of each thing that a rank needs; of cores and memory it may not be known."""
    devices = len([device for device in worker.gpus.split(",") if device])
    limits = [devices // task.gpus] if task.gpus else []
    limits += [worker.cpus // task.cpus] if task.cpus and worker.cpus else []
    limits += [worker.mem // task.mem] if task.mem and worker.mem else []
    return min([worker.slots, *limits])


def lacking(gang: Gang, needed: int) -> int:
    return max(needed - len(gang.offers), 0)


def choose(offers: Iterable[Seat], needed: int, leader: str) -> tuple[Seat, ...] | None:
    """The seats in the order of their ranks, or None when it is not yet time. Rank 0 is the leader's, and ranks of one
    worker follow each other; workers with many free slots come first, so that few take part."""
    by_worker: dict[str, list[Seat]] = {}
    for seat in sorted(offers):
        by_worker.setdefault(seat.worker, []).append(seat)
    if leader not in by_worker or sum(map(len, by_worker.values())) < needed:
        return None
    workers = sorted(by_worker, key=lambda worker: (worker != leader, -len(by_worker[worker]), worker))
    return tuple([seat for worker in workers for seat in by_worker[worker]][:needed])


class Wait(NamedTuple):
    """How long a worker keeps slots empty for a gang before smaller tasks that stand behind it may have them, one for
    each slot. Then the gang has its turn again, and twice as long: so neither waits for ever."""

    seconds: float
    since: float

    def is_over(self, offered_at: float, now: float) -> bool:
        return now - offered_at > self.seconds

    def overtaken(self, now: float) -> Wait:
        """Slots that are given away together count once."""
        return Wait(self.seconds * 2, now) if now - self.since > self.seconds else self


def may_take(ahead: tuple[int, Place], gang: tuple[int, Place], wait_over: bool) -> bool:
    """Whether a task may have a slot that is kept for a gang; each is (which of the worker's queues, its place)."""
    return wait_over or position(*ahead) < position(*gang)


def position(queue: int, place: Place) -> tuple[int, int, str]:
    return queue, -place.priority, place.id


# The start


class Go(msgspec.Struct, frozen=True):
    """What all ranks must know, written once by the leader."""

    token: str
    attempt: int
    seats: tuple[str, ...]  # in the order of the ranks
    hosts: tuple[str, ...]
    rendezvous: str
    address: str  # of rank 0's host
    port: int

    @property
    def places(self) -> list[Seat]:
        found = (seat.rpartition(".") for seat in self.seats)
        return [Seat(worker, int(number)) for worker, _, number in found]

    def beside(self, seat: Seat) -> list[int]:
        """The ranks that the same worker runs."""
        return [rank for rank, other in enumerate(self.places) if other.worker == seat.worker]


def environment(go: Go, seat: Seat) -> dict[str, str]:
    """What torch.distributed, and all who know its names, want to know. A node is a worker: its ranks see its GPUs."""
    rank, beside = go.places.index(seat), go.beside(seat)
    nodes = list(dict.fromkeys(other.worker for other in go.places))
    world, rendezvous = str(len(go.seats)), go.rendezvous
    return {
        "RANK": str(rank),
        "WORLD_SIZE": world,
        "LOCAL_RANK": str(beside.index(rank)),
        "LOCAL_WORLD_SIZE": str(len(beside)),
        "NODE_RANK": str(nodes.index(seat.worker)),
        "MASTER_ADDR": go.address,
        "MASTER_PORT": str(go.port),
        "PADDOCK_RANK": str(rank),
        "PADDOCK_WORLD_SIZE": world,
        "PADDOCK_RENDEZVOUS": rendezvous,
    }


class Step(enum.Enum):
    """What a worker does with a seat that does not run yet."""

    KEEP = "keep"
    WITHDRAW = "withdraw"  # unless it is taken at this moment
    START = "start"
    LEAVE = "leave"  # it is for nothing; not at first sight


def awaiting(seat: Seat, gang: Gang, owner: Token | None, go: Go | None, wanted: bool) -> Step:
    """`owner` holds the task, `go` is what it wrote; `wanted` says that the task still waits, and we for it."""
    if seat in gang.ranks:
        if go is not None and seat in go.places:
            return Step.START
        return Step.LEAVE if owner is None or go is not None else Step.KEEP
    if seat in gang.offers:
        # Whoever has claimed the task is just taking seats: it would have to begin anew without ours.
        return Step.WITHDRAW if go is not None or (owner is None and not wanted) else Step.KEEP
    return Step.LEAVE


# The end


class Result(msgspec.Struct, frozen=True):
    """How one rank ended."""

    rank: int
    worker: str
    host: str = ""
    status: int | None = None  # as from waitpid
    how: str = "itself"  # itself, timed out, fenced, requeued, ended with the others, not run, lost
    exit: str = ""
    seconds: float = 0.0
    peak_memory: int = 0
    processor_seconds: float = 0.0

    @property
    def well(self) -> bool:
        return self.status == 0 and self.how == "itself"


# What explains most comes first: a rank whose worker went makes others fail, which is not the task's fault.
_EXPLAINS = ("lost", "requeued", "fenced", "not run", "timed out", "itself")
_OUTCOMES = {"lost": "lost", "requeued": "requeued", "fenced": "fenced", "timed out": "timed out"}


def verdict(results: Sequence[Result]) -> tuple[str, Result]:
    """(what became of the attempt, the rank that decided it); `results` come in the order in which they were seen."""
    bad = [result for result in results if not result.well]
    if not bad:
        return "done", min(results, key=lambda result: result.rank)
    deciding = min(bad, key=lambda result: _EXPLAINS.index(result.how) if result.how in _EXPLAINS else len(_EXPLAINS))
    return _OUTCOMES.get(deciding.how, "failed"), deciding


def must_end(gang: Gang, go: Go, token: Token) -> bool:
    """Whether a rank has to end because another one did, or because the leader says so."""
    return token in gang.stop or any(str(seat) in go.seats and not well for seat, (_, well) in gang.results.items())


def missing(gang: Gang, go: Go, is_dead: Callable[[str], bool]) -> tuple[list[Seat], list[Seat]]:
    """The seats without a result: (those to wait for, those that will never have one)."""
    waiting: list[Seat] = []
    lost: list[Seat] = []
    for rank, seat in enumerate(go.places):
        if gang.results.get(seat, (-1,))[0] != rank:
            (lost if is_dead(seat.worker) else waiting).append(seat)
    return waiting, lost
