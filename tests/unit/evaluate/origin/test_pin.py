"""Content is kept while it is needed, and no longer; where it cannot be kept, that is said once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.origin.look import PINS, look
from paddock.evaluate.origin.pin import pin, pins, unpin
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import DirectoryQueue
from paddock.record.layout import Home


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """On another filesystem, to which no hard link leads."""
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no other filesystem")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
        yield Path(path)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def watcher(home: Home, queue: DirectoryQueue, out: Path, said: list[str], clock: Clock) -> Watching:
    options = Options(compile_pattern(DEFAULT_PATTERN), (Evaluator("acc", {"function": "m.acc"}),), quiet=0.0)
    return Watching(home, str(out), queue, options, lambda path: "train", said.append, clock=clock)


def test_two_that_pin_the_same_content_agree(out: Path) -> None:
    (out / "a.pt").write_text("one")
    here = look(str(out / "a.pt"))
    assert here is not None
    assert pin(here, "k") == pin(here, "k") != ""
    assert list(pins(str(out))) == ["k"]
    unpin(pin(here, "k"))
    assert not (out / PINS).exists()


def test_nothing_but_a_pin_is_ever_removed(out: Path) -> None:
    (out / "a.pt").write_text("one")
    unpin(str(out / "a.pt"))
    unpin("")
    assert (out / "a.pt").exists()


def test_where_no_links_can_be_made_it_is_said_once_and_evaluated_all_the_same(
    home: Home, queue: DirectoryQueue, out: Path, elsewhere: Path
) -> None:
    said: list[str] = []
    watching = watcher(home, queue, out, said, Clock())
    watching.look()
    for number in (1, 2):
        (elsewhere / f"{number}.pt").write_text(f"content {number}")
        os.symlink(elsewhere / f"{number}.pt", out / f"step={number}.pt")
        watching.look()
        watching.look()
    assert sum("hard links cannot be made" in text for text in said) == 1
    assert len(queue.list().places) == 2
    assert not (out / PINS).exists()


def test_the_pin_of_a_task_that_is_gone_is_released_when_two_looks_agree(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    clock = Clock()
    watching = watcher(home, queue, out, [], clock)
    watching.look()
    (out / "step=1.pt").write_text("one")
    watching.look()
    (place,) = queue.list().places
    watching.look()
    assert (out / PINS).exists()
    queue.file(place).unlink()
    watching.look()
    assert (out / PINS).exists()
    clock.now += 5
    watching.look()
    assert not (out / PINS).exists()


def test_what_was_pinned_by_one_who_died_before_it_was_entered_is_evaluated(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    """Although its name is gone by now."""
    clock = Clock()
    watching = watcher(home, queue, out, [], clock)
    watching.look()
    (out / "step=7.pt").write_text("seven")
    here = look(str(out / "step=7.pt"))
    assert here is not None
    pin(here, watching._upkeep.pin_name(watching.ledger.key("acc", "bytes:5:" + _digest(b"seven"), here.path)))
    (out / "step=7.pt").unlink()
    again = watcher(home, queue, out, [], clock)
    again.look()
    clock.now += 5
    again.look()
    (place,) = queue.list().places
    assert queue.read(place).task.config["step"] == 7


def _digest(data: bytes) -> str:
    from hashlib import blake2b

    return blake2b(data, digest_size=12).hexdigest()
