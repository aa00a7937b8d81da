"""What a person types to see less: `host:node1 run:lr0.1 level:warning` and a regular expression. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paddock.monitor.now.picture import Line, Run, Task

LEVELS = {"all": 0, "debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_NAMES = ("critical", "error", "warning", "info", "debug")
_KEYS = ("run", "host", "state", "level", "queue", "project")


@dataclass(frozen=True)
class Filter:
    text: str = ""  # as it was typed
    keys: tuple[tuple[str, str], ...] = ()
    pattern: re.Pattern[str] | None = None
    trouble: str = ""  # what is wrong with it

    def line(self, line: Line) -> bool:
        for key, value in self.keys:
            if key == "run" and not _has(value, line.run, line.run_name):
                return False
            if key == "host" and not _has(value, line.host):
                return False
        if line.level < self.level:
            return False
        return self.pattern is None or bool(self.pattern.search(line.text) or self.pattern.search(line.logger))

    @property
    def level(self) -> int:
        """Of log lines, at least: a run and a task have none."""
        return max((LEVELS.get(value, 0) for key, value in self.keys if key == "level"), default=0)

    def run(self, run: Run) -> bool:
        state = "stalled" if run.stalled else run.state
        known = {"run": (run.id, run.name), "host": (run.host,), "state": (state, run.state), "project": (run.project,)}
        return self._fits(known, (run.id, run.name, run.project, state, run.host, run.reason, *run.tags))

    def task(self, task: Task) -> bool:
        known = {"run": (task.id, task.title), "host": (task.worker,), "state": (task.state,), "queue": (task.queue,)}
        return self._fits(known, (task.id, task.title, task.queue, task.state, task.why, task.worker))

    def _fits(self, known: dict[str, tuple[str, ...]], texts: tuple[str, ...]) -> bool:
        if any(not _has(value, *known[key]) for key, value in self.keys if key in known):
            return False
        return self.pattern is None or any(self.pattern.search(text) for text in texts)


NOTHING = Filter()


def read(text: str) -> Filter:
    """A regular expression that is none is looked for as it stands, and that is said."""
    keys, words = [], []
    for word in text.split():
        key, colon, value = word.partition(":")
        if colon and value and key in _KEYS:
            keys.append((key, value.lower()))
        else:
            words.append(word)
    trouble = next((f"there is no level {v!r}" for k, v in keys if k == "level" and v not in LEVELS), "")
    pattern = " ".join(words)
    if not pattern:
        return Filter(text, tuple(keys), None, trouble)
    try:
        found = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError):
        found, trouble = re.compile(re.escape(pattern), re.IGNORECASE), "no regular expression; taken as it stands"
    return Filter(text, tuple(keys), found, trouble)


def level_name(level: int) -> str:
    return next((name for name in _NAMES if level >= LEVELS[name]), "debug" if level > 0 else "")


def _has(value: str, *texts: str) -> bool:
    return any(value in text.lower() for text in texts)
