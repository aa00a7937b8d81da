"""What became of a run: decided from what its processes said and whether they live. No I/O here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from paddock.model import FAILED, FINISHED, KILLED, LOST, RUNNING

MAIN, SUPERVISOR = "main", "supervisor"


class Process(NamedTuple):
    """One writer of a run, as far as the run's state depends on it."""

    role: str = MAIN
    attempt: int = 1
    rank: int | None = None
    alive: bool = False
    end: dict[str, Any] | None = None
    exits: Sequence[dict[str, Any]] = ()
    started: float = 0.0
    seen: float = 0.0
    host: str = ""
    oom: bool = False  # the kernel killed something for memory around its death
    origin: str = ""  # the run that it wrote for, when its journal was copied from there


class Verdict(NamedTuple):
    state: str
    reason: str = ""
    ended: float | None = None


def decide(processes: Iterable[Process]) -> Verdict:
    """The state of a run is the state of its last attempt. What it says itself tells more than what its parent saw,
    except that a good end may be said before a bad one: `raise SystemExit(3)` cannot be seen from inside."""
    everyone = list(processes)
    mains = [p for p in everyone if p.role == MAIN]
    supervisors = [p for p in everyone if p.role == SUPERVISOR]
    exits = [e for p in supervisors for e in p.exits]
    attempts = [p.attempt for p in (*mains, *supervisors)] + [_attempt(e) for e in exits]
    last = max(attempts, default=0)
    current = [p for p in mains if p.attempt == last]
    if any(p.alive for p in current):  # all of them: processes that share a run have no ranks to tell them apart
        return Verdict(RUNNING)
    if not any(_attempt(e) == last for e in exits):
        # A script need not know of Paddock, and a task may be several programs in a row.
        if any(p.alive and p.attempt == last for p in supervisors):
            return Verdict(RUNNING)
        if not current:
            heard = max((p.seen for p in everyone), default=0.0) or None
            return Verdict(LOST, "its supervisor died" if supervisors else "never started", heard)
    present = _newest_of_each_rank(current)
    leader = min(present, key=_rank, default=None)
    own = _by_ends(leader, present) if leader is not None and leader.end is not None else None
    exit_ = max((e for e in exits if _attempt(e) == last), key=_time, default=None)
    seen = _by_exit(exit_) if exit_ is not None else None
    if seen is not None and (own is None or (own.state == FINISHED and seen.state != FINISHED)):
        return seen
    if own is not None:
        return own
    return _lost([p for p in present if p.end is None]) if leader else Verdict(LOST, "never started")


def of_writer(process: Process) -> str:
    """The state of one process, for a list of them. A child ends without saying so."""
    if process.alive:
        return RUNNING
    if process.end is not None:
        return _by_end(process.end).state
    if process.role == SUPERVISOR and process.exits:
        return FINISHED
    return LOST if process.role == MAIN else "gone"


def _newest_of_each_rank(processes: list[Process]) -> list[Process]:
    newest: dict[int, Process] = {}
    for process in sorted(processes, key=lambda p: p.started):
        newest[_rank(process)] = process
    return list(newest.values())


def _by_ends(leader: Process, present: list[Process]) -> Verdict:
    """The leader's word counts, but a rank that failed explains more than the signal the others got for it."""
    verdict = _by_end(leader.end or {})
    ended = max((_time(p.end) for p in present if p.end is not None), default=0.0) or None
    if verdict.state != FAILED:
        for process in sorted(present, key=_rank):
            other = _by_end(process.end) if process.end is not None else None
            if other is not None and other.state == FAILED:
                return Verdict(FAILED, f"rank {_rank(process)}: {other.reason}", ended)
    return verdict._replace(ended=ended)


def _by_end(end: dict[str, Any]) -> Verdict:
    code, why, t = end.get("code"), end.get("reason"), _time(end) or None
    if why == "exception":
        return Verdict(FAILED, _exception(end.get("exception")), t)
    if why == "signal":
        return Verdict(KILLED, f"signal {end.get('signal') or 'unknown'}", t)
    if why == "interrupted":
        return Verdict(KILLED, "interrupted", t)
    if code:
        return Verdict(FAILED, f"exit code {code}", t)
    return Verdict(FINISHED, "", t)


def _by_exit(exit_: dict[str, Any]) -> Verdict:
    t = _time(exit_) or None
    if exit_.get("why") in ("cancelled", "timed out"):  # by its worker, on somebody's order
        return Verdict(KILLED, str(exit_["why"]), t)
    if exit_.get("why") == "lost":  # nobody was left to see its end
        return Verdict(LOST, "lost with its worker", t)
    if exit_.get("oom"):
        return Verdict(KILLED, "out of memory", t)
    if exit_.get("signal"):
        return Verdict(KILLED, f"signal {exit_['signal']}", t)
    if exit_.get("code"):
        return Verdict(FAILED, f"exit code {exit_['code']}", t)
    return Verdict(FINISHED, "", t)


def _lost(gone: list[Process]) -> Verdict:
    seen = max((p.seen for p in gone), default=0.0) or None
    if any(p.oom for p in gone):
        return Verdict(LOST, "probably out of memory", seen)
    if origins := sorted({p.origin for p in gone if p.origin}):
        return Verdict(LOST, f"copied from {', '.join(origins)} before it ended", seen)
    hosts = sorted({p.host for p in gone if p.host})
    return Verdict(LOST, f"no sign of life from {', '.join(hosts)}" if hosts else "no sign of life", seen)


def _exception(exception: Any) -> str:
    if not isinstance(exception, dict):
        return "exception"
    message = str(exception.get("message") or "").strip().partition("\n")[0]
    text = (
        f"{exception.get('type') or 'exception'}: {message}" if message else str(exception.get("type") or "exception")
    )
    return text if len(text) <= 300 else text[:297] + "..."


def _rank(process: Process) -> int:
    return process.rank or 0


def _attempt(exit_: dict[str, Any]) -> int:
    attempt = exit_.get("attempt")
    return attempt if type(attempt) is int else 1


def _time(record: dict[str, Any] | None) -> float:
    t = (record or {}).get("t")
    try:
        return float(t) if isinstance(t, (int, float)) else 0.0
    except OverflowError:
        return 0.0
