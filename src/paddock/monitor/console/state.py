"""What the console shows, and what a key changes about it: (state, key) in, (state, order) out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from paddock.monitor.console import filters, keys
from paddock.monitor.console.filters import Filter
from paddock.monitor.now.picture import Line, Now, Question, Run

RUNS, TASKS, WORKERS, HOSTS, WATCHES, LINES = PANELS = ("runs", "tasks", "workers", "hosts", "watches", "lines")
BROWSE, FILTER, DETAILS, CONFIRM, ANSWER, HELP = "browse", "filter", "details", "confirm", "answer", "help"
LEVELS = (0, 10, 20, 30, 40)
PAGE = 10
_LONGEST = 4096  # letters of what is typed


@dataclass(frozen=True)
class Cancel:
    run: str


@dataclass(frozen=True)
class Answer:
    run: str
    ask: str
    text: str


@dataclass(frozen=True)
class Quit:
    pass


Order = Cancel | Answer | Quit | None


@dataclass(frozen=True)
class State:
    panel: str = RUNS
    mode: str = BROWSE
    chosen: dict[str, str] = field(default_factory=dict)  # panel -> what is selected there
    filter: Filter = filters.NOTHING  # of runs and tasks; log lines of other runs are not shown then
    line_filter: Filter = filters.NOTHING
    level: int = 0  # of log lines, at least
    paused: bool = False
    typed: str = ""
    subject: str = ""  # the run that is shown, or to be cancelled
    ask: tuple[str, str] = ("", "")  # the run and its question that is answered
    back: str = BROWSE  # the mode after a question
    scroll: int = 0  # of details and help; of lines: how far back
    message: str = ""

    @property
    def active_filter(self) -> Filter:
        return self.line_filter if self.panel == LINES else self.filter

    @property
    def shows_details(self) -> bool:
        return DETAILS in (self.mode, self.back if self.mode in (CONFIRM, ANSWER) else "")


class Shown:
    """What is left of a picture after the filter: what can be selected."""

    def __init__(self, now: Now, lines: Sequence[Line], state: State) -> None:
        keep = state.filter
        self.runs = [run for run in now.runs if keep.run(run)]
        self.tasks = [task for task in now.tasks if keep.task(task)]
        self.workers, self.hosts, self.watches = list(now.workers), list(now.hosts), list(now.watches)
        there = {run.id for run in self.runs} if keep.text else None
        least = max(state.level, keep.level)
        lines = [line for line in lines if line.level >= least and state.line_filter.line(line)]
        self.lines = lines if there is None else [line for line in lines if line.run in there]

    def ids(self, panel: str) -> list[str]:
        if panel == RUNS:
            return [run.id for run in self.runs]
        if panel == TASKS:
            return [task.id for task in self.tasks]
        if panel == WORKERS:
            return [f"{worker.queue}/{worker.name}" for worker in self.workers]
        if panel == HOSTS:
            return [host.name for host in self.hosts]
        return [watch.id for watch in self.watches] if panel == WATCHES else []


def selected(state: State, ids: Sequence[str]) -> int:
    """Which row: what was chosen, as long as it is there; else the first."""
    chosen = state.chosen.get(state.panel, "")
    return ids.index(chosen) if chosen in ids else 0


def press(state: State, key: str, now: Now, shown: Shown) -> tuple[State, Order]:
    if key == keys.INTERRUPT:
        return state, Quit()
    state = replace(state, message="")
    if state.mode == FILTER:
        return _type_filter(state, key), None
    if state.mode == CONFIRM:
        return _confirm(state, key)
    if state.mode == ANSWER:
        return _type_answer(state, key, now)
    if state.mode in (DETAILS, HELP):
        return _read(state, key, now)
    return _browse(state, key, now, shown)


def _browse(state: State, key: str, now: Now, shown: Shown) -> tuple[State, Order]:
    ids = shown.ids(state.panel)
    if key in _MOVES:
        return _move(state, _MOVES[key], ids, len(shown.lines)), None
    if key in (keys.TAB, keys.RIGHT, keys.BACK_TAB, keys.LEFT):
        step = 1 if key in (keys.TAB, keys.RIGHT) else -1
        panel = PANELS[(PANELS.index(state.panel) + step) % len(PANELS)]
        return replace(state, panel=panel, scroll=0), None
    if key.isdigit() and 0 < int(key) <= len(PANELS):
        return replace(state, panel=PANELS[int(key) - 1], scroll=0), None
    if key == "/":
        return replace(state, mode=FILTER, typed=state.active_filter.text), None
    if key == keys.ESCAPE:
        return with_filter(state, filters.NOTHING), None
    if key == keys.ENTER and state.panel in (RUNS, TASKS) and ids:
        return replace(state, mode=DETAILS, subject=ids[selected(state, ids)], scroll=0), None
    if key == "c":
        return _ask_to_cancel(state, ids, now), None
    return _anywhere(state, key, now)


def _anywhere(state: State, key: str, now: Now) -> tuple[State, Order]:
    """Keys that mean the same in the list and in the details."""
    if key == "l":
        return replace(state, level=LEVELS[(LEVELS.index(state.level) + 1) % len(LEVELS)], scroll=0), None
    if key == "p":
        return replace(state, paused=not state.paused), None
    if key == "a":
        return _ask_for_answer(state, now), None
    if key in ("?", "h"):
        return replace(state, mode=HELP, scroll=0), None
    return (state, Quit()) if key == "q" else (state, None)


_MOVES = {
    keys.UP: -1,
    "k": -1,
    keys.DOWN: 1,
    "j": 1,
    keys.PAGE_UP: -PAGE,
    keys.PAGE_DOWN: PAGE,
    keys.HOME: -(1 << 30),
    "g": -(1 << 30),
    keys.END: 1 << 30,
    "G": 1 << 30,
}


def _move(state: State, by: int, ids: Sequence[str], lines: int) -> State:
    if state.panel == LINES:
        return replace(state, scroll=min(max(0, state.scroll - by), max(0, lines - 1)))
    if not ids:
        return state
    at = min(max(0, selected(state, ids) + by), len(ids) - 1)
    return replace(state, chosen={**state.chosen, state.panel: ids[at]})


def _read(state: State, key: str, now: Now) -> tuple[State, Order]:
    if key in _MOVES:
        return replace(state, scroll=max(0, min(state.scroll + _MOVES[key], 1 << 20))), None
    if key in (keys.ESCAPE, keys.ENTER, keys.LEFT, keys.BACKSPACE, "q") or (state.mode == HELP and key in ("?", "h")):
        return replace(state, mode=BROWSE, scroll=0), None
    if key == "c" and state.mode == DETAILS:
        return _ask_to_cancel(state, [state.subject], now), None
    return _anywhere(state, key, now)


def edit(typed: str, key: str) -> str:
    if key == keys.BACKSPACE:
        return typed[:-1]
    if key == keys.CLEAR:
        return ""
    return typed + key if len(key) == 1 and len(typed) < _LONGEST else typed


def _type_filter(state: State, key: str) -> State:
    """It takes effect while it is typed."""
    if key == keys.ESCAPE:
        return with_filter(replace(state, mode=BROWSE, typed=""), filters.NOTHING)
    if key == keys.ENTER:
        return replace(state, mode=BROWSE, typed="", message=state.active_filter.trouble)
    typed = edit(state.typed, key)
    return with_filter(replace(state, typed=typed, scroll=0), filters.read(typed))


def with_filter(state: State, new: Filter) -> State:
    """Each panel has its own; runs and tasks share one."""
    return replace(state, line_filter=new) if state.panel == LINES else replace(state, filter=new)


# Cancel


def _ask_to_cancel(state: State, ids: Sequence[str], now: Now) -> State:
    if state.panel not in (RUNS, TASKS) or not ids:
        return replace(state, message="Select a run or a task to cancel.")
    subject = ids[selected(state, ids)] if state.mode == BROWSE else state.subject
    if not is_cancellable(now, subject):
        return replace(state, message="It is over: there is nothing to cancel.")
    return replace(state, mode=CONFIRM, subject=subject, back=state.mode)


def is_cancellable(now: Now, subject: str) -> bool:
    run = find_run(now, subject)
    task = any(task.id == subject for task in now.tasks)
    return task or (run is not None and run.state in ("running", "paused", "queued"))


def _confirm(state: State, key: str) -> tuple[State, Order]:
    """The default is No."""
    done = replace(state, mode=state.back)
    if key in ("y", "Y"):
        return done, Cancel(state.subject)
    return replace(done, message="Nothing was cancelled."), None


# Questions


def _ask_for_answer(state: State, now: Now) -> State:
    """The question of the selected run, else the oldest."""
    question = next_question(state, now)
    if question is None:
        return replace(state, message="Nobody asks anything.")
    return replace(state, mode=ANSWER, typed="", ask=(question.run, question.id), back=state.mode)


def next_question(state: State, now: Now) -> Question | None:
    chosen = state.subject if state.mode == DETAILS else state.chosen.get(state.panel, "")
    mine = [question for question in now.questions if question.run == chosen]
    return min(mine or now.questions, key=lambda one: one.time, default=None)


def _type_answer(state: State, key: str, now: Now) -> tuple[State, Order]:
    question = next((one for one in now.questions if (one.run, one.id) == state.ask), None)
    done = replace(state, mode=state.back, typed="")
    if key == keys.ESCAPE or question is None:
        return replace(done, message="" if question else "Somebody else has answered."), None
    if key != keys.ENTER:
        return replace(state, typed=edit(state.typed, key)), None
    text = state.typed
    if question.choices and text not in question.choices:
        if text.isdigit() and 0 < int(text) <= len(question.choices):
            text = question.choices[int(text) - 1]
        else:
            wanted = ", ".join(question.choices)
            return replace(state, typed="", message=f"It takes one of: {wanted}."), None
    return done, Answer(question.run, question.id, text)


def find_run(now: Now, run_id: str) -> Run | None:
    return next((run for run in now.runs if run.id == run_id), None)
