"""Whole pages of the console: all about one run, and the help. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.compare.bar import per_second
from paddock.compare.text import age, clean, number, span, width
from paddock.model import RUNNING, Progress
from paddock.monitor.console import panels
from paddock.monitor.console.spans import GAP, Column, Row, curve, fit, needed, table
from paddock.monitor.console.state import find_run
from paddock.monitor.now.details import Details
from paddock.monitor.now.lines import last_drawn
from paddock.monitor.now.picture import Line, Now, Run

_HELP = """
 tab 1-6    another panel: runs, tasks, workers, hosts, watches, lines
 ↑↓ j k     another row; pgup, pgdn; g and G to the ends
 enter      all about a run: config, metrics, processes, output; esc back
 /          filter: host:node1 run:lr0.1 state:failed queue:gpu project:mnist
            level:warning and a regular expression. In runs and tasks it
            narrows those and their log lines, in lines the lines. esc: none
 l          level of log lines: all, debug, info, warning, error
 p          pause: nothing on the screen moves until p is pressed again
 c          cancel a task or a run, after a question; what runs is ended
 a          answer a question that a run asks
 q Ctrl-C   leave

 stalled    it lives, but has made no step for ten times its median step
 asks       it waits for an answer: a gives it
 lost       no sign of life: its process or its host died
"""


def help_text() -> list[Row]:
    return [[(line, "")] for line in _HELP.strip("\n").split("\n")]


def scrolled(rows: list[Row], scroll: int, room: int) -> list[Row]:
    first = min(scroll, max(0, len(rows) - room))
    return rows[first : first + room]


def details(
    now: Now, found: Details | None, lines: Sequence[Line], subject: str, columns: int, ascii_only: bool
) -> list[Row]:
    run = find_run(now, subject)
    rows = _head(run, found, now, columns) if run is not None else _waiting(now, subject)
    if run is not None and run.bars:
        rows += _section("progress")
        named = min(20, max(width(clean(panels.message(one))) for one in run.bars))
        rows += [_bar(one, named, columns, ascii_only) for one in run.bars]
    if found is None:
        return [*rows, [("", "")], [(" reading ...", "bright_black")]]
    if found.metrics:
        rows += _section("metrics")
        rows += _metrics(found, columns, ascii_only)
    if found.config:
        rows += _section("config")
        rows += _pairs(found.config, columns)
    if found.members:
        rows += _section("processes")
        rows += _members(now, found, columns)
    mine = [line for line in lines if line.run == subject and line.logger != "print"]
    if mine:
        rows += _section("log lines")
        rows += [row for line in mine[-50:] for row in panels.line(line, columns)]
    output = [text for text in found.output if text.strip()]
    if output:
        rows += _section("output")
        rows += [[(f" {clean(last_drawn(text).expandtabs(4))}", "")] for text in output[-50:]]
    return rows


def _head(run: Run, found: Details | None, now: Now, columns: int) -> list[Row]:
    state, style = panels.state_of(run)
    pairs: list[tuple[str, str, str]] = [
        ("run", f"{run.name} ({run.id})", "bold"),
        ("state", state + (f": {run.reason}" if run.reason else ""), style),
        ("project", run.project, ""),
        ("tags", ", ".join(run.tags), ""),
        ("host", run.host + (f" ({run.user})" if run.user else ""), ""),
        ("attempt", str(run.attempt), ""),
        ("created", age(now.time - run.created), ""),
        ("time", span(run.seconds), ""),
        ("step", _step(run), ""),
    ]
    if found is not None:
        pairs += [
            ("command", " ".join(found.command), ""),
            ("notes", found.notes, ""),
            ("path", found.path, ""),
        ]
    return [[(f" {name.ljust(9)}", "bright_black"), (clean(text), look)] for name, text, look in pairs if text]


def _step(run: Run) -> str:
    if run.step is None:
        return ""
    each = f", one in {span(run.step_seconds)}" if run.step_seconds else ""
    last = f", the last {span(run.silence)} ago" if run.silence is not None else ""
    return f"{run.step:,}{each}{last}"


def _waiting(now: Now, subject: str) -> list[Row]:
    task = next((task for task in now.tasks if task.id == subject), None)
    if task is None:
        return [[(f" {clean(subject)} is not shown any more", "bright_black")]]
    pairs = [
        ("task", f"{task.title} ({task.id})"),
        ("queue", task.queue),
        ("state", task.state),
        ("why", task.why),
        ("worker", task.worker),
    ]
    return [[(f" {name.ljust(9)}", "bright_black"), (clean(text), "")] for name, text in pairs if text]


def _section(title: str) -> list[Row]:
    return [[("", "")], [(f" {title}", "bold cyan")]]


def _bar(one: Progress, named: int, columns: int, ascii_only: bool) -> Row:
    wide = max(10, min(40, columns // 4))
    total = "" if one.total is None else f" of {number(one.total)}"
    words = [f"{number(one.done)}{total} {one.unit or ''}".strip()]
    words += [f"eta {span(one.eta)}"] if one.eta is not None else []
    words += [one.state] if one.state != RUNNING else []
    words += [per_second(one.rate)] if one.rate else []
    name = (f"{fit(panels.message(one), named)} ", "") if named else ("", "")
    share = panels.progress(one, wide, ascii_only) if one.fraction is not None else []
    return [(" ", ""), name, *share, (f"  {clean(', '.join(words))}", "bright_black")]


def _metrics(found: Details, columns: int, ascii_only: bool) -> list[Row]:
    shown = found.metrics[:100]
    told = [
        Column("metric", [[(one.name, "bold")] for one in shown], least=12, most=40),
        Column("last", [[(panels.figure(one.last), "")] for one in shown], right=True),
        Column("step", [[(f"{one.step:,}", "")] for one in shown], right=True, optional=2),
        Column("min", [[(panels.figure(one.min), "")] for one in shown], right=True, optional=3),
        Column("max", [[(panels.figure(one.max), "")] for one in shown], right=True, optional=3),
        Column("points", [[(f"{one.count:,}", "")] for one in shown], right=True, optional=4),
    ]
    room = columns - 1
    wide = max(10, min(40, room - needed(told) - GAP))  # a shape that is cut off at its end hides what is new
    drawn = Column("", [[(curve(one.curve, wide, ascii_only), "cyan")] for one in shown], optional=1, least=10)
    return [[(" ", ""), *row] for row in table([*told, drawn], room)]


def _pairs(values: dict[str, str], columns: int) -> list[Row]:
    """Names and values in as many columns as there is room for."""
    texts = [f"{clean(key)} = {clean(value)}" for key, value in values.items()][:200]
    wide = min(max(map(width, texts)), max(20, columns // 2)) + 2
    across = max(1, (columns - 1) // wide)
    down = -(-len(texts) // across)
    return [[(" ", ""), *((fit(text, wide), "") for text in texts[i::down])] for i in range(down)]


def _rank(rank: int | None) -> str:
    return "" if rank is None else str(rank)


def _members(now: Now, found: Details, columns: int) -> list[Row]:
    shown = found.members[-50:]
    sampled = {(host.name, one.pid): one for host in now.hosts for one in host.processes if one.run == found.id}
    alive = [sampled.get((one.host, one.pid)) if one.state == "running" else None for one in shown]
    used = [panels.used(one) if one is not None else ["", "", ""] for one in alive]
    rows = table(
        [
            Column("process", [[(one.name, "")] for one in shown], least=12, most=40),
            Column("role", [[(one.role, "")] for one in shown]),
            Column("host", [[(one.host, "")] for one in shown], optional=4),
            Column("pid", [[(str(one.pid), "")] for one in shown], right=True),
            Column("rank", [[(_rank(one.rank), "")] for one in shown], right=True, optional=2),
            Column("try", [[(str(one.attempt), "")] for one in shown], right=True, optional=5),
            Column("state", [[(one.state, panels.STYLES.get(one.state, ""))] for one in shown]),
            Column("cpu", [[(cpu, "")] for cpu, _, _ in used], right=True, optional=1),
            Column("memory", [[(memory, "")] for _, memory, _ in used], right=True, optional=1),
            Column("gpu", [[(gpu.removeprefix("gpu "), "")] for _, _, gpu in used], optional=1),
        ],
        columns - 1,
    )
    return [[(" ", ""), *row] for row in rows]
