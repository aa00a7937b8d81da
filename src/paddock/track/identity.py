"""Which run this process belongs to, as what. Pure: environment and arguments in, a decision out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from paddock.errors import UsageError
from paddock.record.layout import LONGEST_ID, check_id

RUN_ID, RUN_HOME, RUN_OWNER, ATTEMPT = "PADDOCK_RUN_ID", "PADDOCK_RUN_HOME", "PADDOCK_RUN_OWNER", "PADDOCK_ATTEMPT"
REPRODUCTION = "PADDOCK_REPRODUCTION"
RESUME = ("allow", "must", "never", "auto")


@dataclass(frozen=True)
class Identity:
    run_id: str | None  # None: make a new one
    home: str | None  # of the run joined through the environment
    role: str  # main: its end is the run's end; child: it only adds to it
    join: bool  # the run may exist already without anybody having asked to resume it
    shared: bool  # several processes write it together, without ranks
    resume: str | None
    attempt: int | None  # None: count
    rank: int | None
    world: int | None
    parent: str | None
    launch: str = ""  # the same for all ranks that were started together


def decide(
    environ: Mapping[str, str],
    *,
    run_id: str | None,
    resume: str | bool | None,
    parent: str | None,
    shared: bool,
    rank: tuple[int, int, str] | None,
    joined_before: bool,
    pid: str,
    separate: bool = False,
) -> Identity:
    """`rank` is (rank, world size, a key that all ranks of this launch share). `joined_before`: this process has
    been part of the environment's run already, so a second init() means a new one. `separate`: a program that a
    tracked one has started says itself what it is (a project, a name, a config): then it is a run of its own."""
    how = _resume(resume)
    if word := environ.get(REPRODUCTION):
        run_id, how = _repeated(word, run_id, how, environ.get(RUN_ID))
    number, world, key = rank if rank else (None, None, "")
    launch = hashlib.sha256(key.encode()).hexdigest()[:12] if key else ""
    base = Identity(run_id, None, "main", shared, shared, how, None, number, world, parent, launch)
    given = environ.get(RUN_ID)
    owner = environ.get(RUN_OWNER)
    own = separate and bool(owner) and owner != pid and not rank
    if given and run_id in (None, given) and not (joined_before or own) and how != "never":
        return replace(
            base,
            run_id=check_id(given),
            home=environ.get(RUN_HOME),
            role="child" if owner and owner != pid else "main",
            join=True,
            attempt=_attempt(environ),
        )
    if given and run_id != given:
        base = replace(base, parent=parent or given)
    if run_id is not None:
        return replace(base, run_id=check_id(run_id), join=shared or bool(number))
    if rank:
        return replace(base, run_id="r" + launch[:11], join=True)
    if how == "auto" and (job := environ.get("SLURM_JOB_ID")):
        # A requeued Slurm job keeps its id: the same id here makes it the same run.
        task = environ.get("SLURM_ARRAY_TASK_ID")
        cluster = environ.get("SLURM_CLUSTER_NAME", "")
        digest = hashlib.sha256(f"slurm:{cluster}:{job}:{task}".encode()).hexdigest()
        return replace(base, run_id="s" + digest[:11], join=True)
    if how == "must":
        raise UsageError("resume='must' needs the id of the run to continue.", hint="Pass id=...")
    return base


def _repeated(word: str, run_id: str | None, how: str | None, joined: str | None) -> tuple[str | None, str | None]:
    """A script that is run once more says the id of the run that it repeats: its runs get others, which all of its
    processes can work out. What it continues then is what this repetition has made itself."""
    if run_id is None:
        return None, None if how == "auto" else how
    if run_id != joined:
        run_id = f"{run_id[: LONGEST_ID - len(word) - 1]}-{word}"
    return run_id, "allow" if how == "must" else how


def _resume(given: str | bool | None) -> str | None:
    if given is True:
        return "auto"
    if given is False or given is None:
        return None
    if given not in RESUME:
        raise UsageError(f"resume={given!r} is unknown.", hint=f"It takes one of {', '.join(RESUME)}, or True.")
    return given


def _attempt(environ: Mapping[str, str]) -> int | None:
    text = environ.get(ATTEMPT, "")
    return int(text) if text.isdigit() else None


def next_attempt(headers: list[dict[str, Any]], rank: int | None, shared: bool = False) -> int:
    """One more than this rank's last attempt. Ranks count apart, so that those of one launch agree without asking
    each other. Processes that share a run without ranks join the attempt that is there."""
    attempts = [
        int(h.get("attempt") or 1)
        for h in headers
        if h.get("role") == "main" and (rank is None or h.get("rank") == rank)
    ]
    return max(attempts, default=1) if shared else max(attempts, default=0) + 1
