"""A server's token: made once, for its owner's eyes only, or put there by somebody else."""

from __future__ import annotations

import codecs
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.record.token import ensure, is_exposed

SAID = "x" * 40
SOMEBODY = 65534


@pytest.fixture
def closed() -> Iterator[Path]:
    """A directory that we can look into but not write to; root can write anywhere, and so is somebody else for now."""
    directory = Path(tempfile.mkdtemp())
    (directory / "token").write_text(SAID)
    (directory / "token").chmod(0o440)
    is_root = os.geteuid() == 0
    codecs.lookup("ascii")  # somebody else may not be able to read our Python
    if is_root:
        os.chown(directory / "token", 0, SOMEBODY)
    directory.chmod(0o555)
    if is_root:
        os.setegid(SOMEBODY)
        os.seteuid(SOMEBODY)
    try:
        yield directory
    finally:
        if is_root:
            os.seteuid(0)
            os.setegid(0)
        directory.chmod(0o700)
        (directory / "token").unlink()
        directory.rmdir()


def test_a_token_that_is_there_is_read_also_where_nothing_can_be_written(closed: Path) -> None:
    if os.stat(closed / "token").st_uid == os.geteuid():
        (closed / "token").chmod(0o400)
    assert ensure(closed / "token") == SAID


@pytest.mark.parametrize(
    ("mode", "owner", "exposed"),
    [
        (0o600, 1000, False),
        (0o400, 1000, False),
        (0o640, 1000, True),
        (0o604, 1000, True),
        (0o440, 0, False),  # a Secret of Kubernetes that is mounted with an fsGroup
        (0o444, 0, True),
        (0o460, 0, True),
    ],
)
def test_only_who_put_it_there_for_us_may_let_our_group_read_it(mode: int, owner: int, exposed: bool) -> None:
    assert is_exposed(0o100000 | mode, owner, 1000) is exposed
