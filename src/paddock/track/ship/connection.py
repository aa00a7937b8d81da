"""HTTP to a server, over TCP, TLS or a socket file. A connection that broke is made anew at the next call."""

from __future__ import annotations

import http.client
import os
import socket
import zlib
from typing import Any, TypeVar

import msgspec

from paddock import wire
from paddock.address import DEFAULT_PORT, Address, is_trusted
from paddock.errors import PaddockError, Refused, Unreachable
from paddock.track.ship import parcel

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
_LONGEST_ANSWER = 8 << 20
_DEFLATE_BYTES = 2048  # less is not worth it
_NEAR = ("127.", "::1", "localhost")
_LATER = (408, 429, 500, 502, 503, 504, 507)

_Kind = TypeVar("_Kind")


class Connection:
    def __init__(self, address: Address, token: str, *, ca: str = "", seconds: float = ANSWER_SECONDS) -> None:
        self.address, self._token, self._ca, self._seconds = address, token, ca, seconds
        self._connection: http.client.HTTPConnection | None = None
        near = bool(address.path) or not address.host or address.host.startswith(_NEAR)
        self._deflates = not near  # at home the processor is dearer than the line

    def ask(self, files: list[parcel.Ask]) -> parcel.Reply:
        body = wire.dumps(parcel.Question(parcel.VERSION, files))
        return self._reply("state", body, {"Content-Type": "application/json"}, len(files))

    def send(self, header: parcel.Header, data: list[bytes]) -> parcel.Reply:
        body, headers = parcel.encode(header, data), {"Content-Type": parcel.MEDIA_TYPE}
        if self._deflates and len(body) > _DEFLATE_BYTES:
            body, headers["Content-Encoding"] = zlib.compress(body, 1), "deflate"
        return self._reply("parcels", body, headers, len(header.parts))

    def back(self, run: str, known: list[str]) -> list[parcel.Brought]:
        body = wire.dumps(parcel.Back(parcel.VERSION, run, known))
        return self._answer("back", body, {"Content-Type": "application/json"}, list[parcel.Brought])

    def fetch(self, files: list[parcel.Wanted]) -> list[tuple[parcel.Part, memoryview]]:
        """What the server has of these, as far as one answer holds it."""
        body = wire.dumps(parcel.Fetch(parcel.VERSION, files))
        status, answer = self.call("POST", "/api/v1/ship/fetch", body, {"Content-Type": "application/json"})
        if status != 200:
            raise error_of(status, answer, self.address)
        try:
            header, data = parcel.decode(answer)
        except PaddockError:
            raise self._stranger() from None
        return list(zip(header.parts, data, strict=True))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _reply(self, what: str, body: bytes, headers: dict[str, str], count: int) -> parcel.Reply:
        reply = self._answer(what, body, headers, parcel.Reply)
        if len(reply.files) != count:
            raise self._stranger()
        return reply

    def _answer(self, what: str, body: bytes, headers: dict[str, str], kind: type[_Kind]) -> _Kind:
        status, answer = self.call("POST", f"/api/v1/ship/{what}", body, headers)
        if status != 200:
            raise error_of(status, answer, self.address)
        try:
            return msgspec.convert(wire.decode(answer), kind)
        except (wire.DecodeError, UnicodeDecodeError):
            raise self._stranger() from None

    def _stranger(self) -> Unreachable:
        return Unreachable(f"What answers at {self.address.url} is no Paddock server.", hint="Check the address.")

    def call(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        """A kept connection may have died of old age: that one is tried twice. Sending anything twice does no harm."""
        if self._token:
            headers = {**headers, "Authorization": f"Bearer {self._token}"}
        kept = self._connection is not None
        while True:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                try:
                    self._connection.request(method, path, body, headers)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # it may have answered before it had all of it, and says why
                response = self._connection.getresponse()
                answer = response.read(_LONGEST_ANSWER)
                if response.will_close or not response.isclosed():
                    self.close()
                return response.status, answer
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if kept and not isinstance(error, TimeoutError):
                    kept = False
                    continue
                raise Unreachable(f"The server at {self.address.url} does not answer ({self._why(error)}).") from None

    def _connect(self) -> http.client.HTTPConnection:
        address = self.address
        if address.path:
            if not is_trusted(address):
                raise PermissionError(0, f"others may write to {os.path.dirname(address.path)}")
            made: http.client.HTTPConnection = _Socket(address.path)
        elif address.tls:
            context = _trusting(self._ca)
            made = http.client.HTTPSConnection(
                address.host or "localhost", address.port, timeout=CONNECT_SECONDS, context=context
            )
        else:
            made = http.client.HTTPConnection(address.host or "localhost", address.port, timeout=CONNECT_SECONDS)
        made.connect()
        made.sock.settimeout(self._seconds)
        if not address.path:
            made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def _why(self, error: Exception) -> str:
        if message := getattr(error, "verify_message", ""):
            return f"its certificate is not trusted, {message}; PADDOCK_SERVER_CA names a file to check it by"
        if self.address.name and isinstance(error, FileNotFoundError):
            name = self.address.name
            return f"no server on this machine has that name; another machine has a port, {name}:{DEFAULT_PORT}"
        if getattr(error, "reason", "") == "WRONG_VERSION_NUMBER":
            return "it does not speak TLS; http:// does without"
        if isinstance(error, http.client.RemoteDisconnected) and not (self.address.tls or self.address.path):
            return "it closed the connection without an answer; one that speaks TLS is called https://"
        return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _trusting(ca: str) -> Any:
    import ssl

    try:
        return ssl.create_default_context(cafile=ca or None)
    except OSError as error:
        why = "there is no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror or str(error)
        raise Unreachable(
            f"The server's certificate cannot be checked by {ca} ({why}).",
            hint="PADDOCK_SERVER_CA (`server_ca`) names a file of certificates (PEM).",
        ) from None


class _Socket(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=CONNECT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock: Any = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(self._path)
        except OSError:
            self.close()
            raise


def error_of(status: int, answer: bytes, address: Address) -> PaddockError:
    try:
        said = wire.decode(answer)["error"]
        message, hint = str(said["message"]), str(said.get("hint") or "")
    except (wire.DecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        message, hint = f"It answered with status {status}.", "Check the address."
    if status in _LATER:
        return Unreachable(f"The server at {address.url} cannot take it now: {message}", hint=hint)
    if status == 401:
        hint = "Set PADDOCK_TOKEN or PADDOCK_TOKEN_FILE to the server's token, <home>/server/token there."
    return Refused(f"The server at {address.url} refuses: {message}", hint=hint)
