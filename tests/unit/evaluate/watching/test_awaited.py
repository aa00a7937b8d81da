"""A directory that is not there yet: what is said of it, and what can never come to be there."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.evaluate.watching.awaited import check, remark


def test_it_is_said_in_one_sentence_with_what_else_is_missing(tmp_path: Path) -> None:
    assert remark("/a/b", lambda path: path).startswith("/a/b does not exist yet, nor does /a: ")
    assert remark(str(tmp_path / "out")) == f"{tmp_path}/out does not exist yet: it is watched as soon as it appears."


@pytest.mark.parametrize(
    ("there", "asked", "meant"),
    [
        ("checkpoints", "checkpoint", "checkpoints"),
        ("exp-large/ckpt", "exp_large/ckpt", "exp-large/ckpt"),
        ("exp-large", "exp_large/ckpt", ""),  # there is nothing of that name in it either
        ("seed1", "seed2", ""),  # that is the next one
        ("lr0.1-seed1", "lr0.01-seed1", ""),
        ("other", "out", ""),
    ],
)
def test_a_slip_is_told_from_a_training_that_has_yet_to_begin(
    tmp_path: Path, there: str, asked: str, meant: str
) -> None:
    (tmp_path / there).mkdir(parents=True)
    question = f" Did you mean {tmp_path}/{meant}?" if meant else ""
    assert remark(f"{tmp_path}/{asked}").partition("appears.")[2] == question


def test_what_can_never_be_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.pt").touch()
    for name, says in (("model.pt", "is a file"), ("model.pt/ckpt", "cannot be there")):
        with pytest.raises(UsageError, match=says):
            check(f"{tmp_path}/{name}", name)
    with pytest.raises(UsageError, match="empty name"):
        check(str(tmp_path), "")
