"""Asking a person, from any process of a run, and waiting for the answer.

The question is a record in this process's journal. `paddock answer` and its like write the answer as an annotation of
the run, which is looked for here: where the kernel tells of new files at once, elsewhere every second. Where the
process owns a terminal, it may be answered there as well.
"""

from __future__ import annotations

import itertools
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from paddock import wire
from paddock.amounts import parse_seconds
from paddock.errors import UsageError
from paddock.files import entries, read_from
from paddock.record.answer import chosen
from paddock.record.wake import Wake
from paddock.track import active, notice
from paddock.track.run import Run
from paddock.track.terminal import Terminal

LOOK_SECONDS = 1.0  # between two looks at the run's journals
_numbers = itertools.count(1)


class Reply(NamedTuple):
    text: str
    how: str  # answer, terminal


@dataclass(frozen=True)
class Asked:
    prompt: str
    choices: tuple[str, ...]
    default: str | None
    secret: bool

    def words(self) -> str:
        hint = f" [{', '.join(self.choices)}]" if self.choices else ""
        usual = f" ({self.default})" if self.default is not None else ""
        return f"{self.prompt}{hint}{usual}"


def ask(
    prompt: str,
    choices: Sequence[Any] | None = None,
    default: Any = None,
    timeout: float | str | None = None,
    secret: bool = False,
) -> str | None:
    """Ask, and wait for the answer: at most `timeout` (30, "5m"), then the default holds. With `choices` the answer is
    one of them. A `secret` one is kept where only you can read it."""
    seconds = None if timeout is None else parse_seconds(timeout)
    usual = None if default is None else str(default)
    asked = Asked(
        wire.text(str(prompt)), tuple(wire.text(str(choice)) for choice in choices or ()), usual, bool(secret)
    )
    run = active.joined()
    with Terminal.if_owned(secret) as terminal:
        if run is None or run.disabled:
            return _without_run(asked, terminal, seconds)
        return _in_run(run, asked, terminal, seconds)


def _without_run(asked: Asked, terminal: Terminal, timeout: float | None) -> str | None:
    if not terminal.fds:
        if asked.default is None and timeout is None:
            raise UsageError(
                "There is nobody to ask.", hint="Call paddock.init() first, or give a default and a timeout."
            )
        return asked.default
    reply = _wait(asked, terminal, None, timeout)
    return asked.default if reply is None else reply.text


def _in_run(run: Run, asked: Asked, terminal: Terminal, timeout: float | None) -> str | None:
    writer = run._own().path.name.removesuffix(".jsonl")
    number = f"{writer}.q{next(_numbers)}"
    until = None if timeout is None else round(time.time() + timeout, 3)
    answers = Answers(run._directory.journals, number, asked.choices)
    try:
        run._append(
            {
                "k": "ask",
                "id": number,
                "prompt": asked.prompt,
                "choices": list(asked.choices) or None,
                "default": asked.default,
                "secret": asked.secret,
                "until": until,
            }
        )
        said = "or from elsewhere" if terminal.fds else asked.words()
        notice.say(f"{said}: paddock answer {run.id} TEXT")
        reply = _wait(asked, terminal, answers, timeout)
    except BaseException:  # Ctrl-C: nobody waits any more
        run._append({"k": "answered", "ask": number, "how": "interrupted"})
        raise
    finally:
        answers.close()
    run._append({"k": "answered", "ask": number, "how": "timeout" if reply is None else reply.how})
    return asked.default if reply is None else reply.text


def _wait(asked: Asked, terminal: Terminal, answers: Answers | None, timeout: float | None) -> Reply | None:
    end = None if timeout is None else time.monotonic() + timeout
    terminal.say(asked.words() + " ")
    while True:
        if answers is not None and (text := answers.look()) is not None:
            terminal.say("answered from elsewhere\n")
            return Reply(text, "answer")
        left = LOOK_SECONDS if end is None else min(LOOK_SECONDS, end - time.monotonic())
        if left <= 0:
            terminal.say("\n")
            return None
        fds = [*terminal.fds, *([answers.fd] if answers is not None and answers.fd >= 0 else [])]
        if fds:
            ready, _, _ = select.select(fds, [], [], left)
        else:
            ready = []
            time.sleep(left)
        if terminal.fds and terminal.fds[0] in ready and (line := terminal.read()) is not None:
            if not line and asked.default is not None:
                return Reply(asked.default, "terminal")
            if (text := chosen(line, asked.choices)) is not None:
                return Reply(text, "terminal")
            terminal.say(f"One of: {', '.join(asked.choices)} ")


class Answers:
    """The answers to one question among the run's annotations. Each file is read once, when it is whole."""

    def __init__(self, journals: Path, ask: str, choices: tuple[str, ...]) -> None:
        self._journals, self._ask, self._choices = journals, ask, choices
        self._known = {entry.name for entry in entries(journals)}
        self._wake = Wake({"journal": (journals, True)})

    @property
    def fd(self) -> int:
        return self._wake.fd

    def look(self) -> str | None:
        """The first answer that is one, by the time of its writing."""
        self._wake.read()
        found: list[tuple[float, str]] = []
        for entry in list(entries(self._journals)):
            if entry.name not in self._known and entry.name.endswith(".jsonl") and not entry.name.startswith("."):
                found += self._read(entry.name)
        return min(found)[1] if found else None

    def _read(self, name: str) -> list[tuple[float, str]]:
        try:
            data = read_from(self._journals / name, 0, 1 << 20)
        except OSError:
            return []
        records = [wire.read_line(line) for line in data.split(b"\n")[:-1]]
        said = [record for record in records if isinstance(record, dict)]
        is_annotation = any(record["k"] == "open" and record.get("role") == "annotation" for record in said)
        if said and (not is_annotation or any(record["k"] == "end" for record in said)):
            self._known.add(name)
        return [
            (float(record.get("t") or 0), text)
            for record in said
            if record["k"] == "answer" and record.get("ask") == self._ask
            if (text := chosen(str(record.get("text") or ""), self._choices)) is not None
        ]

    def close(self) -> None:
        self._wake.close()
