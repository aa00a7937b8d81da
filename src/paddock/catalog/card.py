"""A run's row in a listing, put together from its facts, what its records set, its metrics and its writers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from paddock import wire
from paddock.catalog import progress
from paddock.catalog.registers import Registers
from paddock.catalog.state import Verdict
from paddock.catalog.writer import MAIN, SUPERVISOR, Seen, seconds
from paddock.files import read_from
from paddock.model import LOST, MetricStat, Progress, RunRow

_unpack_all = wire.unpacker(list[RunRow]).decode


def unpack(cards: list[bytes]) -> list[RunRow]:
    """Many at once: one call decodes them all."""
    return _unpack_all(b"\xdd" + len(cards).to_bytes(4, "big") + b"".join(cards))


SURROUNDINGS = ("executable", "launch", "host", "environment", "hydra")  # of run.json, and of `environment` records

_SAID = ("project", "group", "job_type")  # of run.json, and of `about` records


def attempt_of(record: dict[str, Any]) -> int:
    found = record.get("attempt")
    return found if isinstance(found, int) else 0


def read_facts(path: str) -> tuple[dict[str, Any], bool]:
    """run.json as a dict, and whether it could be read; a missing one is empty and not damaged."""
    try:
        found = wire.loads(read_from(path, 0))
    except FileNotFoundError:
        return {}, True
    except (OSError, wire.DecodeError, UnicodeDecodeError, ValueError):
        return {}, False
    return (found, True) if isinstance(found, dict) else ({}, False)


def build(
    run_id: str,
    path: str,
    facts: dict[str, Any],
    registers: Registers,
    metrics: dict[str, MetricStat],
    bar: Progress | None,
    writers: Iterable[Seen],
    born: float,
    whole: bool,
) -> RunRow:
    """The row without a state, which depends on when it is asked for; its reason names what could not be read."""
    known = list(writers)
    leader = min((w for w in known if w.role == MAIN), key=lambda w: (w.rank or 0, w.started), default=None)
    host = _part(facts, "host")
    code = registers.words["code"][1] if "code" in registers.words else facts.get("code")
    code = code if isinstance(code, dict) else {}
    starts = [w.started for w in known if w.started]
    created = seconds(facts.get("created"))
    if registers.about:
        facts = facts | {key: value for key, (_, value) in registers.about.items() if key in _SAID}
    name, note = registers.words.get("name"), registers.words.get("note")
    readings = _readings(metrics, registers)
    began = min((w.started for w in known if w.started and w.role in (MAIN, SUPERVISOR)), default=None)
    return RunRow(
        id=run_id,
        name=_text(name[1] if name else facts.get("name")) or run_id,
        project=_text(facts.get("project")),
        group=_text(facts.get("group")) or None,
        job_type=_text(facts.get("job_type")) or None,
        tags=_tags(facts, registers),
        notes=_text(note[1] if note else facts.get("notes")),
        state="",
        reason="; ".join(_troubles(known, whole)),
        created=min(starts, default=born) if created is None else created,
        started=began,
        seen=max((w.seen for w in known), default=0.0),
        attempts=max((w.attempt for w in known if w.role in (MAIN, SUPERVISOR)), default=1),
        config=_part(facts, "config") | {key: value for key, (_, value) in registers.config.items()},
        summary=_bests(metrics, readings) | {key: value for key, (_, value) in registers.summary.items()},
        info={key: value for key, (_, value) in registers.info.items()},
        metrics=metrics,
        goals={name: reading[0] for name, reading in readings.items() if reading[0] in ("min", "max")},
        axes={name: reading[2] for name, reading in readings.items() if isinstance(reading[2], str)},
        command=tuple(map(str, command)) if isinstance(command := facts.get("command"), list) else (),
        host=_text(host.get("name")) or (leader.host if leader else ""),
        user=_text(facts.get("user")) or (leader.user if leader else ""),
        commit=_text(_part(code, "git").get("commit")),
        code=_text(code.get("snapshot")),
        parent=_text(facts.get("parent")) or None,
        star=bool(registers.words.get("star", (0, False))[1]),
        bug=bool(registers.words.get("bug", (0, False))[1]),
        alerts=registers.alerts,
        progress=bar or _by_info(registers, began, known),
        damaged=sum(w.damaged for w in known),
        dropped=min(sum(sum(w.dropped.values()) for w in known), 2**63 - 1),
        path=wire.text(path),
    )


def unreadable(run_id: str, path: str, born: float, error: Exception) -> RunRow:
    """The row of a run that the index could not take in."""
    why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return RunRow(
        id=run_id,
        name=run_id,
        project="",
        state=LOST,
        reason=f"cannot be indexed: {wire.text(why)}",
        created=born,
        path=wire.text(path),
    )


def with_state(row: RunRow, verdict: Verdict, torn: int) -> RunRow:
    """The row as it is now. A torn last line is damage only when nobody is left to complete it."""
    reason = "; ".join(filter(None, (row.reason, verdict.reason)))
    bar = row.progress if row.progress is None else progress.over(row.progress, verdict.state)
    return msgspec.structs.replace(
        row, state=verdict.state, reason=reason, ended=verdict.ended, damaged=row.damaged + torn, progress=bar
    )


def _by_info(registers: Registers, began: float | None, writers: list[Seen]) -> Progress | None:
    info = {key: value for key, (_, value) in registers.info.items()}
    if progress.INFO not in info and isinstance(state := info.get("state"), dict):
        info[progress.INFO] = state.get("progress")
    if info.get(progress.INFO) is None:
        return None
    (_, said), _ = registers.info.get(progress.INFO) or registers.info["state"]
    return progress.by_info(info[progress.INFO], began, said, [w.name for w in writers if w.role == MAIN])


def _troubles(writers: list[Seen], whole: bool) -> Iterator[str]:
    if not whole:
        yield "run.json is damaged"
    for seen in writers:
        if seen.refused:
            yield f"journal {seen.name} cannot be read ({seen.refused})"


def _readings(metrics: dict[str, MetricStat], registers: Registers) -> dict[str, list[Any]]:
    """How each metric is to be read: by its own definition, else by the last pattern that fits it (`val/*`)."""
    defined = {name: reading for name, (_, reading) in registers.readings.items()}
    patterns = [name for name in defined if "*" in name]
    found = {name: reading for name, reading in defined.items() if name not in patterns}
    for metric in metrics if patterns else ():
        base = metric.partition("{")[0]
        for pattern in patterns:
            if base not in found and fnmatchcase(base, pattern):
                found[base] = defined[pattern]
    return found


def _bests(metrics: dict[str, MetricStat], readings: dict[str, list[Any]]) -> dict[str, Any]:
    """The best value of each metric whose best was said to be its result."""
    found: dict[str, Any] = {}
    for name, (goal, best, _) in readings.items():
        if best and name in metrics:
            found[f"{name}.best"] = metrics[name].min if goal == "min" else metrics[name].max
    return found


def _tags(facts: dict[str, Any], registers: Registers) -> tuple[str, ...]:
    given = facts.get("tags")
    tags = dict.fromkeys(map(str, given), True) if isinstance(given, list) else {}
    tags |= {name: on for name, (_, on) in registers.tags.items()}
    return tuple(name for name, on in tags.items() if on)


def _part(facts: dict[str, Any], name: str) -> dict[str, Any]:
    part = facts.get(name)
    return part if isinstance(part, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
