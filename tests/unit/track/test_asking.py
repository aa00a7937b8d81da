"""A process asks, and a person answers from elsewhere."""

from __future__ import annotations

import multiprocessing
import os
import pty
import select
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.catalog.catalog import Catalog
from paddock.errors import UsageError
from paddock.model import Question
from paddock.record.annotation import annotate
from paddock.record.answer import answer, chosen
from paddock.record.layout import Home
from tests.waiting import DEADLINE, until


@pytest.fixture
def asked(home: Home) -> Callable[[], list[Question]]:
    def look() -> list[Question]:
        with Catalog.open(home) as catalog:
            catalog.refresh()
            return catalog.questions()

    return look


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    return thread, found


def test_the_answer_comes_back_and_the_question_is_closed(asked, home, read) -> None:
    run = paddock.init()
    thread, found = in_thread(lambda: paddock.ask("Go on?", choices=["yes", "no"], default="no"))
    until(lambda: len(asked()) == 1)
    (question,) = asked()
    assert (question.prompt, question.choices, question.default, question.run) == (
        "Go on?",
        ("yes", "no"),
        "no",
        run.id,
    )
    with pytest.raises(UsageError, match="no answer"):
        answer(home.run(run.id), question, "maybe")
    annotate(home.run(run.id), {"k": "answer", "ask": "another", "text": "no"})
    annotate(home.run(run.id), {"k": "answer", "ask": question.id, "text": "nonsense"})
    assert answer(home.run(run.id), question, "Y") == "yes"
    began = time.monotonic()
    thread.join(DEADLINE)
    assert found == ["yes"] and time.monotonic() - began < 30  # it looks every second
    assert asked() == []
    assert read(run.path).records["answered"][0]["how"] == "answer"


def test_a_timeout_gives_the_default(asked) -> None:
    paddock.init()
    assert paddock.ask("Anyone?", default=3, timeout=0.05) == "3"
    assert paddock.ask("Anyone?", timeout=0) is None
    assert asked() == []


def test_a_question_of_a_dead_process_is_none(asked) -> None:
    paddock.init()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=paddock.ask, args=("Still there?",))
    child.start()
    until(lambda: len(asked()) == 1)
    assert asked()[0].writer.split("-")[-2] == str(child.pid)
    child.kill()
    child.join()
    assert asked() == []


def test_a_secret_is_readable_by_nobody_else(asked, home) -> None:
    run = paddock.init()
    thread, found = in_thread(lambda: paddock.ask("Password?", secret=True))
    until(lambda: len(asked()) == 1)
    before = set(os.listdir(Path(run.path) / "journal"))
    answer(home.run(run.id), asked()[0], "hunter2")
    thread.join(DEADLINE)
    assert found == ["hunter2"]
    (name,) = set(os.listdir(Path(run.path) / "journal")) - before
    assert stat.S_IMODE((Path(run.path) / "journal" / name).stat().st_mode) == 0o600


def test_without_anybody_to_ask_it_says_so(home) -> None:
    with pytest.raises(UsageError, match="nobody to ask"):
        paddock.ask("Hello?")
    assert paddock.ask("Hello?", default="x") == "x"
    with pytest.raises(UsageError, match="-1 is no time span"):
        paddock.ask("Hello?", timeout=-1)


SCRIPT = """
import os, sys, paddock
paddock.init(id="tty")
print("got", paddock.ask("Continue?", choices=["yes", "no"]))
"""


def test_at_a_terminal_it_can_be_typed(home, tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text(SCRIPT)
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, str(script)])
    seen = b""
    for wanted, typed in (
        (b"(tty)", b""),
        (b"Continue? [yes, no]", b"what\n"),
        (b"One of: yes, no", b"n\n"),
        (b"got no", b""),
    ):
        deadline = time.monotonic() + DEADLINE
        while wanted not in seen and time.monotonic() < deadline and select.select([fd], [], [], DEADLINE)[0]:
            seen += os.read(fd, 4096)
        assert wanted in seen, seen
        if typed:
            seen = b""
            os.write(fd, typed)
    os.waitpid(pid, 0)
    os.close(fd)


def test_ctrl_c_ends_the_wait_and_the_question(home, tmp_path: Path, asked, read) -> None:
    script = tmp_path / "asks.py"
    script.write_text(SCRIPT)
    import signal

    process = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until(lambda: len(asked()) == 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE)
    assert b"KeyboardInterrupt" in errors and asked() == []
    assert read(home.run("tty").path).records["answered"][0]["how"] == "interrupted"


@pytest.mark.parametrize(
    ("said", "meant"),
    [("yes", "yes"), ("YES", "yes"), (" n ", "no"), ("yester", "yesterday"), ("ye", None), ("", None), ("nay", None)],
)
def test_what_is_meant(said: str, meant: str | None) -> None:
    assert chosen(said, ("yes", "yesterday", "no")) == meant
