"""What happened to runs that somebody may want to be told of: a picture in, events out. Pure."""

from __future__ import annotations

from typing import NamedTuple

from paddock.compare.text import span
from paddock.monitor.now.picture import Now, Run
from paddock.work.notices.notify import ALERT, FAILED, FINISHED, LOST, QUESTION, STALLED


class Event(NamedTuple):
    event: str
    run: Run
    key: str  # tells it from others of its kind
    text: str
    time: float


def events(now: Now) -> list[Event]:
    """Everything that is so now; who has been told of what is another matter."""
    # Its worker has not decided yet whether such a task is run again.
    undecided = {task.id for task in now.tasks if task.state in ("active", "checking")}
    runs = {run.id: run for run in now.runs}
    found = []
    for run in now.runs:
        name, attempt = f"{run.name} ({run.id})", f"{run.id}~{run.attempt}"
        ended = run.ended or now.time
        if run.stalled:
            quiet = span(run.silence or 0.0)
            text = f"stalled: {name} has made no step for {quiet}"
            found.append(Event(STALLED, run, f"{attempt}~{run.step}", text, now.time))
        if run.id in undecided:
            continue
        if run.state == "finished":
            found.append(Event(FINISHED, run, attempt, f"finished: {name} after {span(run.seconds)}", ended))
        elif run.state == "failed" or (run.state == "killed" and run.reason != "cancelled"):
            found.append(Event(FAILED, run, attempt, f"failed ({run.reason or run.state}): {name}", ended))
        elif run.state == "lost":
            found.append(Event(LOST, run, attempt, f"lost: {name}, {run.reason}", ended))
    for alert in now.alerts:
        if alert.run in runs:
            text = f"alert: {alert.title} {alert.text}".rstrip() + f" in {alert.run_name} ({alert.run})"
            found.append(Event(ALERT, runs[alert.run], f"{alert.run}~{alert.time:.6f}", text, alert.time))
    for asked in now.questions:
        text = f"{asked.run_name} ({asked.run}) asks: {asked.prompt}"
        found.append(Event(QUESTION, runs[asked.run], f"{asked.run}~{asked.id}", text, asked.time))
    return found
