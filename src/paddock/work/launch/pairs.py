"""What each pair of a queue and of who runs its tasks can do: what the code itself says, as one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paddock.queue import directory, engine
from paddock.queue.abilities import Abilities
from paddock.queue.redis import queue as redis
from paddock.record.layout import Home
from paddock.work.launch.engines import launcher
from paddock.work.launcher import Capabilities

# A worker of ours, whoever started it: a person, or an engine that was told to keep some (pilots).
WORKER = Capabilities(
    pause=True, output_while_it_runs=True, dependencies=True, preemption=True, shared_disk=True, ranks=True
)
# `rq worker` knows RQ's own orders only.
RQ_WORKER = WORKER._replace(pause=False, preemption=False, ranks=False)


class Pair(NamedTuple):
    queue: str
    runner: str
    abilities: Abilities
    capabilities: Capabilities
    ours: bool = True  # a worker of ours takes from the queue, as many queues as it is told


def pairs(home: Home) -> list[Pair]:
    """The launchers are made, but nobody is asked anything."""

    def of(url: str) -> Capabilities:
        return launcher(engine.parse(url), home).capabilities

    here, there = directory.ABILITIES, redis.ABILITIES
    return [
        Pair("directory", "`paddock worker`, pilots", here, WORKER),
        Pair("Redis", "`paddock worker`, pilots", there, WORKER),
        Pair("Redis", "`rq worker`", there, RQ_WORKER, ours=False),
        Pair("directory", "a Slurm job each", here, of("slurm://"), ours=False),
        Pair("directory", "a pod each, with the home", here, of("k8s://c/n?image=i&home=claim:/home"), ours=False),
        Pair("directory", "a pod each, handed over", here, of("k8s://c/n?image=i"), ours=False),
    ]


ROWS: dict[str, Callable[[Pair], bool]] = {
    "pause and resume what runs": lambda pair: pair.capabilities.pause,
    "its output while it runs": lambda pair: pair.capabilities.output_while_it_runs,
    "what waits for others takes no room": lambda pair: pair.capabilities.dependencies,
    "given back when the machine is taken away": lambda pair: pair.capabilities.preemption,
    "several ranks (`--workers N`)": lambda pair: pair.abilities.ranks and pair.capabilities.ranks,
    "`mv`, `rm` and an editor are orders": lambda pair: pair.abilities.files,
    "no common disk needed": lambda pair: pair.abilities.apart or not pair.capabilities.shared_disk,
    "one worker on several such queues": lambda pair: pair.abilities.several and pair.ours,
}


def table(home: Home) -> str:
    """As Markdown, for docs/explanation/engines.md."""
    known = pairs(home)
    lines = [
        "| | " + " | ".join(f"{pair.queue}: {pair.runner}" for pair in known) + " |",
        "| --- |" + " --- |" * len(known),
        *(
            f"| {row} | " + " | ".join("yes" if can(pair) else "no" for pair in known) + " |"
            for row, can in ROWS.items()
        ),
    ]
    return "\n".join(lines)
