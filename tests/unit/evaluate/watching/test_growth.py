"""What is known costs nothing: a round looks at what is new."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.origin.look import Look
from paddock.evaluate.origin.scan import AGAIN, DEFAULT_PATTERN, LARGE, Scan, Scanner, compile_pattern
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import find_queue
from paddock.record.layout import Home

MANY = 3 * AGAIN


class Counting:
    """An origin that counts the looks."""

    def __init__(self, origin: object) -> None:
        self._origin, self.looks = origin, 0

    @property
    def directories(self) -> set[str]:
        return self._origin.directories  # type: ignore[attr-defined, no-any-return]

    def scan(self, only: Collection[str] | None = None, named: Collection[str] | None = None) -> Scan:
        return self._origin.scan(only, named)  # type: ignore[attr-defined, no-any-return]

    def look(self, path: str) -> Look | None:
        self.looks += 1
        return self._origin.look(path)  # type: ignore[attr-defined, no-any-return]

    def pin(self, here: Look, key: str) -> str:
        return self._origin.pin(here, key)  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    for number in range(MANY):
        (path / f"step={number}.pt").write_text(f"content {number}")
    return path


@pytest.fixture
def watching(home: Home, out: Path) -> Watching:
    queue = find_queue("evaluation", home)
    queue.prepare()
    options = Options(compile_pattern(DEFAULT_PATTERN), (Evaluator("acc", {"function": "m.acc"}),), quiet=0.0)
    found = Watching(home, str(out), queue, options, lambda path: "train", lambda text: None)
    found.look()
    found._origin = Counting(found._origin)
    return found


def test_one_that_comes_among_many_costs_a_few_looks(watching: Watching, out: Path) -> None:
    counting = watching._origin
    assert isinstance(counting, Counting)
    for number in range(MANY, MANY + 3):
        path = out / f"step={number}.pt"
        path.write_text(f"content {number}")
        counting.looks = 0
        watching.look({str(out)}, (), {str(path)})
        assert 1 <= counting.looks <= 5
    assert len(watching.queue.list().places) == 3


def test_in_a_large_directory_what_comes_and_goes_is_known_by_name(
    tmp_path: Path,
) -> None:
    scanner, out = Scanner(str(tmp_path), compile_pattern(DEFAULT_PATTERN)), str(tmp_path)
    for number in range(LARGE + 1):
        (tmp_path / f"step={number}.pt").touch()
    assert len(scanner.scan().paths) == LARGE + 1
    (tmp_path / "new.pt").touch()
    (tmp_path / "untold.pt").touch()  # which shows that nothing was listed
    (tmp_path / "step=0.pt").unlink()
    named = {f"{out}/{name}" for name in ("new.pt", "step=0.pt", "notes.txt", "step=1.pt")}
    found = scanner.scan({out}, named)
    assert found.touched == {f"{out}/new.pt", f"{out}/step=1.pt"}
    assert len(found.paths) == LARGE + 1 and f"{out}/untold.pt" not in found.paths
    (tmp_path / "checkpoint-5").mkdir()  # a directory is listed with all that is around it
    found = scanner.scan({out}, {f"{out}/checkpoint-5"})
    assert {f"{out}/checkpoint-5", f"{out}/untold.pt"} <= set(found.paths)


def test_a_round_over_everything_looks_at_some_of_the_known_ones_and_each_in_its_turn(
    watching: Watching, out: Path
) -> None:
    """Somebody may write into an old file, where nobody tells of it."""
    counting = watching._origin
    assert isinstance(counting, Counting)
    (out / "step=0.pt").write_text("written over")
    (out / f"step={MANY // 2}.pt").write_text("and this one")
    for _ in range(MANY // AGAIN + 1):
        counting.looks = 0
        watching.look()
        assert counting.looks <= 2 * AGAIN + 20
    assert len(watching.queue.list().places) == 2


def test_a_file_that_takes_a_known_name_is_seen_at_once(watching: Watching, out: Path) -> None:
    (out / "aside").write_text("a new one")
    (out / "aside").rename(out / "step=1.pt")
    watching.look({str(out)}, (), set())
    assert len(watching.queue.list().places) == 1
