"""What a pod prints, whenever the stream of it is cut."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from paddock.errors import NotFound, Unreachable
from paddock.work.kubernetes import logs
from paddock.work.kubernetes.logs import Lines, follow
from tests.unit.work.kubernetes.test_connection import send, server

TIMED = [
    ("2026-11-19T10:00:00.000000001Z", b"begin\n"),
    ("2026-11-19T10:00:00.5Z", b"same\n"),
    ("2026-11-19T10:00:00.5Z", b"same\n"),
    ("2026-11-19T10:00:01.25Z", b"\n"),
    ("2026-11-19T10:00:00.9Z", b"a moment late\n"),
    ("2026-11-19T10:00:01.75Z", "größer 2026-11-19T10:00:00Z\n".encode()),
    ("2026-11-19T10:00:02Z", b"same\n"),
    ("2026-11-19T10:00:07Z", b"later\n"),
    ("2026-11-19T10:00:07.9Z", b"no end of line"),
]
PRINTED = b"".join(text for _, text in TIMED)


def served(since: str = "") -> bytes:
    """As a kubelet serves it: what is of that second or later."""
    return b"".join(f"{at} ".encode() + text for at, text in TIMED if at[:19] >= since[:19])


def test_the_times_are_taken_off_wherever_the_pieces_are_cut() -> None:
    whole = served()
    for first, second in itertools.combinations(range(len(whole)), 2):
        lines = Lines()
        pieces = (whole[:first], whole[first:second], whole[second:])
        assert b"".join(map(lines.feed, pieces)) + lines.close(last=True) == PRINTED


def test_wherever_it_is_cut_nothing_comes_twice_and_nothing_is_lost() -> None:
    for first in range(len(served()) + 1):
        for second in range(0, len(served()) + 1, 7):
            lines = Lines()
            found = lines.feed(served()[:first]) + lines.close()
            lines.again()
            found += lines.feed(served(lines.since)[:second]) + lines.close()
            lines.again()
            found += lines.feed(served(lines.since)) + lines.close(last=True)
            assert found == PRINTED, (first, second)


def test_what_has_no_times_is_printed_as_it_is() -> None:
    lines = Lines()
    text = b"2026 was a year\n\nx\n" + b"y" * 100 + b"\nabc"
    assert b"".join(lines.feed(text[i : i + 1]) for i in range(len(text))) + lines.close(last=True) == text
    assert lines.since == "" and lines.printed


class Pod:
    """An API server with one pod: it cuts each stream of its log after so many bytes."""

    def __init__(self, cuts: list[int], phases: list[str], *, timed: bool = True) -> None:
        self.cuts, self.phases, self.timed = cuts, phases, timed
        self.asked: list[dict[str, str]] = []

    def __call__(self, handler: BaseHTTPRequestHandler, before: int) -> None:
        parts = urlsplit(handler.path)
        if not parts.path.endswith("/log"):
            phase = self.phases.pop(0) if len(self.phases) > 1 else self.phases[0]
            found = {"status": {"phase": phase}} if phase else {"message": "pods not found"}
            send(handler, 200 if phase else 404, found)
            return
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.asked.append(query)
        cut = self.cuts.pop(0) if self.cuts else None
        if cut == -1:
            send(handler, 500, {"message": "the kubelet is away"})
            return
        data = served(query.get("sinceTime", "")) if self.timed and query.get("timestamps") else PRINTED
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in (data[:cut][:9], data[:cut][9:]):
            if piece:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if cut is None:
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = True


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "REST_SECONDS", 0.01)


def whole(pieces: Iterator[bytes]) -> bytes:
    return b"".join(pieces)


@pytest.mark.parametrize("phases", [["Running", "Running", "Running", "Succeeded"], ["Failed"]])
def test_a_stream_that_is_cut_is_asked_for_again(client: Any, phases: list[str]) -> None:
    pod = Pod([100, 40, -1, 0], phases)
    with server(pod) as (where, _):
        assert whole(follow(client(where.port), "p")) == PRINTED
    assert "sinceTime" not in pod.asked[0] and all(query["sinceTime"] for query in pod.asked[1:])


def test_a_pod_that_is_removed_meanwhile_is_over(client: Any) -> None:
    pod = Pod([len(served())], [""])
    with server(pod) as (where, _):
        assert whole(follow(client(where.port), "p")) == PRINTED


def test_where_no_times_are_told_nothing_comes_twice(client: Any) -> None:
    pod = Pod([], ["Running"], timed=False)
    with server(pod) as (where, _):
        assert whole(follow(client(where.port), "p")) == PRINTED
    assert len(pod.asked) == 1


def test_a_log_that_was_never_there_is_an_error(client: Any) -> None:
    with server(Pod([-1], ["Running"])) as (where, _), pytest.raises(Unreachable, match="the kubelet is away"):
        whole(follow(client(where.port), "p"))
    missing = lambda handler, before: send(handler, 404, {"message": 'pods "p" not found'})  # noqa: E731
    with server(missing) as (where, _), pytest.raises(NotFound):
        whole(follow(client(where.port), "p"))
