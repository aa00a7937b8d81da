"""The lifecycle against everything at once, in memory: workers claim, finish, die, are fenced and take over, while
people move and remove files, and listings are old, partial or broken. Never two live copies, nothing lost or stuck."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paddock.queue.lifecycle import (
    ACTIVE,
    DONE,
    FAILED,
    OWNED,
    PAUSED,
    POISON,
    QUEUED,
    STATES,
    Order,
    Place,
    Token,
    after_loss,
    claimed,
    destination,
    ended,
    is_free,
    judge,
    order,
    place,
)

RETRIES = 1
NAMES = ("w0", "w1")
MOST = 2  # tasks: with few of them everything happens to the same ones


@dataclass
class Copy:
    """A task as a worker has it in hand."""

    token: Token
    history: list[str]  # outcomes of earlier attempts, as it read them
    stopped: bool = False
    misses: int = 0
    result: str = ""  # how it ended, when the file is still to be moved


@dataclass
class Modelled:
    """A worker. Its processes are in the machine's `alive`: they may outlive it."""

    name: str
    lives: bool = True
    silent: bool = False  # cut off from the disk for longer than its lease
    hands: dict[str, Copy] = field(default_factory=dict)


class QueueInMemory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, list[str]] = {}  # state/name -> outcomes noted in it
        self.alive: set[tuple[str, Token]] = set()  # processes
        self.workers = [Modelled(name) for name in NAMES]
        self.born = len(NAMES)
        self.submitted = 0
        self.removed: set[str] = set()
        self.before: list[Place] = []  # an older listing

    # The disk

    def listing(self) -> list[Place]:
        """Names are all that is known, as on a disk."""
        found = [place(*path.split("/")) for path in self.files]
        assert None not in found
        return [one for one in found if one is not None]

    def move(self, at: Place, to: Place) -> bool:
        if at.path not in self.files:
            return False
        self.before = self.listing()
        self.files[to.path] = self.files.pop(at.path)
        return True

    def seen(self, how: str, hidden: int) -> tuple[list[Place], bool]:
        """A listing as somebody gets it: fresh, old, without a file that is just being moved, or broken."""
        now = self.listing()
        if how == "old":
            return self.before, True
        if how == "partial" and now:
            del now[hidden % len(now)]
        return now, how != "broken"

    # What everybody does

    @initialize(priorities=st.lists(st.integers(-1, 2), min_size=1, max_size=MOST))
    def submit(self, priorities: list[int]) -> None:
        for priority in priorities:
            self.files[Place(QUEUED, f"t{self.submitted}", priority).path] = []
            self.submitted += 1

    # What workers do

    @precondition(lambda self: any(p.state == QUEUED for p in self.listing()))
    @rule(n=st.integers(0, 1), how=st.sampled_from(["fresh", "fresh", "old"]))
    def claim(self, n: int, how: str) -> None:
        worker = self.workers[n]
        free = order(p for p in self.seen(how, 0)[0] if is_free(p))
        if not worker.lives or worker.silent or not free or free[0].path not in self.files:
            return
        history = list(self.files[free[0].path])
        token = Token(worker.name, len(history) + 1)
        assert self.move(free[0], claimed(free[0], token))
        worker.hands[free[0].id] = Copy(token, history)
        self.alive.add((free[0].id, token))

    @precondition(lambda self: self.alive)
    @rule(n=st.integers(0, 9), result=st.sampled_from(["done", "failed"]))
    def process_ends(self, n: int, result: str) -> None:
        task, token = sorted(self.alive)[n % len(self.alive)]
        worker = next((w for w in self.workers if w.name == token.worker), None)
        if worker is not None and worker.lives and worker.hands.get(task) and not worker.hands[task].stopped:
            self.alive.discard((task, token))
            worker.hands[task].result = result

    @precondition(lambda self: any(worker.hands for worker in self.workers))
    @rule(
        n=st.integers(0, 1),
        how=st.sampled_from(["fresh", "fresh", "old", "partial", "broken"]),
        hidden=st.integers(0, 9),
    )
    def look(self, n: int, how: str, hidden: int) -> None:
        worker = self.workers[n]
        if not worker.lives or worker.silent:
            return
        places, sure = self.seen(how, hidden)
        for task, copy in list(worker.hands.items()):
            if copy.result:
                continue
            found = [p for p in places if p.id == task]
            verdict = judge(copy.token, found, stopped=copy.stopped, sure=sure, misses=copy.misses)
            copy.misses = 0 if any(p.token == copy.token for p in found) else copy.misses + sure
            if verdict in (Order.STOP, Order.CONTINUE):
                copy.stopped = verdict is Order.STOP
            elif verdict is not Order.KEEP:
                self.alive.discard((task, copy.token))
                copy.result = "killed"
                if verdict is Order.DROP:
                    del worker.hands[task]

    @precondition(lambda self: any(worker.hands for worker in self.workers))
    @rule(n=st.integers(0, 1), how=st.sampled_from(["fresh", "partial", "broken"]), hidden=st.integers(0, 9))
    def settle(self, n: int, how: str, hidden: int) -> None:
        worker = self.workers[n]
        if not worker.lives or worker.silent:
            return
        places, sure = self.seen(how, hidden)
        for task, copy in list(worker.hands.items()):
            at = next((p for p in places if p.id == task and p.token == copy.token), None)
            if copy.result and at is not None:
                self.files[at.path].append(copy.result)
                failures = copy.history.count("failed")
                self.move(at, ended(at, destination(at.state, copy.result, failures, RETRIES)))
                del worker.hands[task]
            elif copy.result and sure:
                copy.misses += 1
                if copy.misses > 2:  # filed, not accepted
                    del worker.hands[task]

    @rule(n=st.integers(0, 1), how=st.sampled_from(["fresh", "old"]))
    def take_over(self, n: int, how: str) -> None:
        heir = self.workers[n]
        if not heir.lives or heir.silent:
            return
        living = {w.name for w in self.workers if w.lives and not w.silent}
        for at in self.seen(how, 0)[0]:
            if at.token is None and at.state in OWNED:
                self.move(at, ended(at, QUEUED))
            if at.token is None or at.token.worker in living - {heir.name}:
                continue
            if at.token.worker == heir.name and at.id in heir.hands:
                continue
            mine = at._replace(token=Token(heir.name, at.token.epoch))
            if self.move(at, mine):
                self.alive.discard((at.id, at.token))
                self.give_back(mine, at.token)
        self.bury()

    def bury(self) -> None:
        """Whoever removes the file of a dead worker that owns nothing ends what is left of its tasks."""
        living = {worker.name for worker in self.workers}
        owners = {p.token.worker for p in self.listing() if p.token is not None}
        self.alive = {one for one in self.alive if one[1].worker in living | owners}

    def give_back(self, mine: Place, lost: Token) -> None:
        noted = self.files[mine.path]
        if len(noted) == lost.epoch and noted[-1] != "lost":  # it had said how it ended
            to = destination(mine.state, noted[-1], noted[:-1].count("failed"), RETRIES)
        else:
            noted.append("lost")
            losses = next((n for n, outcome in enumerate(reversed(noted)) if outcome != "lost"), len(noted))
            to = after_loss(mine.state, losses)
        self.move(mine, ended(mine, to))

    # What happens to workers

    @precondition(lambda self: any(worker.hands for worker in self.workers))
    @rule(n=st.integers(0, 1), guarded=st.booleans())
    def dies(self, n: int, guarded: bool) -> None:
        """With its guard its processes go at once; when both are killed they stay, until an heir ends them."""
        worker = self.workers[n]
        if guarded:
            self.end_processes(worker.name)
        self.born += 1
        self.workers[n] = Modelled(f"w{self.born}")

    @precondition(lambda self: any(worker.hands for worker in self.workers))
    @rule(n=st.integers(0, 1))
    def falls_silent(self, n: int) -> None:
        """Stopped, or without its disk, until after the fence: the guard has ended its tasks."""
        self.workers[n].silent = True
        self.end_processes(self.workers[n].name)

    @precondition(lambda self: any(worker.silent for worker in self.workers))
    @rule(n=st.integers(0, 1))
    def wakes_up(self, n: int) -> None:
        if self.workers[n].silent:
            self.workers[n].silent = False
            for copy in self.workers[n].hands.values():
                copy.result = copy.result or "fenced"

    def end_processes(self, worker: str) -> None:
        self.alive = {(task, token) for task, token in self.alive if token.worker != worker}

    # What people do

    @precondition(lambda self: self.files)
    @rule(n=st.integers(0, 9), state=st.sampled_from(STATES))
    def mv(self, n: int, state: str) -> None:
        at = sorted(self.listing(), key=lambda p: p.path)[n % len(self.files)]
        self.move(at, at._replace(state=state))

    @precondition(lambda self: any(p.token for p in self.listing()))
    @rule(n=st.integers(0, 9), state=st.sampled_from(STATES))
    def mv_what_runs(self, n: int, state: str) -> None:
        owned = sorted((p for p in self.listing() if p.token), key=lambda p: p.path)
        at = owned[n % len(owned)]
        self.move(at, at._replace(state=state))

    @precondition(lambda self: self.files and len(self.removed) < MOST - 1)
    @rule(n=st.integers(0, 9))
    def rm(self, n: int) -> None:
        self.before = self.listing()
        path = sorted(self.files)[n % len(self.files)]
        del self.files[path]
        self.removed.add(place(*path.split("/")).id)  # type: ignore[union-attr]

    # What must hold, always and in the end

    @invariant()
    def never_two_live_copies(self) -> None:
        copies = Counter(task for task, _ in self.alive)
        assert max(copies.values(), default=0) <= 1

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        files = Counter(p.id for p in self.listing())
        for n in range(self.submitted):
            assert files[f"t{n}"] == (f"t{n}" not in self.removed)

    def teardown(self) -> None:
        """When the disk is whole again and people leave it alone, everything comes to rest."""
        for n in range(len(self.workers)):
            self.wakes_up(n)
        for _ in range(POISON + RETRIES + 3):
            for n in range(len(self.workers)):
                self.take_over(n, "fresh")
                self.look(n, "fresh", 0)
                self.claim(n, "fresh")
            for worker in self.workers:
                for task, copy in worker.hands.items():
                    here = any(p.id == task and p.token == copy.token and p.state == ACTIVE for p in self.listing())
                    if here and not copy.result and not copy.stopped:
                        self.alive.discard((task, copy.token))
                        copy.result = "done"
            for n in range(len(self.workers)):
                self.settle(n, "fresh", 0)
            self.never_two_live_copies()
            self.nothing_is_lost_or_doubled()
        for at in self.listing():
            held = at.state == PAUSED or (at.state in (DONE, FAILED) and at.token is None)
            assert held, f"{at.path} is stuck"
        owned = {(p.id, p.token) for p in self.listing() if p.token is not None}
        assert self.alive <= owned, "a process outlives its task"


QueueInMemory.TestCase.settings = settings(
    max_examples=400, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
TestQueueInMemory = QueueInMemory.TestCase


@pytest.mark.long
def test_the_same_with_more_steps() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    more = settings(max_examples=3000, stateful_step_count=80, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(QueueInMemory, settings=more)  # type: ignore[no-untyped-call]
