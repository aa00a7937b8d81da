"""What the kernel tells, and what it does not."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.vigil import Vigil
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from tests.waiting import until

EVENTS = Path("/proc/sys/fs/inotify/max_queued_events")


def save(path: Path) -> None:
    aside = path.with_name(f".{path.name}")
    with zipfile.ZipFile(aside, "w") as file:
        file.writestr("data", path.name)
    aside.rename(path)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def watching(home: Home, out: Path, said: list[str]) -> Watching:
    queue = find_queue("evaluation", home)
    queue.prepare()
    options = Options(compile_pattern(DEFAULT_PATTERN), (Evaluator("acc", {"function": "m.acc"}),), quiet=0.0)
    return Watching(home, str(out), queue, options, lambda path: "train", said.append)


@pytest.fixture
def vigil(watching: Watching) -> Vigil:
    return Vigil([watching], 3600.0)


def keep(vigil: Vigil, done: object) -> None:
    """Until that is the case; an hour passes before everything is looked at again."""
    until(lambda: vigil.keep(_once()) or done())  # type: ignore[operator, func-returns-value]


def _once() -> object:
    answers = iter([False, True])
    return lambda: next(answers)


def test_what_comes_by_a_rename_is_found_when_the_kernel_tells_of_it(vigil: Vigil, out: Path, said: list[str]) -> None:
    vigil.keep(_once())  # type: ignore[arg-type]
    save(out / "step=1.pt")
    (out / "new" / "er").mkdir(parents=True)
    keep(vigil, lambda: len(said) == 1)
    save(out / "new" / "er" / "step=2.pt")
    keep(vigil, lambda: len(said) == 2)


def test_events_that_the_kernel_had_to_drop_lose_nothing(vigil: Vigil, out: Path, said: list[str]) -> None:
    most = int(EVENTS.read_text())
    if most > 100_000:
        pytest.skip(f"this kernel keeps {most} events")
    (out / "deep").mkdir()
    vigil.keep(_once())  # type: ignore[arg-type]
    junk = out / "junk"
    for _ in range(most // 3 + 10):  # each is made, closed and deleted
        os.close(os.open(junk, os.O_CREAT | os.O_WRONLY))
        os.unlink(junk)
    save(out / "deep" / "step=1.pt")  # nobody tells of this one
    keep(vigil, lambda: said)
    assert len(said) == 1
    save(out / "deep" / "step=2.pt")  # and afterwards they tell again
    keep(vigil, lambda: len(said) == 2)


def test_on_a_disk_of_the_network_listings_find_what_nobody_tells_of(
    watching: Watching, out: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.evaluate.watching.vigil.is_local", lambda path: False)
    vigil = Vigil([watching], 0.05)
    vigil.keep(_once())  # type: ignore[arg-type]
    (out / "new" / "er").mkdir(parents=True)
    save(out / "step=1.pt")
    save(out / "new" / "er" / "step=2.pt")
    keep(vigil, lambda: len(said) == 2)
    assert not any(vigil._wakes.watched(post) for post in vigil._posts)
