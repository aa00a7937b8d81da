"""Complete is what the user says is: by a marker, or by a command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.evaluate.completeness.rule import AGAIN_SECONDS, Asking, Completeness, Rule, judge_markers
from paddock.evaluate.origin.look import Look, look
from tests.waiting import until


def seen(path: Path) -> Look:
    found = look(str(path))
    assert found is not None
    return found


def checkpoint(path: Path) -> Path:
    path.mkdir()
    (path / "weights").write_bytes(b"w" * 10)
    return path


def test_a_marker_inside_of_a_directory_completes_it(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "a")
    rule = Completeness(Rule(("_SUCCESS",)))
    assert "missing" in rule.judge(seen(path)).why
    (path / "_SUCCESS").touch()
    found = rule.judge(seen(path))
    assert (found.complete, found.quiet) == (True, 0.0)


def test_a_marker_beside_speaks_for_the_one_that_it_names(tmp_path: Path) -> None:
    one, two = checkpoint(tmp_path / "a[1]"), checkpoint(tmp_path / "b")
    (tmp_path / "a[1].done").touch()
    assert judge_markers(seen(one), ["{name}.done"]).complete
    assert not judge_markers(seen(two), ["{name}.done"]).complete
    (tmp_path / "_SUCCESS").touch()  # of the directory of all checkpoints: says nothing of one of them
    assert not judge_markers(seen(two), ["_SUCCESS"]).complete


def test_a_marker_beside_a_file_completes_it(tmp_path: Path) -> None:
    path = tmp_path / "step=1.bin"
    path.write_bytes(b"w")
    assert not judge_markers(seen(path), ["{stem}.ok", "_SUCCESS"]).complete
    (tmp_path / "step=1.ok").touch()
    assert judge_markers(seen(path), ["{stem}.ok", "_SUCCESS"]).complete
    (tmp_path / "step=1.ok").rename(tmp_path / "finished-17")
    assert judge_markers(seen(path), ["finished-*"]).complete


def test_an_old_marker_says_nothing_of_what_was_written_over(tmp_path: Path) -> None:
    path = tmp_path / "last.bin"
    path.write_bytes(b"w")
    (tmp_path / "last.bin.done").touch()
    after = os.stat(tmp_path / "last.bin.done").st_mtime_ns + 10**9
    os.utime(path, ns=(after, after))
    found = judge_markers(seen(path), ["{name}.done"])
    assert (found.complete, "older" in found.why) == (False, True)


def test_half_a_file_is_complete_when_its_marker_says_so(tmp_path: Path) -> None:
    """What the user says replaces what the format shows: it may be a format that looks like another."""
    path = tmp_path / "a.pt"
    path.write_bytes(b"PK\x03\x04 no archive at all")
    assert not Completeness().judge(seen(path)).complete
    (tmp_path / "a.pt.done").touch()
    assert Completeness(Rule(("{name}.done",))).judge(seen(path)).complete


def test_a_command_is_asked_off_the_way_and_again_after_a_while(tmp_path: Path) -> None:
    path, clock = tmp_path / "it's.pt", [0.0]
    path.write_bytes(b"w")
    asking = Asking("test -f {path}.ready", 60.0, clock=lambda: clock[0])
    assert asking.judge(seen(path)).why == "the command has not answered yet"
    asking.wait()
    assert asking.judge(seen(path)).why == "the command ended with exit code 1"
    (tmp_path / "it's.pt.ready").touch()
    assert not asking.judge(seen(path)).complete  # it was asked just now
    clock[0] += AGAIN_SECONDS
    asking.judge(seen(path))
    asking.wait()
    found = asking.judge(seen(path))
    assert (found.complete, found.quiet) == (True, 0.0)


def test_an_answer_is_for_the_content_that_was_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "last.pt"
    path.write_bytes(b"w")
    asking = Asking("true {path}", 60.0)
    asking.judge(seen(path)), asking.wait()
    assert asking.judge(seen(path)).complete
    path.write_bytes(b"other")
    assert not asking.judge(seen(path)).complete


def test_a_command_that_hangs_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(b"w")
    asking = Asking(f"sleep 600 & echo $! > {tmp_path}/pid; : {{path}}; sleep 600", 0.3)
    asking.judge(seen(path)), asking.wait()
    assert "more than 0.3 s" in asking.judge(seen(path)).why
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not os.path.exists(f"/proc/{pid}") or "Z" in Path(f"/proc/{pid}/stat").read_text())


@pytest.mark.parametrize("rule", [Rule(("",)), Rule(("/abs",)), Rule(("../up",)), Rule((), "test -f x")])
def test_a_rule_that_cannot_be_meant_is_a_sentence(rule: Rule) -> None:
    with pytest.raises(UsageError):
        rule.check()
