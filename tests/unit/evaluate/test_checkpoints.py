"""checkpoints(): each complete one once, in order, none missed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

import paddock
from tests.waiting import until


def save(path: Path, content: str = "") -> Path:
    aside = path.with_name(f".{path.name}")
    with zipfile.ZipFile(aside, "w") as file:
        file.writestr("data", content or path.name)
    return aside.rename(path)


def test_those_that_are_there_come_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (10, 9, 100):
        save(tmp_path / f"step={step}.pt")
    (tmp_path / "half.pt").write_bytes((tmp_path / "step=9.pt").read_bytes()[:-30])
    found = list(paddock.checkpoints(tmp_path, follow=False, quiet_time=0))
    assert [one.step for one in found] == [9, 10, 100]
    os.link(tmp_path / "step=9.pt", tmp_path / "best.pt")  # that is no other one
    assert len(list(paddock.checkpoints(tmp_path, follow=False, quiet_time=0))) == 3


def test_each_comes_once_while_a_training_writes_keeps_and_deletes(tmp_path: Path) -> None:
    seen: list[tuple[int | None, str]] = []

    def train() -> None:
        for step in range(60):
            path = save(tmp_path / f"step={step}.pt", f"weights {step}")
            if step % 3 == 0:  # as soon as anybody knows of it, which is sooner than it is read
                until(lambda n=step: list(tmp_path.glob(f".paddock-pins/*/step={n}.pt")) or len(seen) > n)
                path.unlink()
        save(tmp_path / "end.pt")

    thread = threading.Thread(target=train)
    with paddock.checkpoints(tmp_path, existing=False) as found:
        thread.start()
        for one in found:
            with zipfile.ZipFile(one) as file:
                seen.append((one.step, file.read("data").decode()))
            if one.name == "end.pt":
                break
    thread.join()
    assert [text for step, text in seen if step is not None] == [f"weights {step}" for step in range(60)]
    assert [step for step, _ in seen if step is not None] == list(range(60))
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".paddock-pins")]


def test_what_is_deleted_before_its_turn_is_there_when_its_turn_comes(tmp_path: Path) -> None:
    with paddock.checkpoints(tmp_path, timeout=60) as found:
        save(tmp_path / "step=1.pt")
        assert next(found).step == 1
        save(tmp_path / "step=2.pt")
        until(lambda: found.seeking.found.qsize() == 1)
        (tmp_path / "step=2.pt").unlink()
        last = next(found)
        with zipfile.ZipFile(last) as file:
            assert (last.step, file.read("data")) == (2, b"step=2.pt")
    assert os.listdir(tmp_path) == ["step=1.pt"]


def test_what_is_deleted_after_it_was_handed_out_can_still_be_opened(tmp_path: Path) -> None:
    with paddock.checkpoints(tmp_path, timeout=60) as found:
        save(tmp_path / "step=1.pt")
        one = next(found)
        (tmp_path / "step=1.pt").unlink()
        assert one.path == str(tmp_path / "step=1.pt")
        with zipfile.ZipFile(one) as file:
            assert file.read("data") == b"step=1.pt"
    assert os.listdir(tmp_path) == []


def test_what_is_written_over_comes_again_and_what_was_there_only_if_wanted(tmp_path: Path) -> None:
    save(tmp_path / "last.pt", "one")
    with paddock.checkpoints(tmp_path, existing=False, timeout=60, quiet_time=0) as found:
        save(tmp_path / "last.pt", "two")
        with zipfile.ZipFile(next(found)) as file:
            assert file.read("data") == b"two"


def test_it_ends_when_none_has_come_for_so_long_and_can_be_closed(tmp_path: Path) -> None:
    assert list(paddock.checkpoints(tmp_path, timeout=0.3)) == []
    found = paddock.checkpoints(tmp_path)
    threading.Timer(0.2, found._looking.over.set).start()
    assert list(found) == []
    assert not [thread for thread in threading.enumerate() if thread.name == "checkpoints"]


def test_one_that_the_trainer_calls_done_comes_at_once(tmp_path: Path) -> None:
    with paddock.checkpoints(tmp_path, quiet_time=3600, timeout=60) as found:
        path = tmp_path / "weights.pt"
        path.write_bytes(b"of no known format")
        paddock.checkpoint_done(path, step=12)
        assert (next(found).step, path.exists()) == (12, True)


def test_a_directory_that_is_not_there_yet_is_awaited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with paddock.checkpoints(tmp_path / "run" / "out", existing=False, timeout=60) as found:
        assert "run/out does not exist yet" in capsys.readouterr().err
        (tmp_path / "prepared").mkdir()
        save(tmp_path / "prepared" / "step=1.pt")
        (tmp_path / "run").mkdir()
        (tmp_path / "prepared").rename(tmp_path / "run" / "out")
        assert next(found).step == 1
        save(tmp_path / "run" / "out" / "step=2.pt")
        assert next(found).step == 2


def test_without_waiting_a_directory_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(paddock.UsageError, match="no directory"):
        paddock.checkpoints(tmp_path / "nowhere", follow=False)
    (tmp_path / "file").touch()
    with pytest.raises(paddock.UsageError, match="is a file"):
        paddock.checkpoints(tmp_path / "file")


def test_one_that_nobody_holds_any_more_looks_no_longer(tmp_path: Path) -> None:
    save(tmp_path / "step=1.pt")
    for one in paddock.checkpoints(tmp_path, quiet_time=0):
        assert one.step == 1
        break
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "checkpoints"])
    assert os.listdir(tmp_path) == ["step=1.pt"]


def test_what_a_killed_process_has_kept_is_let_go_by_the_next(tmp_path: Path) -> None:
    code = """
import os, paddock
for one in paddock.checkpoints("."):
    print(os.listdir(".paddock-pins"), flush=True)
    os.kill(os.getpid(), 9)
"""
    save(tmp_path / "step=1.pt")
    environment = {**os.environ, "PYTHONPATH": str(Path(paddock.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, timeout=120)
    assert len(os.listdir(tmp_path / ".paddock-pins")) == 1
    assert len(list(paddock.checkpoints(tmp_path, follow=False, quiet_time=0))) == 1
    assert os.listdir(tmp_path) == ["step=1.pt"]
