"""Every format is written slowly, is killed midway, is written over: it is found when it is complete, once, and at no
byte before, however long its writer pauses there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.origin.scan import compile_pattern
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from tests.unit.evaluate.writers import KINDS, Kind

PATTERN = r"^.*\.(pt|pth|ckpt|model|state|safetensors)$"
REST = 10.1  # seconds: as long as any format needs


class Watch:
    """By a clock of its own, so that an hour is a moment."""

    def __init__(self, home: Home, out: Path, **options: object) -> None:
        self.now = 0.0
        self.out = out
        self.said: list[str] = []
        queue = find_queue("evaluation", home)
        queue.prepare()
        chosen = Options(compile_pattern(PATTERN), (Evaluator("acc", {"function": "m.acc"}),), **options)  # type: ignore[arg-type]
        say = self.said.append
        self._watching = Watching(home, str(out), queue, chosen, lambda path: "train", say, clock=lambda: self.now)
        self._watching.look()

    def look(self, pause: float = 0.0) -> list[str]:
        """Now, and after a pause; all that was found or missed so far."""
        self._watching.look()
        self.now += pause
        self._watching.look()
        return self.said


@pytest.fixture
def watch(home: Home, tmp_path: Path) -> Watch:
    out = tmp_path / "out"
    out.mkdir()
    return Watch(home, out)


@pytest.fixture(params=KINDS, ids=[name.replace(" ", "-") for name in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def write(watch: Watch, writing: Iterator[None], pause: float, already: int) -> None:
    for number, _ in enumerate(writing):
        assert len(watch.look(pause)) == already, f"after {number} pieces: {watch.said}"


def test_it_is_found_when_it_is_complete_and_at_no_byte_before(watch: Watch, kind: Kind) -> None:
    write(watch, kind.write(watch.out / kind.name, "one"), kind.pause, 0)
    (said,) = watch.look(REST)
    assert said.startswith("found") and f"/{kind.name}" in said
    assert len(watch.look(3600)) == 1


def test_when_it_is_written_over_it_is_found_again_and_at_no_byte_before(watch: Watch, kind: Kind) -> None:
    path = watch.out / kind.name
    for _ in kind.write(path, "one"):
        pass
    assert len(watch.look(REST)) == 1
    for file in [path, *path.rglob("*")]:
        past = os.stat(file).st_mtime_ns - 60 * 10**9  # it is from another day
        os.utime(file, ns=(past, past))
    watch.look(REST)
    write(watch, kind.write(path, "two"), kind.again or kind.pause, 1)
    assert len(watch.look(REST)) == 2, watch.said
    assert len(watch.look(3600)) == 2


def test_one_that_was_killed_midway_is_neither_found_nor_missed(watch: Watch, kind: Kind) -> None:
    if kind.pause < 3600:
        pytest.skip("nothing in it shows that it is not complete")
    pieces = sum(1 for _ in kind.write(watch.out.with_name("aside") / kind.name, "one"))
    writing = kind.write(watch.out / kind.name, "one")
    for _ in range(pieces * 2 // 3):
        next(writing)
    writing.close()  # type: ignore[attr-defined]
    assert watch.look(3600) == []


def test_one_that_comes_by_a_rename_has_no_need_to_rest(watch: Watch, kind: Kind) -> None:
    aside = watch.out.with_name("aside")
    for _ in kind.write(aside / kind.name, "one"):
        pass
    for file in aside.iterdir():
        if file.name != kind.name:
            file.rename(watch.out / file.name)  # what says that it is complete
    (aside / kind.name).rename(watch.out / kind.name)
    path = str(watch.out / kind.name)
    watch._watching.look({str(watch.out)}, {path}, {path})
    assert len(watch.said) == 1
