"""An evaluator is its name: what it is called, and what is said when the name is another's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.watched import prepare, save

ONCE = ("--once", "--quiet-time", "0s", "--json")


@pytest.fixture
def out(program: Any) -> Path:
    place = prepare(program)
    (program.cwd / "other.py").write_text("def acc(path):\n    return 1.0\n")
    save(place / "step=1.pt")
    return place


def look(program: Any, *words: str) -> tuple[list[str], list[str]]:
    """The evaluators of what was found, and the remarks."""
    found = program("watch", "out", *ONCE, *words)
    assert found.code == 0, found.err
    return sorted(one["evaluator"] for one in found.json["found"]), found.json["remarks"]


def test_a_name_that_calls_another_function_is_remarked_on_and_another_name_evaluates(program: Any, out: Path) -> None:
    assert look(program, "--eval-existing", "--evaluator", "metrics.py:acc") == (["acc"], [])
    (program.cwd / "metrics.py").write_text("def acc(path):\n    return 2.0\n")
    assert look(program, "--evaluator", "metrics.py:acc") == ([], [])  # edited: the same
    found, remarks = look(program, "--evaluator", "other.py:acc")
    assert found == []
    assert "other.py:acc" in remarks[0]
    assert "--eval-existing" in remarks[0]
    assert look(program, "--evaluator", "other.py:acc") == ([], [])  # said once
    assert look(program, "--eval-existing", "--evaluator", "second:other.py:acc") == (["second"], [])


def test_commands_have_names_of_their_own(program: Any, out: Path) -> None:
    commands = ("--command", "A=1 test -e {path}", "--command", "test -f {path}", "--command", "mine: test -d {path}")
    assert look(program, "--eval-existing", *commands) == (["mine", "test", "test_2"], [])
    assert look(program, *commands) == ([], [])
    found, remarks = look(program, "--command", "mine: test -r {path}")
    assert (found, len(remarks)) == ([], 1)
    again = program("watch", "rescan", "out", "--checkpoint", "out/step=1.pt", "--json")
    assert again.code == 0, again.err


def test_two_functions_of_one_name_are_refused_with_a_way_out(program: Any, out: Path) -> None:
    both = ("--evaluator", "metrics.py:acc", "--evaluator", "other.py:acc")
    found = program("watch", "out", "--once", *both)
    assert found.code == 2
    assert "NAME:file.py:fn" in found.err
    named = ("--evaluator", "metrics.py:acc", "--evaluator", "b:other.py:acc", "--eval-existing")
    assert look(program, *named) == (["acc", "b"], [])
    assert look(program, "--evaluator", "b:other.py:acc") == ([], [])


def test_a_directory_inside_of_another_is_not_watched_twice(program: Any, out: Path) -> None:
    (out / "deep").mkdir()
    (out / ".hidden").mkdir()
    for name in ("deep/a.pt", ".hidden/b.pt"):
        save(out / name)
    (program.cwd / "alias").symlink_to("out/deep")
    words = ("out", "alias", "out/deep", "out/.hidden", "--eval-existing", "--evaluator", "metrics.py:acc")
    found = program("watch", *words, *ONCE)
    assert found.code == 0, found.err
    names = sorted(Path(one["checkpoint"]).name for one in found.json["found"])
    assert names == ["a.pt", "b.pt", "step=1.pt"]
    (remark,) = found.json["remarks"]
    assert "alias is watched with out" in remark
