"""Two containers on one machine that share a home: they have one boot id and, it may be, one name, but the pids of one
say nothing in the other. Nobody there is taken for dead."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddock
from paddock import wire
from paddock.evaluate.content import whereabouts
from paddock.evaluate.watching.upkeep import is_gone
from paddock.evaluate.winners.hook import Hook
from paddock.record.process import Process, me
from tests.waiting import until

DEAD = 4194305  # larger than any pid


def one(space: str) -> Process:
    here = me()
    return here._replace(pid=DEAD, place=here.place._replace(space=space or here.place.space))


SPACES = pytest.mark.parametrize(("space", "taken"), [("", True), ("pid:[1]", False)])


@SPACES
def test_what_a_watcher_there_has_begun_is_its_own_until_it_is_late(space: str, taken: bool) -> None:
    assert is_gone(str(one(space)), late=False) is taken
    assert is_gone(str(one(space)), late=True)
    assert not is_gone(str(me()), late=True)


@SPACES
def test_what_an_iterator_there_has_kept_is_left_to_it(tmp_path: Path, space: str, taken: bool) -> None:
    kept = tmp_path / ".paddock-pins" / f"iterator~{one(space)}~abcd~0"
    kept.mkdir(parents=True)
    (kept / "step=1.pt").touch()
    assert list(paddock.checkpoints(tmp_path, follow=False)) == []
    assert kept.exists() is not taken


@SPACES
def test_a_command_for_the_best_that_runs_there_is_not_run_again(tmp_path: Path, space: str, taken: bool) -> None:
    who = one(space)
    (tmp_path / "key.begun").write_bytes(wire.dumps({"pid": who.pid, "start": who.start, **who.place._asdict()}))
    hook = Hook(f"touch {tmp_path}/ran", tmp_path, lambda text: None)
    hook.run("key", {})
    until(lambda: not hook.poll())
    assert (tmp_path / "ran").exists() is taken


@SPACES
def test_the_copy_of_an_object_that_an_evaluation_there_reads_stays(tmp_path: Path, space: str, taken: bool) -> None:
    copy = tmp_path / f"key.{one(space)}"
    copy.mkdir()
    whereabouts._sweep(tmp_path)
    assert copy.exists() is not taken
