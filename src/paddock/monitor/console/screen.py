"""The whole screen as rows, for a state and a picture at a size. Pure: it can be compared as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paddock.compare.text import clean, cut_to, width
from paddock.model import RUNNING
from paddock.monitor.console import filters, panels, sheets, state
from paddock.monitor.console.spans import Row, crop, fit, tail
from paddock.monitor.console.state import HOSTS, LINES, PANELS, RUNS, TASKS, WATCHES, WORKERS, Shown, State
from paddock.monitor.now.details import Details
from paddock.monitor.now.picture import Line, Now

TALL, WIDE = 34, 100  # from which on there is room for all panels at once
_TITLE = " paddock top "
_TALLY = (
    ("running", "green"),
    ("stalled", "bold yellow"),
    ("lost", "bold red"),
    ("failed", "bold red"),
    ("killed", "magenta"),
)
_KEYS = ("? help", "q quit", "enter details", "/ filter", "tab panel", "l level", "c cancel", "a answer", "p pause")
_ANSWERS = "  (a answers)"
_LEAST = 4  # rows of a panel that is shown: a title, a heading and two


@dataclass(frozen=True)
class View:
    """Everything that is on the screen."""

    now: Now
    lines: Sequence[Line]
    state: State
    details: Details | None = None
    trouble: str = ""  # the last look went wrong
    where: str = ""  # the home or the server
    ascii_only: bool = False


def screen(view: View, columns: int, rows: int) -> list[Row]:
    """Exactly so many rows of exactly so many columns."""
    columns, rows = max(columns, 1), max(rows, 1)
    shown = Shown(view.now, view.lines, view.state)
    top = [_header(view, columns), *_banner(view, columns)]
    bottom = _footer(view, columns)
    room = max(0, rows - len(top) - 1)
    if view.state.mode == state.HELP:
        body = sheets.scrolled(sheets.help_text(), view.state.scroll, room)
    elif view.state.shows_details:
        sheet = sheets.details(view.now, view.details, shown.lines, view.state.subject, columns, view.ascii_only)
        body = sheets.scrolled(sheet, view.state.scroll, room)
    else:
        body = _body(view, shown, columns, room)
    body = body[:room] + [[] for _ in range(room - len(body))]
    # Whatever a panel has forgotten to clean drives no terminal.
    return [crop([(clean(text), style) for text, style in row], columns) for row in [*top, *body, bottom][-rows:]]


def _header(view: View, columns: int) -> Row:
    now = view.now
    end = f" {'PAUSED ' if view.state.paused else ''}{panels.clock(now.time)} "
    room = columns - len(_TITLE) - len(end)
    words: Row = []
    for text, style in _tally(now):
        if room - len(text) >= 0:
            words.append((text, style))
            room -= len(text)
    place = tail(view.where or now.home, room - 1) if room > 8 else ""
    return [
        (_TITLE, "bold reverse"),
        *words,
        (fit(place, room, right=True), "bright_black"),
        (end, "bold yellow" if view.state.paused else ""),
    ]


def _tally(now: Now) -> Row:
    """How many are in which state, what matters most first."""
    counts = now.counts
    waiting = sum(queue.counts.get(name, 0) for queue in now.queues for name in ("queued", "checking", "paused"))
    found = [(f"  {counts[name]} {name}", style) for name, style in _TALLY if counts.get(name)]
    found += [(f"  {waiting:,} waiting", "cyan")] if waiting else []
    found += [(f"  {counts['finished']} finished", "bright_black")] if counts.get("finished") else []
    return found if counts.get("running") else [("  nothing runs", "bright_black"), *found]


def _banner(view: View, columns: int) -> list[Row]:
    """What somebody should look at."""
    rows: list[Row] = []
    if view.trouble:
        rows.append([(fit(f" {view.trouble}", columns), "bold red")])
    rows += [[(fit(f" {text}", columns), "yellow")] for text in view.now.troubles[:2]]
    for question in view.now.questions[:2]:
        text = f" ? {question.run_name} asks: {question.prompt}"
        choices = f" [{'/'.join(question.choices)}]" if question.choices else ""
        shown = cut_to(clean(f"{text}{choices}"), max(0, columns - len(_ANSWERS)))
        rows.append([(fit(f"{shown}{_ANSWERS}", columns), "bold magenta")])
    return rows


def _footer(view: View, columns: int) -> Row:
    found = view.state
    if found.mode == state.FILTER:
        return [
            (" / ", "bold reverse"),
            (f" {clean(found.typed)}▏", ""),
            (f"  {found.active_filter.trouble}", "yellow"),
        ]
    if found.mode == state.CONFIRM:
        run = state.find_run(view.now, found.subject)
        task = next((task for task in view.now.tasks if task.id == found.subject), None)
        name = clean(run.name if run else task.title if task else found.subject)
        return [(f" Cancel {name} ({found.subject})? [y/N] ", "bold red reverse")]
    if found.mode == state.ANSWER:
        question = next((q for q in view.now.questions if (q.run, q.id) == found.ask), None)
        typed = "•" * len(found.typed) if question is None or question.secret else clean(found.typed)
        prompt = clean(f"{question.run_name} asks: {question.prompt}") if question else "(answered)"
        choices = "/".join(map(clean, question.choices)) if question else ""
        remark = f"  {found.message}" if found.message else ""
        typed = f"[{choices}] {typed}▏" if choices else f"{typed}▏"
        # What is typed is seen, however long the question: that stands above, too.
        shown = cut_to(prompt, max(0, columns - 2 - width(typed) - width(remark)))
        return [(f" {shown} ", "bold magenta"), (typed, ""), (remark, "yellow")]
    if found.message:
        return [(f" {clean(found.message)}", "bold")]
    row: Row = []
    if found.level:
        row.append((f" {filters.level_name(found.level)}+ ", "bold cyan"))
    for name, one in (("filter", found.filter), ("lines", found.line_filter)):
        if one.text:
            row.append((f" {name}: {clean(one.text)} ", "bold cyan"))
    room = columns - sum(width(text) for text, _ in row)
    reading = found.mode in (state.DETAILS, state.HELP)
    words = ""
    for key in ("↑↓ scroll", "esc back", "c cancel", "a answer") if reading else _KEYS:
        words = f"{words}  {key}" if len(words) + len(key) + 2 <= room else words
    return [*row, (words[1:], "bright_black")]


# The panels


def _body(view: View, shown: Shown, columns: int, room: int) -> list[Row]:
    if room >= TALL and columns >= WIDE:
        return _everything(view, shown, columns, room)
    focus = view.state.panel
    strip = [_strip(view, shown)] if room > 6 else []
    room -= len(strip)
    if focus == LINES or room < 12:
        return strip + _panel(view, shown, focus, columns, room)
    below = max(_LEAST, room // 3)
    above = min(room - below, max(_LEAST, _count(shown, focus) + 2))
    rows = _panel(view, shown, focus, columns, above)
    return strip + rows + _panel(view, shown, LINES, columns, room - len(rows))


def _everything(view: View, shown: Shown, columns: int, room: int) -> list[Row]:
    rows: list[Row] = []
    middle = [name for name in (TASKS, WORKERS) if _count(shown, name) or view.state.panel == name]
    lower = [name for name in (HOSTS, WATCHES) if _count(shown, name) or view.state.panel == name]
    wanted = {name: _count(shown, name) + 2 for name in PANELS}
    for names, share in (((RUNS,), 0.45), (tuple(middle), 0.25), (tuple(lower), 0.2)):
        if names:
            high = min(max(wanted[name] for name in names), max(_LEAST, int(room * share)))
            rows += _beside(view, shown, names, columns, high)
    return rows + _panel(view, shown, LINES, columns, max(0, room - len(rows)))


def _beside(view: View, shown: Shown, names: Sequence[str], columns: int, high: int) -> list[Row]:
    if len(names) == 1:
        return _panel(view, shown, names[0], columns, high)
    # What waits has the longer texts.
    first = columns * 3 // 5 if names[0] == TASKS else columns // 2
    left = _panel(view, shown, names[0], first - 1, high)
    right = _panel(view, shown, names[1], columns - first - 1, high)
    return [[*crop(one, first - 1), (" │", "bright_black"), *two] for one, two in zip(left, right, strict=True)]


def _strip(view: View, shown: Shown) -> Row:
    """Which panels there are."""
    row: Row = [(" ", "")]
    for i, name in enumerate(PANELS):
        here = name == view.state.panel
        count = f" {_count(shown, name)}" if name != LINES else ""
        row.append((f" {i + 1} {name}{count} ", "bold reverse" if here else "bright_black"))
    return row


def _count(shown: Shown, panel: str) -> int:
    return len(shown.lines) if panel == LINES else len(shown.ids(panel))


def _title(view: View, shown: Shown, panel: str, columns: int, more: int) -> Row:
    here = panel == view.state.panel
    count = "" if panel == LINES else f" {_count(shown, panel)}"
    back = f" ({view.state.scroll} back)" if panel == LINES and here and view.state.scroll else ""
    text = f" {panel}{count}{back} "
    end = f" {more} more ↓ " if more > 0 else ""
    rest = "─" * max(0, columns - 2 - len(text) - len(end))
    return [("─", "bright_black"), (text, "bold cyan" if here else "bold"), (f"{rest}{end}─", "bright_black")]


def _panel(view: View, shown: Shown, panel: str, columns: int, high: int) -> list[Row]:
    """A title, a heading and rows, in exactly so many rows."""
    first, fits = _window(view, shown, panel, high - 2)
    more = _count(shown, panel) - first - fits if panel != LINES else 0
    rows = [crop(_title(view, shown, panel, columns, more), columns)]
    room = high - 1
    if room <= 0:
        return rows[: max(0, high)]
    rows += _lines(view, shown, columns, room) if panel == LINES else _table(view, shown, panel, columns, room)
    return rows[:high] + [[(" " * columns, "")] for _ in range(high - len(rows))]


def _window(view: View, shown: Shown, panel: str, room: int) -> tuple[int, int]:
    """Which rows of a table are shown: the first of them, and how many fit."""
    ids = shown.ids(panel)
    at = state.selected(view.state, ids) if view.state.panel == panel else 0
    fits = max(1, room)
    return min(max(0, at - fits // 2), max(0, len(ids) - fits)), fits


def _lines(view: View, shown: Shown, columns: int, room: int) -> list[Row]:
    back = view.state.scroll if view.state.panel == LINES else 0
    end = len(shown.lines) - back
    found = shown.lines[max(0, end - room) : max(0, end)]
    if not found:
        return [[(" no log lines" if not view.lines else " no log line fits", "bright_black")]]
    return [row for line in found for row in panels.line(line, columns)][-room:]


_EMPTY = {
    RUNS: "no runs in the last hour: `paddock ls` lists all",
    TASKS: "no task runs or waits",
    WORKERS: "no workers: `paddock worker` starts one",
    HOSTS: "no hosts",
    WATCHES: "no watches",
}


def _table(view: View, shown: Shown, panel: str, columns: int, room: int) -> list[Row]:
    ids = shown.ids(panel)
    if not ids:
        every = view.now.runs if panel == RUNS else view.now.tasks if panel == TASKS else ()
        return [[(" nothing fits the filter" if every else f" {_EMPTY[panel]}", "bright_black")]]
    at = state.selected(view.state, ids) if view.state.panel == panel else -1
    first, fits = _window(view, shown, panel, room - 1)
    title, *rows = _rows(view, shown, panel, slice(first, first + fits), columns - 1)
    if at >= 0 and rows:
        # Where nothing stands there is no colour either: an empty remark would be a red block.
        chosen = [(text, style if text.strip() else "") for text, style in rows[at - first]]
        rows[at - first] = [(text, f"{style} reverse".strip()) for text, style in chosen]
    return [[("▌" if first + i - 1 == at and i else " ", "cyan"), *row] for i, row in enumerate([title, *rows])]


def _rows(view: View, shown: Shown, panel: str, part: slice, columns: int) -> list[Row]:
    bars = {run.id: run.bars[0] for run in view.now.runs if run.bars and run.bars[0].state == RUNNING}
    made: dict[str, Callable[[], list[Row]]] = {
        RUNS: lambda: panels.runs(shown.runs[part], columns, view.ascii_only),
        TASKS: lambda: panels.tasks(shown.tasks[part], bars, columns, view.ascii_only),
        WORKERS: lambda: panels.workers(shown.workers[part], columns),
        HOSTS: lambda: panels.hosts(shown.hosts[part], columns, view.ascii_only),
        WATCHES: lambda: panels.watches(shown.watches[part], columns),
    }
    return made[panel]()
