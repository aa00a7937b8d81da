"""Carries runs from a home to a server: looks what there is, asks what the server has, sends what is missing.

It holds nothing but names and numbers: what waits is on the disk anyway, and what is known are the server's answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from paddock.errors import Unreachable
from paddock.record.homeid import known_id
from paddock.record.layout import Home
from paddock.record.scan import journal_files
from paddock.track.ship import luggage, names, parcel, receipt
from paddock.track.ship.cargo import Cargo
from paddock.track.ship.load import Load
from paddock.track.ship.step import Step

if TYPE_CHECKING:
    from paddock.track.ship.connection import Connection

PARCEL_BYTES = parcel.BODY_BYTES // 4
_ASKED_AT_ONCE = 512  # files
_WHOLES = 64  # files that travel whole in one parcel: each takes the server a while, and journals wait behind them
_LEAST = 16 << 10  # bytes of each file that has some, so that a long one does not keep the others waiting

Chosen = tuple[Cargo, parcel.Part, bytes]


class Carrier:
    def __init__(
        self, home: Home, connection: Connection, say: Callable[[str, str], None], *, quiet: float | None = None
    ) -> None:
        """`say` is told, by a key, what a person should know. `quiet`: tell the server, which cannot see it, of
        processes that have ended, when their journals rest for so many seconds; 0 means that they surely have."""
        self._home, self._connection, self._say, self._quiet = home, connection, say, quiet
        self._loads: dict[str, Load] = {}
        self._code: dict[str, Cargo] = {}  # by digest
        self._made_of: dict[str, list[str]] = {}  # a manifest's digest -> its objects'
        self._known_code: set[str] = set()  # digests that were looked for
        self._room = PARCEL_BYTES
        self.look_seconds = 0.0  # of a processor, that the last look took
        self.same_home = False  # the server looks at this very home: there is nothing to send

    def add(self, run_id: str) -> Load:
        return self._loads.setdefault(run_id, Load(self._home, run_id))

    def carry_code(self, digest: str) -> None:
        """A snapshot by itself, before any run refers to it."""
        self._want(digest)

    def has_arrived(self, digest: str) -> bool:
        return self._is_there(digest)

    def drop(self, run_id: str) -> None:
        self._loads.pop(run_id, None)

    @property
    def refused(self) -> dict[str, str]:
        """The runs that the server will not have, and why."""
        return {run_id: load.refused for run_id, load in self._loads.items() if load.refused}

    @property
    def left(self) -> int:
        return sum(load.left for load in self._loads.values()) + sum(cargo.left for cargo in self._code.values())

    def step(self, *, final: bool = False, look: bool = True) -> Step:
        """One round with at most one parcel. `final`: unfinished lines and files that changed just now go, too.
        Without `look` nothing that came meanwhile does."""
        spent = time.thread_time()
        for load in self._loads.values() if look else ():
            load.look(final)
            for digest in load.code:
                self._want(digest)
        self.look_seconds = time.thread_time() - spent
        trouble = self._ask()
        if self.same_home or trouble:
            return Step(0, 0 if self.same_home else self.left, trouble=trouble)
        chosen = self._choose(final)
        if not chosen:
            return Step(0, self.left, busy=any(not cargo.asked and not cargo.refused for cargo in self._cargo()))
        last = final and self.left <= sum(part.size for _, part, _ in chosen)
        header = parcel.Header(parcel.VERSION, [part for _, part, _ in chosen], sync=last)
        try:
            reply = self._connection.send(header, [data for _, _, data in chosen])
        except Unreachable:
            self._room = max(_LEAST, self._room // 2)  # a bad line may let a small one through
            raise
        self._room = min(PARCEL_BYTES, self._room * 2)
        for (cargo, _, _), answer in zip(chosen, reply.files, strict=True):
            trouble = cargo.taken(answer) or trouble
            self._remark(cargo)
        self._take_back(reply.stamp)
        return Step(sum(part.size for _, part, _ in chosen), self.left, reply.wait, trouble, True)

    def _take_back(self, stamp: int) -> None:
        """What people say at the server is for who waits here."""
        if not stamp or len(self._loads) != 1:
            return
        (load,) = self._loads.values()
        if stamp != load.stamp:
            directory = self._home.run(load.id)
            known = [file.writer for file in journal_files(directory.journals)]
            receipt.put(directory, self._connection.back(load.id, known))
            load.stamp = stamp

    def _cargo(self) -> Iterator[Cargo]:
        """In the order in which it should go: what is looked at first, what takes long last."""
        loads = [load for load in self._loads.values() if not load.refused]
        yield from (load.facts for load in loads if load.facts is not None)
        begun = [load for load in loads if load.begun]
        yield from (cargo for load in begun for cargo in load.streams.values())
        yield from self._code.values()
        yield from (cargo for load in begun for cargo in load.wholes.values())

    def _ask(self) -> str:
        """What the server has of everything that we know nothing of yet; why it could not say, if so."""
        trouble = ""
        unknown = [cargo for cargo in self._cargo() if not cargo.asked and not cargo.refused]
        ready = [cargo for cargo in unknown if not self._digest_due(cargo) or cargo.hashed()]
        for start in range(0, len(ready), _ASKED_AT_ONCE):
            batch = ready[start : start + _ASKED_AT_ONCE]
            reply = self._connection.ask([cargo.ask() for cargo in batch])
            self.same_home = reply.home == known_id(self._home)
            if self.same_home:
                return ""
            for cargo, answer in zip(batch, reply.files, strict=True):
                trouble = cargo.answered(answer) or trouble
                self._remark(cargo)
                if cargo.kind == names.OBJECT and not cargo.done:
                    self._unpack(cargo)
        return trouble

    @staticmethod
    def _digest_due(cargo: Cargo) -> bool:
        """The server has something else under this name: then it wants to know the content's digest."""
        return cargo.kind == names.WHOLE and cargo.wants_digest

    def _choose(self, final: bool) -> list[Chosen]:
        waiting = [cargo for cargo in self._cargo() if cargo.asked and self._pending(cargo) and self._may_go(cargo)]
        chosen: list[Chosen] = []
        room, share, wholes = self._room, max(_LEAST, self._room // max(1, len(waiting))), 0
        for cargo in waiting:
            stream = cargo.kind == names.STREAM
            if room <= 0 or len(chosen) >= parcel.PARTS or wholes >= _WHOLES:
                break
            one = self._next(cargo, min(room, share if stream else max(_LEAST, self._room // 2)), final)
            if one is not None:
                chosen.append(one)
                room -= one[1].size
                wholes += not stream
        return chosen

    def _next(self, cargo: Cargo, most: int, final: bool) -> Chosen | None:
        journal = "/output/" not in cargo.found.path
        gone = self._has_ended(cargo)
        try:
            found = cargo.part(most, whole_lines=journal and not final, gone=gone)
        except (OSError, EOFError):  # removed meanwhile, or not ours to read
            self._say(f"unreadable {cargo.found.path}", f"{cargo.found.source} cannot be read, and is not sent")
            cargo.refused = "it cannot be read"
            return None
        if found is None:
            return None
        part, data = found
        cargo.gone = gone
        digests = luggage.of_lines(data) if cargo.kind == names.STREAM and journal else ()
        if any(not self._is_there(digest) for digest in digests):
            return None  # the code goes first: who reads the record finds it
        return cargo, part, data

    def _pending(self, cargo: Cargo) -> bool:
        return cargo.pending or (self._quiet == 0 and not cargo.refused and not cargo.gone and self._has_ended(cargo))

    def _has_ended(self, cargo: Cargo) -> bool:
        """Whether it is the journal of a process that is known to be gone."""
        if self._quiet is None or cargo.kind != names.STREAM or "/journal/" not in cargo.found.path:
            return False
        return self._loads[cargo.run].gone(cargo, self._quiet)

    def _may_go(self, cargo: Cargo) -> bool:
        """A manifest goes when its objects are there: so one that is there is whole."""
        made_of = self._made_of.get(cargo.digest, ()) if cargo.kind == names.OBJECT else ()
        return all(self._code[digest].done or self._code[digest].refused for digest in made_of)

    def _want(self, digest: str) -> None:
        if digest in self._known_code:
            return
        self._known_code.add(digest)
        found = luggage.object_of(self._home, digest)
        if found is not None:
            self._code[digest] = Cargo(names.OBJECT, "", found, digest=digest)

    def _is_there(self, digest: str) -> bool:
        self._want(digest)
        cargo = self._code.get(digest)
        return cargo is None or cargo.done or bool(cargo.refused)

    def _unpack(self, cargo: Cargo) -> None:
        """The server has no such manifest: then what it is made of goes, too."""
        if cargo.found.path.endswith(".json") and cargo.digest not in self._made_of:
            objects = list(luggage.objects_of(self._home, cargo.found))
            self._made_of[cargo.digest] = digests = [luggage.digest_of(found) for found in objects]
            for digest, found in zip(digests, objects, strict=True):
                self._known_code.add(digest)
                self._code.setdefault(digest, Cargo(names.OBJECT, "", found, digest=digest))

    def _remark(self, cargo: Cargo) -> None:
        if cargo.refused and cargo.kind == names.FACTS:
            self._say(f"refused {cargo.run}", f"{cargo.refused} This one stays in {self._home.runs / cargo.run} only.")
        elif cargo.refused:
            self._say(f"refused {cargo.found.path}", f"{cargo.found.path} is not sent: {cargo.refused}")
        elif cargo.kept_as:
            self._say(
                f"kept as {cargo.kept_as}",
                f"the server has another {cargo.found.path}; this one is kept there as {cargo.kept_as}",
            )


def send_all(carrier: Carrier, runs: Iterable[str], told: Callable[[Step], None]) -> str:
    """Send all that these runs have now, not what they get meanwhile; returns why the server took no more, if so."""
    for run_id in runs:
        carrier.add(run_id)
    step = carrier.step(final=True)
    told(step)
    while step.busy and not step.trouble:
        step = carrier.step(final=True, look=False)
        told(step)
    return step.trouble
