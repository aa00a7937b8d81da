"""paddock show: everything about one run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from time import time
from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell, Output
from paddock.cli.shape import STATE_STYLES, amount, label, mapping, run_json, short
from paddock.cli.showing import show_bars, show_questions, show_timings
from paddock.compare.fields import duration, flatten
from paddock.compare.stats import goal_of
from paddock.compare.text import age, cell, many, moment, number, size, span
from paddock.model import MetricStat, RunRow, Writer

_KINDS = ("mark", "alert", "artifact", "use", "end", "exit", "file", "image", "table", "media", "note", "runtime")
_SHOWN = 20  # of each list, for people; --json has them all
_TRACEBACK_LINES = 15


@verb("show", help="Everything about one run: facts, config, metrics, processes, marks, artifacts, how it ended.")
@click.argument("run")
def show(session: Session, run: str) -> None:
    now = time()
    with session.catalog() as catalog:
        row = catalog.run(run)
        facts = catalog.facts(row.id)
        writers = list(catalog.writers(row.id))
        records = list(catalog.records(row.id, _KINDS))
        children = [other for other in catalog.runs() if other.parent == row.id]
        bars = catalog.progress(row.id)
        questions = catalog.questions(row.id)
    by_kind: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _KINDS}
    for record in records:
        by_kind[record["k"]].append(record)
    out = session.out
    out.json(
        {
            "run": run_json(row, now),
            "facts": facts,
            "writers": writers,
            "children": [short(child) for child in children],
            "progress": bars,
            "questions": questions,
            "records": by_kind,
        }
    )
    out.bare(row.id)
    if out.human:
        _head(out, row, facts, children, by_kind["exit"], now)
        _ending(out, row, by_kind["end"])
        show_questions(out, questions, now)
        show_bars(out, bars)
        _values(out, row)
        _metrics(out, row)
        show_timings(out, by_kind["runtime"])
        _processes(out, writers, now)
        _lists(out, by_kind, now)


def _head(
    out: Output, row: RunRow, facts: dict[str, Any], children: list[RunRow], exits: list[dict[str, Any]], now: float
) -> None:
    marks = (" *" if row.star else "") + (" !" if row.bug else "")
    out.line(f"{label(row)}{marks}", "bold")
    state: Cell = (row.state + (f" ({row.reason})" if row.reason else ""), STATE_STYLES.get(row.state, ""))
    host = mapping(facts.get("host"))
    code = mapping(facts.get("code"))
    git = mapping(code.get("git"))
    pairs: list[tuple[str, Cell]] = [
        ("state", state),
        ("project", row.project),
        ("group", row.group or ""),
        ("job type", row.job_type or ""),
        ("tags", " ".join(row.tags)),
        ("created", f"{moment(row.created)} ({age(now - row.created)})"),
        ("duration", span(duration(row, now))),
        ("attempts", str(row.attempts) if row.attempts > 1 else ""),
        ("used", _used(exits[-1]) if exits else ""),
        ("host", " ".join(filter(None, [row.host, _machine(host)]))),
        ("user", row.user),
        ("command", _command(row)),
        ("directory", str(facts.get("cwd") or "")),
        ("python", str(mapping(facts.get("environment")).get("python") or "")),
        ("commit", _commit(row, git)),
        ("code", _code(row, code)),
        ("parent", row.parent or ""),
        ("children", ", ".join(label(child) for child in children[:_SHOWN])),
        ("notes", row.notes),
        ("path", row.path),
        ("damaged", (f"{many(row.damaged, 'journal line')} could not be read", "red") if row.damaged else ""),
        ("dropped", (f"{many(row.dropped, 'value')} could not be recorded", "red") if row.dropped else ""),
    ]
    out.fields(pair for pair in pairs if pair[1])


def _used(exit: dict[str, Any]) -> str:
    """What the worker saw of a task's last attempt."""
    processor, memory = exit.get("processor_seconds"), exit.get("peak_memory")
    parts = [f"{span(amount(processor))} of processor" if processor is not None else ""]
    parts.append(f"{size(amount(memory))} of memory" if memory else "")
    return ", ".join(filter(None, parts))


def _machine(host: dict[str, Any]) -> str:
    gpus = host.get("gpus")
    gpus = gpus if isinstance(gpus, list) else []
    parts = [many(int(amount(host["cpus"])), "cpu") if host.get("cpus") else "", many(len(gpus), "gpu") if gpus else ""]
    found = ", ".join(filter(None, parts))
    return f"({found})" if found else ""


def _command(row: RunRow) -> str:
    return row.command[2] if row.command[:2] == ("/bin/sh", "-c") and len(row.command) == 3 else shlex.join(row.command)


def _commit(row: RunRow, git: dict[str, Any]) -> str:
    if not row.commit:
        return ""
    notes = [str(git["branch"])] if git.get("branch") else []
    if git.get("dirty"):
        notes.append("with uncommitted changes")
    return row.commit[:12] + (f" ({', '.join(notes)})" if notes else "")


def _code(row: RunRow, code: dict[str, Any]) -> str:
    if not row.code:
        return str(code.get("note") or "")
    left_out = f", {code['left_out_count']} left out" if code.get("left_out_count") else ""
    kept = (
        f" ({many(int(amount(code['files'])), 'file')}, {size(amount(code.get('bytes')))}{left_out})"
        if code.get("files")
        else ""
    )
    return row.code[:12] + kept


def _ending(out: Output, row: RunRow, ends: list[dict[str, Any]]) -> None:
    failed = [found for end in ends if (found := mapping(end.get("exception")))]
    if row.state in ("finished", "running") or not failed:
        return
    lines = str(failed[-1].get("traceback") or "").rstrip("\n").split("\n")
    if not any(lines):
        return
    out.heading("traceback" if len(lines) <= _TRACEBACK_LINES else f"traceback (last {_TRACEBACK_LINES} lines)")
    for line in lines[-_TRACEBACK_LINES:]:
        out.line("  " + line, "red")


def _values(out: Output, row: RunRow) -> None:
    for title, values in (("config", row.config), ("summary", row.summary), ("info", row.info)):
        pairs = [(key, cell(value)) for key, value in flatten(values)]
        if pairs:
            out.heading(title)
            out.fields(pairs)


def _metrics(out: Output, row: RunRow) -> None:
    if not row.metrics:
        return
    out.heading("metrics")
    rows = [_metric(name, stat, row) for name, stat in row.metrics.items()]
    out.table(["metric", "last", "step", "min", "at", "max", "at", "points"], rows, [False] + [True] * 7, indent=2)


def _metric(name: str, stat: MetricStat, row: RunRow) -> list[Cell]:
    low = goal_of(name, row.goals) == "min"
    least = "" if stat.min is None else number(stat.min)
    most = "" if stat.max is None else number(stat.max)
    return [
        name,
        "nan" if stat.last is None else number(stat.last),
        str(stat.last_step),
        (least, "green") if low else least,
        str(stat.min_step) if least else "",
        most if low else (most, "green"),
        str(stat.max_step) if most else "",
        f"{stat.count:,}",
    ]


def _processes(out: Output, writers: list[Writer], now: float) -> None:
    shown = [writer for writer in writers if writer.role != "annotation"]
    if not shown:
        return
    out.heading("processes")
    rows: list[list[Cell]] = [
        [
            f"{writer.host}:{writer.pid}",
            writer.role,
            "" if writer.rank is None else str(writer.rank),
            str(writer.attempt),
            (writer.state, STATE_STYLES.get(writer.state, "")),
            age(now - writer.seen),
            (_trouble(writer), "red"),
        ]
        for writer in shown[:_SHOWN]
    ]
    out.table(["process", "role", "rank", "attempt", "state", "seen", ""], rows, indent=2)
    _more(out, shown)


def _trouble(writer: Writer) -> str:
    found = [f"{many(writer.damaged, 'line')} damaged"] if writer.damaged else []
    found += [f"{count} dropped: {why}" for why, count in writer.dropped.items() if count]
    return ", ".join(found)


def _lists(out: Output, records: dict[str, list[dict[str, Any]]], now: float) -> None:
    _list(
        out,
        "alerts",
        [(_when(r, now), f"{r.get('level')}: {r.get('title')}: {r.get('text')}") for r in records["alert"]],
    )
    _list(out, "marks", [(_when(r, now), f"{r.get('name')}{_at(r)} {_data(r)}".rstrip()) for r in records["mark"]])
    _list(out, "artifacts", [(_version(r), _artifact(r)) for r in records["artifact"]])
    _list(out, "used", [(_version(r), f"from {r.get('run')}" if r.get("run") else "") for r in records["use"]])
    _list(out, "files", [(str(r.get("path")), size(amount(r.get("size")))) for r in records["file"]])
    media = [
        (str(r.get("path")), f"{r.get('type', kind)} {r.get('name')}{_at(r)}")
        for kind in ("image", "table", "media")
        for r in records[kind]
    ]
    _list(out, "media", media)


def _list(out: Output, title: str, pairs: list[tuple[str, str]]) -> None:
    if not pairs:
        return
    out.heading(title)
    out.fields(pairs[-_SHOWN:])
    _more(out, pairs)


def _more(out: Output, items: Iterable[Any]) -> None:
    rest = len(list(items)) - _SHOWN
    if rest > 0:
        out.line(f"  ... and {rest} more; --json has them all", "dim")


def _when(record: dict[str, Any], now: float) -> str:
    return age(now - (amount(record.get("t")) or now))


def _at(record: dict[str, Any]) -> str:
    return f" at step {record['step']}" if record.get("step") is not None else ""


def _data(record: dict[str, Any]) -> str:
    return cell(record["data"]) if record.get("data") else ""


def _version(record: dict[str, Any]) -> str:
    return f"{record.get('name')}:{record.get('version')}"


def _artifact(record: dict[str, Any]) -> str:
    files = mapping(record.get("files"))
    total = sum(amount(mapping(file).get("size")) for file in files.values())
    return f"{record.get('type') or 'artifact'}, {many(len(files), 'file')}, {size(total)}"
