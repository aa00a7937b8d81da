"""Sockets to listen on, and the addresses under which they answer."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from paddock.address import Address, netloc, private_socket_directory, socket_directories
from paddock.errors import Refused, UsageError

BACKLOG = 1024


class Listener(NamedTuple):
    socket: socket.socket
    address: Address  # as it was asked for, with the port that it got
    loopback: bool  # it can be reached from this machine only


def listen(address: Address) -> list[Listener]:
    """Several for a name that stands for several addresses."""
    return [_unix(address)] if address.path else _tcp(address)


def _tcp(address: Address) -> list[Listener]:
    if not address.host:
        return [_everywhere(address)]
    found: list[Listener] = []
    port, refused = address.port, None
    for family, host in _resolved(address):
        try:
            made = socket.socket(family, socket.SOCK_STREAM)
            try:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a small answer waits 40 ms
                made.bind((host, port))
                made.listen(BACKLOG)
            except BaseException:
                made.close()
                raise
        except OSError as error:
            refused = refused or error
            continue
        port = made.getsockname()[1]
        found.append(Listener(made, address._replace(host=host, port=port), _is_loopback(host)))
    if not found:
        raise _taken(address, refused)
    return found


def _resolved(address: Address) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(address.host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise UsageError(
            f"{address.host!r} is no name of this machine.", hint="`:port` listens on every interface."
        ) from None
    return list(dict.fromkeys((family, str(where[0])) for family, _, _, _, where in found))


def _everywhere(address: Address) -> Listener:
    try:
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        made = socket.create_server(("", address.port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise _taken(address, error) from None
    return Listener(made, address._replace(port=made.getsockname()[1]), False)


def _taken(address: Address, error: OSError | None) -> Refused:
    where = netloc(address.host or "*", address.port)
    if error is not None and error.errno == errno.EADDRINUSE:
        return Refused(
            f"Another program listens on {where}.",
            hint="Name another port with --address, or port 0 for any that is free.",
        )
    if error is not None and error.errno == errno.EACCES:
        return Refused(f"You may not listen on {where}.", hint="Ports below 1024 are for root: take a higher one.")
    why = (error.strerror or str(error)) if error is not None else "no address"
    return Refused(f"Nothing can listen on {where} ({why}).", hint="--address names another one.")


def _is_loopback(host: str) -> bool:
    return host == "::1" or host.startswith("127.")


def _unix(address: Address) -> Listener:
    """A file that a dead server left is taken over; one that somebody answers at is not."""
    path = Path(address.path)
    if address.name:
        directory = next((place for place in socket_directories() if private_socket_directory(place)), None)
        if directory is None:
            raise Refused("There is no directory for sockets that is yours alone.", hint="Name a path: ./NAME.sock.")
        path = directory / path.name
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _bind(made, path)
        made.listen(BACKLOG)
    except BaseException:
        made.close()
        raise
    return Listener(made, address._replace(path=str(path)), True)


def _bind(made: socket.socket, path: Path) -> None:
    """Under a name aside and then renamed: nobody ever meets a socket that others may write to, or that does not
    listen yet because another server was faster."""
    if _answers(path):
        raise Refused(f"A server listens on {path} already.", hint="End it, or take another name.")
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with contextlib.suppress(FileNotFoundError):
            aside.unlink()
        before = os.umask(0o177)
        try:
            made.bind(str(aside))
        finally:
            os.umask(before)
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        too_long = "too long" in str(error)
        why = "its path is too long" if too_long else error.strerror or str(error)
        raise Refused(f"No socket can be made at {path} ({why}).", hint="Take a name without a slash.") from None


def _answers(path: Path) -> bool:
    try:
        kind = path.lstat().st_mode
    except OSError:
        return False
    if not stat.S_ISSOCK(kind):
        raise Refused(f"{path} is there already, and is no socket.", hint="Take another name.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # it is busy
    return True


def answering(listeners: Sequence[Listener], advertise: Sequence[str], tls: bool) -> list[str]:
    """Addresses that answer, the likeliest first: those that were named, then those of every interface."""
    found: list[str] = []
    scheme = "https" if tls else "http"
    for listener in listeners:
        address = listener.address
        if address.path:
            found.append(address.name or f"unix:{address.path}")
            continue
        hosts = _reached(listener)
        found += [f"{scheme}://{name if _has_port(name) else netloc(name, address.port)}" for name in advertise]
        found += [f"{scheme}://{netloc(host, address.port)}" for host in hosts]
    return list(dict.fromkeys(found))


def _reached(listener: Listener) -> list[str]:
    """`0.0.0.0` and `[::]` stand for every interface, and are no address that a client could go to."""
    host = listener.address.host
    if host not in ("", "0.0.0.0", "::"):
        return [host]
    six = listener.socket.family == socket.AF_INET6
    both = six and not listener.socket.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    return [one for one in interfaces() if both or (":" in one) == six] or ["::1"]


def _has_port(name: str) -> bool:
    return name.count(":") == 1 or "]:" in name


def interfaces() -> list[str]:
    """Addresses of this machine that others may reach, then loopback. The one that the way out has comes first."""
    import psutil

    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    found = [
        address.address
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if name in up and address.family in (socket.AF_INET, socket.AF_INET6)
    ]
    usable = [host for host in found if not host.startswith("fe80") and not _is_loopback(host)]
    first = _way_out()
    usable.sort(key=lambda host: (host != first, ":" in host))
    return [*usable, "127.0.0.1"]


def _way_out() -> str:
    """No packet is sent: a UDP socket is only asked which address it would use."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
    except OSError:
        return ""


def names(listeners: Sequence[Listener], advertise: Sequence[str]) -> frozenset[str]:
    """What the server may be called by in a Host header; literal addresses are good anyway."""
    said = {"localhost", "localhost.localdomain", "ip6-localhost", "paddock"}
    said |= {listener.address.name for listener in listeners if listener.address.name}
    said |= {name.rpartition(":")[0] if _has_port(name) else name for name in advertise}
    if any(not listener.loopback for listener in listeners):
        here = socket.gethostname()
        said |= {here, here.partition(".")[0], socket.getfqdn()}
        said |= {listener.address.host for listener in listeners if listener.address.host}
    return frozenset(name.lower().strip("[]") for name in said if name)
