"""People who move, remove, edit and copy task files at random, while workers run them and are stopped and killed."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

from paddock.queue.lifecycle import ACTIVE, DONE, FAILED, PAUSED, QUEUED, STATES, Place
from tests.faults.checker import Count, check
from tests.faults.farm import Farm
from tests.waiting import until

BODIES = ("true", "sleep 0.05", "sleep 0.3", "sleep 0.2 & wait", "(setsid sleep 0.4 &); sleep 0.1")
LEAST = 60  # moves


class People:
    """Each of their moves is what a shell or an editor does, on a file that they saw a moment ago."""

    def __init__(self, farm: Farm, chance: random.Random) -> None:
        self.farm, self.chance = farm, chance
        self.removed: set[str] = set()
        self.copies: list[str] = []
        self.moves = dict.fromkeys(("mv", "rm", "edit", "replace", "save", "copy"), 0)

    def act(self) -> None:
        places = self.farm.queue.list().places
        if not places:
            return
        place = self.chance.choice(places)
        move = self.chance.choices(list(self.moves), [60, 4, 10, 10, 10, 2])[0]
        with contextlib.suppress(FileNotFoundError):
            getattr(self, f"_{move}")(place, self.farm.queue.file(place))
            self.moves[move] += 1

    def _mv(self, place: Place, path: Path) -> None:
        to = self.chance.choice(STATES)
        os.rename(path, self.farm.queue.directory(to) / place.name)
        if to == DONE:
            self.removed.add(place.id)  # it need not have run

    def _rm(self, place: Place, path: Path) -> None:
        os.unlink(path)
        self.removed.add(place.id)

    def _edit(self, place: Place, path: Path) -> None:
        """In place, as nano does: for a moment the file is empty."""
        with open(path, "r+b") as file:
            data = file.read()
            file.seek(0)
            file.truncate()
            self._rest()
            file.write(_with_remark(data))

    def _replace(self, place: Place, path: Path) -> None:
        """As sed -i and vim do: another file takes the name."""
        aside = path.with_name(f".{path.name}.swp")
        aside.write_bytes(_with_remark(path.read_bytes()))
        with contextlib.suppress(FileNotFoundError):
            os.stat(path)
            os.rename(aside, path)
        aside.unlink(missing_ok=True)

    def _save(self, place: Place, path: Path) -> None:
        """An editor was open for a while, and writes to the name it had opened, whether it is still there or not."""
        data = path.read_bytes()
        self._rest()
        if place.token is None:
            path.write_bytes(_with_remark(data))

    def _copy(self, place: Place, path: Path) -> None:
        name = f"copy{len(self.copies)}-{place.id}"
        aside = path.with_name(".copy")
        aside.write_bytes(path.read_bytes())
        os.rename(aside, self.farm.queue.directory(QUEUED) / name)
        self.copies.append(name)

    def _rest(self) -> None:
        time.sleep(self.chance.random() * 0.05)


def _with_remark(data: bytes) -> bytes:
    first, _, rest = data.partition(b"\n")
    return first + b"\n# looked at\n" + rest


def storm(directory: Path, tasks: int, workers: int, seconds: float, seed: int) -> tuple[Count, dict[str, int]]:
    """For so long, and until enough was moved on a busy machine too. Afterwards people put
    back what they paused or gave up, and all of it must come to its end."""
    farm, chance = Farm(directory, beat=0.5), random.Random(seed)  # and so often workers look whether others live
    try:
        ids = [task.id for body in BODIES for task in farm.submit(body, tasks // len(BODIES))]
        people = People(farm, chance)
        running = [farm.start("--slots", "2") for _ in range(workers)]
        end = time.monotonic() + seconds
        while time.monotonic() < end or people.moves["mv"] < LEAST:
            people.act()
            time.sleep(chance.random() * 0.01)
            if chance.random() < 0.004:
                chance.choice(running).send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
            running = [one if one.poll() is None else farm.start("--slots", "2") for one in running]

        def is_calm() -> bool:
            # Those that were told to go last may all be about to: somebody must be there for what is left.
            running[:] = [one if one.poll() is None else farm.start("--slots", "2") for one in running]
            return _is_calm(farm)

        try:
            until(is_calm, 240, pause=0.2)
        except AssertionError as error:
            left = [place.path for place in farm.queue.list().places if place.state != DONE or place.token is not None]
            raise AssertionError(f"not over: {left}; workers: {[one.poll() for one in running]}") from error
        return check(farm, [*ids, *people.copies], people.removed), people.moves
    finally:
        farm.close()


def _is_calm(farm: Farm) -> bool:
    """Put back what a person holds; True when nothing is left to do."""
    places = farm.queue.list().places
    for place in places:
        if place.state == PAUSED and place.token is not None:
            _move(farm, place, ACTIVE)  # it goes on
        elif place.token is None and place.state in (FAILED, PAUSED):
            _move(farm, place, QUEUED)
    return all(place.state == DONE and place.token is None for place in places)


def _move(farm: Farm, place: Place, to: str) -> None:
    """That very file: an editor may have left two of one task, and by its id the other one would be found again and
    again."""
    with contextlib.suppress(FileNotFoundError):
        os.rename(farm.queue.file(place), farm.queue.directory(to) / place.name)
