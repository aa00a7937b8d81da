"""Whether this process's run goes to a server, and to which. What that takes is imported only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError, UsageError
from paddock.record.layout import Home, RunDirectory
from paddock.settings import Settings
from paddock.track import notice
from paddock.track.identity import Identity

if TYPE_CHECKING:
    from paddock.address import Address
    from paddock.track.ship.shipper import Shipper


LAUNCH = "launch"  # where the server's address is from, when the first rank of this launch is to have one


def server_of(address: Any, connect: Any) -> str | None:
    """What init(address=, connect=) say about the server; None when they say nothing, "" for none at all."""
    if connect is False:
        return ""
    if connect is not None and connect is not True:
        address = connect
    return None if address is None else str(address)


def is_far(server: str, identity: Identity) -> bool:
    """A child of a run whose directory cannot be seen from here: in another container, on another machine. It writes to
    a home of its own, and sends that."""
    if not server or identity.role != "child" or not identity.home or not identity.run_id:
        return False
    return not Home(Path(identity.home)).run(identity.run_id).path.is_dir()


def brought_here(identity: Identity) -> Identity:
    return replace(identity, home=None)


def join(home: Home, directory: RunDirectory, chosen: Settings, role: str) -> Shipper | None:
    """For a process that writes a run. A child has no end of its own in the record, but one in its life."""
    shipper = start(home, directory, chosen)
    if shipper is not None and role != "main":
        import atexit

        atexit.register(shipper.finish, chosen.ship_seconds)
    return shipper


def address_of(chosen: Settings) -> Address | None:
    """A mistake in it is said before there is a run."""
    if not chosen.server or chosen.mode in ("offline", "dryrun"):
        return None
    from paddock.address import parse

    address = parse(chosen.server)
    if not address.path and not address.port:
        raise UsageError(f"{chosen.server!r} has no port.", hint="A server prints the address that it answers at.")
    return address


def start(home: Home, directory: RunDirectory, chosen: Settings, *, quiet: float | None = None) -> Shipper | None:
    """A token that cannot be read is said in a sentence."""
    address = address_of(chosen)
    if address is None:
        return None
    from paddock.record.token import find_token
    from paddock.track.ship.shipper import Shipper

    try:
        token = find_token(home)
    except PaddockError as error:
        notice.say(str(error))
        token = ""
    return Shipper(
        home, directory, address, token, chosen.server_ca, quiet=quiet, patient=chosen.sources["server"] == LAUNCH
    )


def send_rest(home: Home, directory: RunDirectory, chosen: Settings) -> None:
    """After the run's own process: what it could not send any more, and how it ended."""
    shipper = start(home, directory, chosen, quiet=0.0) if directory.path.is_dir() else None
    if shipper is not None:
        shipper.finish(chosen.ship_seconds)
