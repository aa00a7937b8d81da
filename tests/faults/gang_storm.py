"""Tasks of several ranks, with workers, guards and ranks killed and stopped at random, and people who move their files.

Every rank waits until all have begun: an attempt that starts with fewer never ends. It holds a lock for as long as any
of its processes lives, and looks at the locks of all ranks of the attempts before its own: whoever finds one taken
writes `double`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import signal
import tempfile
import time
from pathlib import Path

from paddock.queue.ensemble.gang import GANGS
from paddock.queue.lifecycle import ACTIVE, DONE, FAILED, PAUSED, QUEUED
from tests.faults.checker import Count, check
from tests.faults.farm import Farm
from tests.waiting import until

LEASE = {"beat": 0.5, "fence": 3.0, "reclaim": 6.0}
_RANK = """id=$PADDOCK_RUN_ID; mine=$PADDOCK_ATTEMPT; cd {ledger}
exec 9>>"$id" 8>>"$id.$mine.$RANK.lock"
flock -n 8 || echo "double $mine $RANK" >&9
k=1; while [ $k -lt $mine ]; do
  for lock in "$id.$k".*.lock; do
    [ ! -e "$lock" ] || flock -n -s "$lock" true || echo "double $mine $RANK: $lock" >&9
  done; k=$((k+1))
done
echo "begin $mine $RANK" >&9
echo $RANK >> "$PADDOCK_RENDEZVOUS"
while [ "$(sort -u "$PADDOCK_RENDEZVOUS" | wc -l)" -lt $WORLD_SIZE ]; do sleep 0.05; done
sleep {seconds}
echo "end $mine $RANK" >&9"""


def put(farm: Farm, ranks: int, seconds: float) -> str:
    command = _RANK.format(ledger=shlex.quote(str(farm.ledger)), seconds=seconds)
    return farm.submit(count=1, cmd=command, n_workers=ranks)[0].id


def hurt(farm: Farm, chance: random.Random, ids: list[str]) -> str:
    """One blow, to whoever is there."""
    blow = chance.choices(["kill", "term", "stop", "guard", "rank", "move"], [3, 3, 2, 2, 3, 4])[0]
    workers = [worker for worker in farm.workers if worker.poll() is None]
    if blow in ("kill", "term", "stop") and workers:
        number = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}[blow]
        chance.choice(workers).send_signal(number)
    elif blow == "guard" and (guards := list(farm.guards())):
        _kill(chance.choice(guards))
    elif blow == "rank" and (ranks := _ranks(farm)):
        _kill(chance.choice(ranks))
    elif blow == "move":
        farm.mv(chance.choice(ids), chance.choice([PAUSED, ACTIVE, QUEUED, FAILED, PAUSED, ACTIVE]))
    return blow


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _ranks(farm: Farm) -> list[int]:
    """The shells of all ranks that run on this farm; another test may have one of its own at the same time."""
    found, mine = [], os.fsencode(f"cd {shlex.quote(str(farm.ledger))}\n")
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mine in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def storm(directory: Path, tasks: int, workers: int, seconds: float, seed: int) -> tuple[Count, dict[str, int]]:
    farm, chance = Farm(directory, **LEASE), random.Random(seed)
    blows: dict[str, int] = {}
    try:
        ids = [put(farm, chance.randint(2, 4), chance.random() * 0.5) for _ in range(tasks)]
        ids += [task.id for task in farm.submit("sleep 0.2", tasks)]
        running = [farm.start("--slots", "2") for _ in range(workers)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            blow = hurt(farm, chance, ids)
            blows[blow] = blows.get(blow, 0) + 1
            time.sleep(chance.random() * 1.0)
            for one in running:
                if chance.random() < 0.3:
                    one.send_signal(signal.SIGCONT)
            running = [one if one.poll() is None else farm.start("--slots", "2") for one in running]
        for one in running:
            one.send_signal(signal.SIGCONT)
        until(lambda: _is_calm(farm), 240, pause=0.5)
        until(lambda: not os.listdir(farm.queue.path / GANGS), 60)
        return check(farm, ids, ids), blows
    finally:
        farm.close()


def _is_calm(farm: Farm) -> bool:
    """Put back what a person holds or a blow has failed; True when nothing is left to do."""
    places = farm.queue.list().places
    for place in places:
        if place.state == PAUSED and place.token is not None:
            farm.mv(place.id, ACTIVE)
        elif place.token is None and place.state in (FAILED, PAUSED):
            farm.mv(place.id, QUEUED)
    return all(place.state == DONE and place.token is None for place in places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("tasks", 20), ("workers", 4), ("seconds", 60), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paddock-gangs-"))
    found, blows = storm(directory, given.tasks, given.workers, given.seconds, given.seed)
    print(json.dumps({"found": found._asdict(), "blows": blows, "directory": str(directory)}))


if __name__ == "__main__":
    main()
