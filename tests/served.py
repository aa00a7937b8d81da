"""A server in a thread of the test, and a client that says exactly what it is told to say."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from paddock import settings
from paddock.address import Address, parse
from paddock.monitor.house import House
from paddock.monitor.server.app import MODULES
from paddock.monitor.server.serving import Plan, Serving
from paddock.record.layout import Home
from tests.waiting import DEADLINE

TOKEN = "a-token-of-the-tests-0123456789"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"]["code"])


@dataclass(frozen=True)
class Server:
    address: Address
    serving: Serving
    token: str = TOKEN
    url: str = field(default="")

    @property
    def house(self) -> House:
        return self.serving.house

    def connect(self, timeout: float = 20.0) -> socket.socket:
        if self.address.path:
            found = socket.socket(socket.AF_UNIX)
            found.settimeout(timeout)
            found.connect(self.address.path)
            return found
        return socket.create_connection((self.address.host or "127.0.0.1", self.address.port), timeout)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = TOKEN,
        headers: Sequence[tuple[str, str]] | Mapping[str, str] = (),
        host: str | None = "",
    ) -> Answer:
        """`host` None sends none at all."""
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port or 80)
        connection.sock = self.connect()
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        try:
            connection.putrequest(method, path, skip_host=host != "", skip_accept_encoding=True)
            if host:
                connection.putheader("Host", host)
            if token is not None:
                connection.putheader("Authorization", f"Bearer {token}")
            for name, value in headers.items() if isinstance(headers, Mapping) else headers:
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str, **kwargs: Any) -> Any:
        """The JSON of an answer that must be good."""
        found = self.ask("GET", path, **kwargs)
        assert found.status == 200, (path, found.status, found.body[:500])
        return found.json


@contextmanager
def served(
    home: Home,
    address: str = "127.0.0.1:0",
    *,
    modules: Sequence[str] = MODULES,
    advertise: Sequence[str] = (),
    also: Sequence[Home] = (),
) -> Iterator[Server]:
    house = House([home, *also], settings.load(home=home.path), TOKEN)
    serving = Serving(house, Plan([parse(address)], advertise, modules=modules))
    ready = threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            serving.run(ready.set)
        except BaseException as error:
            failures.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    found = Server(serving.listeners[0].address, serving, url=serving.urls[-1])
    thread.start()
    try:
        assert ready.wait(DEADLINE) and not failures, failures
        yield found
    finally:
        serving.stop()
        thread.join(DEADLINE)
    assert not thread.is_alive()
    assert not failures, failures
