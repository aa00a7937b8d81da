"""Where a server is: `host:port`, `:port`, a port, `http(s)://host:port`, or a bare name for a socket file.

The same text works on both sides. `:port` is every interface for a server and this machine for a client.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from paddock.errors import UsageError

DEFAULT_PORT = 8642
LOOPBACK = "127.0.0.1"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?|[0-9A-Fa-f:.]+(%[A-Za-z0-9._-]+)?")
_MACHINE = re.compile(r"\d+(\.\d+){3}|localhost")
_FORMS = "Write host:port, :port, a port, http://host:port, or a name without a colon for a socket on this machine."


class Address(NamedTuple):
    """`host` is empty for every interface; `path` is the socket's file, and then there is no host."""

    host: str = ""
    port: int = 0
    tls: bool = False
    path: str = ""
    name: str = ""  # of the socket, when it was given by its name

    @property
    def url(self) -> str:
        """As a client writes it."""
        if self.path:
            return f"unix:{self.path}"
        return f"http{'s' if self.tls else ''}://{netloc(self.host or 'localhost', self.port)}"


def netloc(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse(text: str | int) -> Address:
    if isinstance(text, int) and not isinstance(text, bool):
        return Address(LOOPBACK, _port(str(text), str(text)))
    said = str(text).strip()
    if said.isascii() and said.isdigit():
        return Address(LOOPBACK, _port(said, said))
    if said.startswith(("http://", "https://")):
        return _url(said)
    if said.startswith("unix:"):
        return _socket(said, said.removeprefix("unix:").removeprefix("//"))
    if "://" in said:
        raise UsageError(f"{said!r} is no address.", hint=_FORMS)
    if "/" in said:
        return _socket(said, said)
    if ":" not in said:
        if not _NAME.fullmatch(said):
            raise UsageError(f"{said!r} is no address.", hint=_FORMS)
        if _MACHINE.fullmatch(said):  # nobody means a socket of that name
            raise UsageError(f"{said!r} has no port.", hint=f"Write {said}:{DEFAULT_PORT}.")
        return Address(path=str(named_socket(said)), name=said)
    host, _, port = said.rpartition(":")
    return Address(_host(host, said), _port(port, said))


def _url(said: str) -> Address:
    try:
        parts = urlsplit(said)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"{said!r} is no address.", hint=_FORMS) from None
    if not host or parts.username or parts.query or parts.fragment or parts.path.strip("/"):
        raise UsageError(f"{said!r} is no address of a server.", hint=_FORMS)
    tls = parts.scheme == "https"
    return Address(_host(host, said), (443 if tls else 80) if port is None else port, tls)


def _host(host: str, said: str) -> str:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if bare == "*":
        return ""
    if bare and (not _HOST.fullmatch(bare) or (":" in bare and bare == host and not said.startswith("http"))):
        raise UsageError(f"{said!r} is no address.", hint=_FORMS + " An IPv6 address stands in brackets: [::1]:8642.")
    return bare


def _port(port: str, said: str) -> int:
    if not port.isascii() or not port.isdigit() or int(port[:6]) > 65535:
        raise UsageError(f"{said!r} has no port from 0 to 65535.", hint=_FORMS)
    return int(port)


def _socket(said: str, path: str) -> Address:
    if not path or "\0" in path:
        raise UsageError(f"{said!r} is no address.", hint=_FORMS)
    return Address(path=os.path.abspath(os.path.expanduser(path)))


def named_socket(name: str) -> Path:
    """The socket's file of this name: the one that is there, else where a server makes it. The places depend on the
    user alone, not on TMPDIR or the like, so that a job and a shell mean the same file by one name."""
    places = socket_directories()
    found = [place / f"{name}.sock" for place in places]
    return next((path for path in found if path.exists()), found[0])


def socket_directories() -> list[Path]:
    runtime = Path(f"/run/user/{os.getuid()}")
    places = [runtime / "paddock"] if _mine(runtime) else []
    return [*places, Path(f"/tmp/paddock-{os.getuid()}")]


def is_trusted(address: Address) -> bool:
    """A path is what its user says it is. By a name, in a directory that somebody else has made, somebody else may
    listen, and would be sent the token."""
    directory = Path(address.path).parent
    return not address.name or not directory.exists() or _mine(directory)


def _mine(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def private_socket_directory(path: Path) -> bool:
    """Make the directory of sockets; False when it is not ours alone: others may write to /tmp too."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return _mine(path)
