"""A kept connection, to a server that is busy, closes it or says nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from paddock.work.kubernetes.access import Access
from paddock.work.kubernetes.connection import Connection

Reply = Callable[[BaseHTTPRequestHandler, int], None]


@contextmanager
def server(reply: Reply) -> Iterator[tuple[Access, list[str]]]:
    """`reply` gets the handler and how many requests there were before; the requests come back."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(f"{self.command} {self.path} {self.headers.get('Authorization')}")
            reply(self, len(seen) - 1)

        do_POST = do_GET

        def log_message(self, *words: Any) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield Access("127.0.0.1", made.server_port, "/before", tls=False, token="t"), seen
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


def send(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for key, value in {"Content-Length": str(len(data)), **headers}.items():
        handler.send_header(key, value)
    handler.end_headers()
    handler.wfile.write(data)


def test_a_question_has_our_token_and_the_servers_path_before_it() -> None:
    with server(lambda handler, before: send(handler, 200, {"a": 1})) as (where, seen):
        assert Connection(where).ask("GET", "/version").body == {"a": 1}
    assert seen == ["GET /before/version Bearer t"]


def test_a_token_that_is_renewed_in_its_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with server(lambda handler, before: send(handler, 200, {})) as (where, seen):
        connection = Connection(replace(where, token_file=str(file)))
        connection.ask("GET", "/none-there-yet")
        file.write_text("new\n")
        connection.ask("GET", "/renewed")
    assert [line.rpartition(" ")[2] for line in seen] == ["t", "new"]


def test_a_server_that_is_too_busy_is_asked_again() -> None:
    def reply(handler: BaseHTTPRequestHandler, before: int) -> None:
        send(handler, 200 if before else 429, {}, **{"Retry-After": "0"})

    with server(reply) as (where, seen):
        assert Connection(where).ask("POST", "/jobs", {}).status == 200
    assert len(seen) == 2


def test_what_may_have_been_done_is_not_sent_twice_for_a_503() -> None:
    with server(lambda handler, before: send(handler, 503, {"message": "away"})) as (where, seen):
        assert Connection(where).ask("POST", "/jobs", {}).said == "away"
    assert len(seen) == 1


def test_a_kept_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    def reply(handler: BaseHTTPRequestHandler, before: int) -> None:
        send(handler, 200, {"n": before})
        handler.close_connection = True  # without a word of it in the answer

    with server(reply) as (where, _):
        connection = Connection(where)
        assert [connection.ask("GET", "/x").body["n"] for _ in range(3)] == [0, 1, 2]


def test_an_answer_that_is_no_json_is_said_as_it_is() -> None:
    with server(lambda handler, before: send(handler, 502, b"Bad  gateway\n")) as (where, _):
        found = Connection(where).ask("GET", "/x")
    assert (found.good, found.said, found.reason) == (False, "Bad gateway", "")


def test_a_stream_comes_in_pieces() -> None:
    def reply(handler: BaseHTTPRequestHandler, before: int) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"one\n")
        handler.wfile.flush()
        release.wait(20)
        handler.wfile.write(b"two\n")
        handler.close_connection = True

    release = threading.Event()
    with server(reply) as (where, _), Connection(where).stream("/log") as (status, pieces):
        assert (status, next(pieces)) == (200, b"one\n")  # before there is a second one
        release.set()
        assert b"".join(pieces) == b"two\n"


def test_nobody_there_is_an_error_of_the_system() -> None:
    with server(lambda handler, before: None) as (where, _):
        pass
    with pytest.raises(OSError):
        Connection(where).ask("GET", "/version")
