"""What stands in for LogRecord.__init__ while lines are kept holds what Python's own holds."""

from __future__ import annotations

import logging
import pickle
import sys
import threading
from typing import Any

import pytest

from paddock.track.lines import logged, logrecord

OWN = logging.LogRecord.__init__
NOT_AT_ONCE = ("created", "msecs", "relativeCreated")  # two records are not made in the same microsecond
known = pytest.mark.skipif(sys.version_info[:2] != logrecord.KNOWN, reason="Python's own stays there")


def held(initialise: Any, *given: Any, **named: Any) -> dict[str, Any]:
    record = logging.LogRecord.__new__(logging.LogRecord)
    initialise(record, *given, **named)
    return {name: value for name, value in vars(record).items() if name not in NOT_AT_ONCE}


@pytest.fixture
def installed() -> Any:
    logged.install()
    yield
    logged.remove()


@known
@pytest.mark.parametrize(
    "given",
    [
        ("a.b", 20, "/x/y/train.tar.py", 3, "step %d", (5,), None),
        ("a", 35, "train.py", 3, "%(a)s", ({"a": 1},), None),
        ("a", 20, "train.py", 3, "%s", ({},), None),
        ("a", 20, "train.py", 3, "no arguments", (), None),
        ("a", 20, "train.py", 3, ValueError("an object"), None, (None, None, None)),
        ("a", 20, None, 3, "no path", (), None),
        ("a", 20, ["no", "path"], 3, "a path that is none", (), None),
        ("a", 20, "/x/.hidden", 3, "two", (1, 2), None),
        ("a", "LEVEL", b"/x/bytes.py", 3, "bytes", ([],), None),
    ],
)
def test_a_record_holds_what_pythons_own_holds(given: tuple[Any, ...]) -> None:
    for _ in range(2):  # the second time the path is known
        named = {"func": "train", "sinfo": "Stack", "extra": "ignored"}
        assert held(logrecord.initialise, *given, **named) == held(OWN, *given, **named)


@known
def test_it_does_so_in_threads_and_with_what_users_turn_off(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("a", 20, "train.py", 3, "text", (), None)
    found: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: found.extend(held(f, *given) for f in (logrecord.initialise, OWN)))
    thread.start()
    thread.join()
    assert found[0] == found[1] and found[0]["threadName"] == thread.name
    for flag in ("logThreads", "logProcesses", "logMultiprocessing"):
        monkeypatch.setattr(logging, flag, False)
        assert held(logrecord.initialise, *given) == held(OWN, *given)


@known
def test_its_times_belong_together() -> None:
    own, ours = logging.LogRecord.__new__(logging.LogRecord), logging.LogRecord.__new__(logging.LogRecord)
    OWN(own, "a", 20, "train.py", 3, "text", (), None)
    logrecord.initialise(ours, "a", 20, "train.py", 3, "text", (), None)
    began = [record.created - record.relativeCreated / 1000 for record in (own, ours)]
    assert abs(began[0] - began[1]) < 1e-5
    assert ours.msecs == int(ours.created % 1 * 1000)


@known
def test_a_record_is_pickled_as_ever_and_all_is_put_back(installed: None) -> None:
    assert logging.LogRecord.__init__ is logrecord.initialise
    record = logging.getLogger("a").makeRecord("a", 20, "train.py", 3, "step %d", (5,), None)
    assert type(record) is logging.LogRecord and b"paddock" not in pickle.dumps(record)
    logged.remove()
    assert logging.LogRecord.__init__ is OWN


def test_what_somebody_else_put_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(self: Any, *given: Any, **named: Any) -> None:
        OWN(self, *given, **named)

    monkeypatch.setattr(logging.LogRecord, "__init__", other)
    logged.install()
    try:
        assert logging.LogRecord.__init__ is other
    finally:
        logged.remove()
    assert logging.LogRecord.__init__ is other
