"""The panels of the console: what each shows of a picture, as rows of text. Pure."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from paddock.compare.bar import per_second
from paddock.compare.text import number, size, span
from paddock.model import Progress
from paddock.monitor.console import filters
from paddock.monitor.console.spans import Column, Row, bar, fit, table, tail
from paddock.monitor.now.picture import Figure, Host, Line, Process, Run, Task, Watch, Worker

STYLES = {
    "running": "green",
    "stalled": "bold yellow",
    "paused": "yellow",
    "queued": "cyan",
    "finished": "bright_black",
    "failed": "bold red",
    "killed": "magenta",
    "lost": "bold red",
    "alive": "green",
    "silent": "yellow",
    "dead": "red",
    "active": "green",
    "checking": "cyan",
}
LEVEL_STYLES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "", "debug": "bright_black"}
LINE_ROWS = 12  # that stand below a log line of many
_BAR = 14  # columns, and what belongs to it


def figure(value: Figure) -> str:
    return "nan" if value is None else value if isinstance(value, str) else number(value)


def state_of(run: Run) -> tuple[str, str]:
    if run.stalled:
        return f"stalled {span(run.silence or 0.0)}", STYLES["stalled"]
    if run.questions and run.state == "running":
        return "asks", STYLES["stalled"]
    return run.state, STYLES.get(run.state, "")


def progress(found: Progress, room: int = _BAR, ascii_only: bool = False) -> Row:
    """A bar and its percentage. What is not done is not rounded up to 100 %."""
    style = "cyan" if found.state in ("running", "done") else "red"
    share = found.fraction
    if share is None:
        return [(f"{found.done:,.6g} {found.unit or ''}".strip(), style)]
    if found.state != "done" and share < 1:
        share = min(share, 0.99)
    return [*bar(share, room, style, ascii_only=ascii_only), (f" {share:4.0%}", "")]


def message(found: Progress | None) -> str:
    return " ".join(found.msg) if found is not None else ""


def runs(found: Sequence[Run], room: int, ascii_only: bool = False) -> list[Row]:
    main = [run.bars[0] if run.bars else None for run in found]
    names = shared_metrics(found)
    wide = min(30, max(8, room // 8))
    columns = [
        Column("run", [[(run.name, "bold")] for run in found], least=16, most=40),
        Column("id", [[(run.id, "bright_black")] for run in found], optional=6, most=16),
        Column("state", [[state_of(run)] for run in found]),
        Column(
            "progress",
            [_progress(run, one, wide, ascii_only) for run, one in zip(found, main, strict=True)],
            least=wide + 5,
            most=max(wide + 5, room // 3),
        ),
        Column("of", [[(message(one), "bright_black")] for one in main], optional=8, most=30, least=6),
        Column("eta", [[(_eta(one), "")] for one in main], right=True, optional=1),
        Column("rate", [[(_rate(run, one), "")] for run, one in zip(found, main, strict=True)], right=True, optional=3),
        Column("step", [[("" if run.step is None else f"{run.step:,}", "")] for run in found], right=True, optional=2),
        *(
            Column(_short(name), [[(_value(run, name), "")] for run in found], right=True, optional=4 + i)
            for i, name in enumerate(names)
        ),
        Column("time", [[(span(run.seconds) if run.seconds else "", "")] for run in found], right=True, optional=5),
        Column("host", [[(run.host, "")] for run in found], optional=9, most=20),
        Column("try", [[(str(run.attempt) if run.attempt > 1 else "", "yellow")] for run in found], optional=7),
        Column("!", [[(_remark(run), "bold red")] for run in found], optional=1),
    ]  # fmt: skip
    return table(columns, room)


def shared_metrics(found: Sequence[Run], most: int = 5) -> list[str]:
    """The metrics that most of them have, in the order in which they come."""
    counted = Counter(value.metric for run in found for value in run.values)
    order = {name: i for i, name in enumerate(counted)}
    return sorted(sorted(counted, key=lambda name: (-counted[name], order[name]))[:most], key=lambda name: order[name])


def _progress(run: Run, found: Progress | None, room: int, ascii_only: bool) -> Row:
    if run.state in ("failed", "killed", "lost") and run.reason:
        return [(run.reason, "red" if run.state != "killed" else "magenta")]
    if found is None:
        return [("", "")]
    return progress(found, room, ascii_only)


def _eta(found: Progress | None) -> str:
    return span(found.eta) if found is not None and found.eta is not None else ""


def _rate(run: Run, found: Progress | None) -> str:
    rate = found.rate if found is not None else None
    if rate is None and run.step_seconds and run.state == "running" and not (run.stalled or run.questions):
        rate = 1 / run.step_seconds
    if rate is None:
        return ""
    return per_second(rate) if rate >= 1 else f"{span(1 / rate)}/it" if rate > 1e-6 else ""


def _value(run: Run, name: str) -> str:
    return next((figure(value.value) for value in run.values if value.metric == name), "")


def _remark(run: Run) -> str:
    return f"{'?' if run.questions else ''}{f'{run.alerts}!' if run.alerts else ''}"


def _short(metric: str) -> str:
    return metric if len(metric) <= 14 else "…" + metric[-13:]


def tasks(found: Sequence[Task], bars: dict[str, Progress], room: int, ascii_only: bool = False) -> list[Row]:
    """What runs, with its progress, and what waits, with the reason."""
    columns = [
        Column("task", [[(task.title, "bold")] for task in found], least=12, most=40),
        Column("id", [[(task.id, "bright_black")] for task in found], optional=6),
        Column("queue", [[(task.queue, "")] for task in found], optional=3, most=20, least=6),
        Column("state", [[(task.state, STYLES.get(task.state, ""))] for task in found]),
        Column("", [_about(task, bars.get(task.id), ascii_only) for task in found], least=12, grows=True),
        Column("time", [[("" if t.seconds is None else span(t.seconds), "")] for t in found], right=True, optional=2),
        Column("try", [[(str(t.attempt) if t.attempt > 1 else "", "yellow")] for t in found], optional=4),
        Column("prio", [[(str(t.priority) if t.priority else "", "")] for t in found], right=True, optional=5),
    ]
    return table(columns, room)


def _about(task: Task, found: Progress | None, ascii_only: bool) -> Row:
    if task.why:
        return [(task.why, "" if task.state != "active" else "red")]
    if found is None:
        return [(task.worker, "bright_black")]
    return [*progress(found, _BAR, ascii_only), (f"  {_eta(found)}  {task.worker}", "bright_black")]


def workers(found: Sequence[Worker], room: int) -> list[Row]:
    columns = [
        Column("worker", [[(worker.name, "bold")] for worker in found], least=12, most=40),
        Column("queue", [[(worker.queue, "")] for worker in found], optional=3, most=20, least=6),
        Column("state", [[(life(worker), STYLES.get(worker.state, ""))] for worker in found]),
        Column("busy", [[(f"{worker.busy}/{worker.slots}", "")] for worker in found], right=True),
        Column("gpus", [[(",".join(worker.gpus), "")] for worker in found], optional=2, most=16),
        Column("runs", [[(", ".join(worker.tasks), "")] for worker in found], least=8, grows=True, optional=1),
    ]
    return table(columns, room)


def life(worker: Worker) -> str:
    return f"silent {span(worker.silence)}" if worker.state == "silent" else worker.state


def hosts(found: Sequence[Host], room: int, ascii_only: bool = False) -> list[Row]:
    columns = [
        Column("host", [[(host.name, "bold")] for host in found], least=8, most=30),
        Column("cpu", [_share(host.cpu, ascii_only) for host in found]),
        Column("cores", [[(str(host.cpus or ""), "")] for host in found], right=True, optional=4),
        Column("memory", [[(memory(host.memory, host.memory_total), "")] for host in found], right=True, optional=1),
        Column("gpu", [[(gpus(host), "")] for host in found], optional=2, most=40, least=6),
        Column("runs", [[(str(host.runs or ""), "")] for host in found], right=True, optional=3),
        Column("workers", [[(str(host.workers or ""), "")] for host in found], right=True, optional=4),
        Column("processes", [[(processes(host), "bright_black")] for host in found], least=24, grows=True, optional=5),
    ]
    return table(columns, room)


def _share(share: float | None, ascii_only: bool) -> Row:
    if share is None:
        return [("", "")]
    style = "red" if share > 0.95 else "green"
    return [*bar(min(1.0, share), 8, style, ascii_only=ascii_only), (f" {share:4.0%}", "")]


def memory(used: int | None, total: int | None) -> str:
    if used is None:
        return ""
    return f"{size(used)} of {size(total)}" if total else size(used)


def gpus(host: Host) -> str:
    words = []
    for gpu in host.gpus:
        use = "" if gpu.use is None else f" {gpu.use:.0%}"
        held = "" if gpu.memory is None else f" {memory(gpu.memory, gpu.memory_total)}"
        words.append(f"{gpu.index}:{use}{held}")
    return "  ".join(words)


def processes(host: Host) -> str:
    """The busiest first: there may be more than are seen."""
    several = Counter(one.run for one in host.processes)
    words = []
    for one in sorted(host.processes, key=lambda one: -(one.cpu or 0.0)):
        which = f"#{one.rank}" if one.rank is not None else f":{one.pid}" if several[one.run] > 1 else ""
        words.append(" ".join(filter(None, [f"{one.run_name or one.run}{which}", *used(one)])))
    return ", ".join(words)


def used(one: Process) -> list[str]:
    """What a process used last: of the processors, of the memory, of the GPUs."""
    gpu = [f"{one.gpu:.0%}"] if one.gpu is not None else []
    gpu += [size(one.gpu_memory)] if one.gpu_memory is not None else []
    return [
        "" if one.cpu is None else f"{one.cpu:.0%}",
        "" if one.memory is None else size(one.memory),
        f"gpu {' '.join(gpu)}" if gpu else "",
    ]


def watches(found: Sequence[Watch], room: int) -> list[Row]:
    def count(state: str, style: str) -> list[Row]:
        return [[(str(n := watch.counts.get(state, 0)), style if n else "bright_black")] for watch in found]

    columns = [
        Column("watch", [[(tail(watch.directory, max(16, room // 4)), "bold")] for watch in found]),
        Column("by", [[("watched", "green") if watch.watched else ("nobody", "bright_black")] for watch in found]),
        Column("wait", count("pending", ""), right=True),
        Column("run", count("running", "cyan"), right=True),
        Column("done", count("done", "green"), right=True),
        Column("fail", count("failed", "red"), right=True),
        Column("best", [[(_best(watch), "")] for watch in found], least=8, most=40, optional=1),
        Column("trouble", [[(watch.trouble, "red")] for watch in found], least=8, grows=True, optional=6),
    ]
    return table(columns, room)


def _best(watch: Watch) -> str:
    if watch.best is None:
        return ""
    at = "" if watch.best.step is None else f" @{watch.best.step}"
    return f"{figure(watch.best.value)}{at} {watch.best.metric}"


def line(found: Line, room: int) -> list[Row]:
    """A log line; what it has more than one row of stands below it, as a table of rich does, up to a limit."""
    level = filters.level_name(found.level)
    style = LEVEL_STYLES.get(level, "")
    who = found.run_name or found.run
    who = who if found.rank is None else f"{who}#{found.rank}"
    name = min(20, max(10, room // 5))
    row: Row = [
        (clock(found.time), "bright_black"),
        (" ", ""),
        (fit(level[:4].upper() if found.logger != "print" else "", 4), style),
        (" ", ""),
        (fit(who, name), "cyan"),
        (" ", ""),
    ]
    before = 8 + 1 + 4 + 1 + name + 1
    first, *more = found.text.expandtabs(4).rstrip("\n").split("\n")
    hidden = len(more) - LINE_ROWS
    if hidden > 0:
        more = [*more[:LINE_ROWS], f"… {hidden} more"]
    below = [[(" " * before, ""), (fit(text, max(0, room - before)), style)] for text in more]
    return [[*row, (fit(first, max(0, room - before)), style)], *below]


def clock(moment: float) -> str:
    try:
        return time.strftime("%H:%M:%S", time.localtime(moment))
    except (ValueError, OverflowError, OSError):
        return "??:??:??"
