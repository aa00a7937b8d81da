"""What strangers send: every call without the right to it, frames without an end, clients that never finish."""

from __future__ import annotations

import collections
import contextlib
import hashlib
import socket
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from paddock.monitor.entrance import guard
from paddock.monitor.http import intake
from paddock.monitor.server import connection
from paddock.monitor.server.app import routes
from paddock.record.layout import Home
from tests.served import TOKEN, Server, served
from tests.unit.monitor.conftest import fill
from tests.waiting import DEADLINE, until

BODIES = {
    "/api/v1/runs/{run}/annotations": b'{"star": true, "tag": ["evil"]}',
    "/api/v1/queues/{queue}/orders": b'{"order": "cancel", "tasks": ["t"]}',
    "/api/v1/runs/{run}/questions/{question}/answer": b'{"text": "yes"}',
}
REFUSED = (401, 403, 421)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Home]]:
    """A server that can be reached from elsewhere."""
    home = Home(tmp_path_factory.mktemp("strict") / "home")
    fill(home)
    with served(home, "0.0.0.0:0") as server:
        yield server, home


def content(home: Home) -> str:
    found = hashlib.blake2b()
    for path in sorted(path for path in home.path.rglob("*") if path.is_file() and "server" not in path.parts):
        found.update(str(path).encode() + path.read_bytes())
    return found.hexdigest()


def paths() -> list[tuple[str, str]]:
    places = {"run": "first", "file": "YQ", "queue": "default", "task": "t", "watch": "w", "question": "q"}
    found = [(route.method, route.path.format_map(collections.defaultdict(lambda: "x", places))) for route in routes()]
    return [(method, path) for method, path in found if not guard.is_open(path)]


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_nothing_is_changed_and_beyond_this_machine_nothing_read_without_the_right_to_it(
    where: str, strict: tuple[Server, Home], home: Home
) -> None:
    with contextlib.ExitStack() as stack:
        if where == "here":
            fill(home)
            server = stack.enter_context(served(home))
        else:
            server, home = strict
        before, count = content(home), 0
        port = server.address.port
        hosts = (f"localhost:{port}", "evil.example", f"localhost.evil.example:{port}")
        origins = ("", f"http://localhost:{port}", "http://evil.example", "null")
        tokens = (None, "", TOKEN + "x", TOKEN[:-1])
        for (method, path), host, origin, token in product(paths(), hosts, origins, tokens):
            if method == "GET" and (where == "here" or origin == "null" or token == ""):
                continue
            headers = {"Origin": origin} if origin else {}
            body = next((body for part, body in BODIES.items() if path.endswith(part.rpartition("/")[2])), b"{}")
            found = server.ask(method, path, body, host=host, token=token, headers=headers)
            assert found.status in REFUSED, (method, path, host, origin, token)
            count += 1
        assert count >= 3 * 4 * 4 * 7
        assert content(home) == before


def test_a_request_without_a_name_is_none(strict: tuple[Server, Home]) -> None:
    for method in ("GET", "DELETE"):
        assert strict[0].ask(method, "/api/v1/runs", host=None).status == 400


def test_a_good_token_does_not_help_another_page_or_another_name(strict: tuple[Server, Home]) -> None:
    server, home = strict
    before = content(home)
    for method, path in paths():
        assert server.ask(method, path, b"{}", host="evil.example").status == 421
        assert server.ask(method, path, b"{}", headers={"Origin": "http://evil.example"}).status == 403
    assert content(home) == before


def test_methods_that_nobody_declared_change_nothing(strict: tuple[Server, Home]) -> None:
    server, home = strict
    before = content(home)
    for method in ("PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "BREW", "OPTIONS"):
        for path in ("/api/v1/runs/first", "/api/v1/runs/first/annotations", "/api/v1/links", "/"):
            found = server.ask(method, path, b'{"star": true}')
            assert found.status in (400, 404, 405), (method, path, found.status)
    assert content(home) == before


def test_every_answer_has_the_headers_that_protect(strict: tuple[Server, Home]) -> None:
    server, _ = strict
    for path, token in (("/api/v1/runs", TOKEN), ("/api/v1/runs", None), ("/nothing", TOKEN), ("/login?code=x", None)):
        headers = server.ask("GET", path, token=token).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer" and "server" not in headers
        assert "access-control-allow-origin" not in headers


# What takes too much


def talk(server: Server, *said: bytes, wait: float = 10.0) -> bytes:
    with server.connect(wait) as line:
        for piece in said:
            line.sendall(piece)
        found = b""
        with contextlib.suppress(ConnectionError, TimeoutError):
            while piece := line.recv(65536):
                found += piece
        return found


def head(path: str, *more: str, method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {TOKEN}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("path", ["/api/v1/runs/first/annotations", "/api/v1/links", "/api/v1/nothing", "/api/v1/runs"])
def test_a_frame_of_a_gibibyte_is_refused_without_reading_it(strict: tuple[Server, Home], path: str) -> None:
    server, _ = strict
    before, began = resident(), time.monotonic()
    found = talk(server, head(path, f"Content-Length: {1 << 30}"), b"x" * 1000)
    status = int(found.split()[1])
    assert status in (201, 404, 405, 413) and b"connection: close" in found.lower()
    assert time.monotonic() - began < 9 and resident() - before < 20 << 20  # it is not waited for, which were 10 s


def test_a_body_without_an_announced_end_is_cut_off(strict: tuple[Server, Home]) -> None:
    server, _ = strict
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    with server.connect() as line, contextlib.suppress(ConnectionError):
        line.sendall(head("/api/v1/runs/first/annotations", "Transfer-Encoding: chunked"))
        for _ in range(4096):
            line.sendall(chunk)
        pytest.fail("it took 256 MB")


def test_a_head_without_an_end_is_refused(strict: tuple[Server, Home]) -> None:
    server, _ = strict
    found = talk(server, b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: " + b"y" * 200_000)
    assert found.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize(
    "said",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",  # TLS to a server without
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0" * 100 + b"\r\n\r\n",
        b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_and_the_server_goes_on(strict: tuple[Server, Home], said: bytes) -> None:
    server, _ = strict
    found = talk(server, said, b"\r\n\r\n", wait=1.0)
    assert not found or found.split()[1][:1] == b"4", found[:100]
    assert server.ask("GET", "/api/v1/health", token=None).status == 200


def test_a_client_that_never_says_what_it_wants_is_let_go(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 2.0)  # in which each has said what it says, on a busy machine too
    home.prepare()
    with served(home) as server:
        lines = []
        for number in range(20):
            lines.append(line := server.connect(DEADLINE))
            if number % 4 == 3:  # the next request of a connection is no other than the first
                line.sendall(head("/api/v1/health", method="GET"))
                said = b""
                while b'"ok":true' not in said:
                    piece = line.recv(4096)
                    assert piece, said
                    said += piece
            line.sendall([b"", b"G", b"GET / HTTP/1.1\r\nHo", b"GET"][number % 4])
        for line in lines:
            with contextlib.suppress(ConnectionError):
                assert not line.recv(4096)
            line.close()


def test_a_body_that_does_not_come_is_given_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "PIECE_SECONDS", 0.2)
    fill(home)
    with served(home) as server:
        found = talk(server, head("/api/v1/runs/first/annotations", "Content-Length: 100"), b"{")
        assert found.startswith(b"HTTP/1.1 504")


def test_a_client_that_does_not_take_its_answer_is_let_go(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SEND_SECONDS", 0.3)
    fill(home)
    (home.run("first").files / "a").write_bytes(b"x" * (32 << 20))
    with served(home) as server, server.connect() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(head("/api/v1/runs/first/files/YQ", method="GET"))
        assert line.recv(1) == b"H"  # its answer has begun, and nobody takes the rest
        until(lambda: not server.serving._server.server_state.connections)
