"""What a person reads when a verb cannot go on."""

from __future__ import annotations

import errno
import os

import pytest

from paddock.cli.failure import report


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "ulimit -n"),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), "ulimit -n"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
    ],
)
def test_a_limit_of_the_system_asks_for_no_report(
    error: Exception, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error, as_json=False) == 1
    said = capsys.readouterr().err
    assert words in said and "unexpectedly" not in said and "report" not in said
