"""Whether this process starts a server for its workers, and where the other ranks of its launch find one.

By itself it does so only where it must: the job is on several hosts, the home is a disk of this one, and nobody has
named a server. What that takes is imported only then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from paddock.errors import PaddockError, UsageError
from paddock.record.layout import Home, RunDirectory, find_home
from paddock.settings import FALSE, TRUE, Settings
from paddock.track import active, notice
from paddock.track.identity import Identity
from paddock.track.private import meeting
from paddock.track.ship.joining import LAUNCH

if TYPE_CHECKING:
    from paddock.track.private.server import PrivateServer

AUTO = "auto"
EVERYWHERE = ":0"  # every interface, a port that the kernel chooses
_SILENT = ("offline", "dryrun", "disabled")


def meet(chosen: Settings, identity: Identity, environ: Mapping[str, str] = os.environ) -> Settings:
    """For a rank that is not the first: it sends to the first one's server, which it finds by what all ranks know. On
    the first one's own host it turns out to show the very home that the rank writes to, and nothing is sent."""
    if chosen.server or not identity.rank or not _wanted(chosen, identity, environ):
        return chosen
    if not _on_own_disk(find_home(identity.home or chosen.home)) or not _shared_token():
        return chosen
    address = meeting.place(environ, identity.launch)
    values, sources = {**chosen.values, "server": address}, {**chosen.sources, "server": LAUNCH}
    return msgspec.structs.replace(chosen, values=values, sources=sources)


def check(chosen: Settings) -> None:
    """A mistake in the address is said before there is a run."""
    address = "" if chosen.serve == AUTO else _asked(chosen)
    if address:
        from paddock.address import parse

        parse(address)


def serve(home: Home, run: RunDirectory, identity: Identity, chosen: Settings) -> PrivateServer | None:
    """A server for the workers of this process, which find its address in their environment; it ends with this
    process. Only the main process has one, and of ranks the first."""
    if identity.role != "main" or identity.rank:
        return None
    address = _asked(chosen) if chosen.serve != AUTO else _by_itself(home, identity, chosen)
    if not address:
        return None
    import atexit

    from paddock.address import parse
    from paddock.track.private.server import PrivateServer

    where = parse(address)
    ranked = identity.rank is not None and chosen.serve == AUTO
    server = PrivateServer(home, f":{where.port}" if ranked else address, where.host if ranked else "")
    if ranked:
        server.ended = lambda: _ended(run, identity.world or 0)
    active.export(server.variables)
    atexit.register(server.stop)
    return server


def _ended(run: RunDirectory, world: int) -> bool:
    """Whether every rank has said here that it is at its end."""
    from paddock.record.pack import is_over
    from paddock.record.scan import header, journal_files

    over: dict[int, bool] = {}
    for file in journal_files(run.journals):
        rank = header(file.path, file.packed).get("rank")
        if isinstance(rank, int):
            over[rank] = over.get(rank, True) and (file.packed or is_over(file))
    return len(over) >= world and all(over.values())


def _asked(chosen: Settings) -> str:
    text = str(chosen.serve).strip()
    if text.lower() in FALSE:
        return ""
    return EVERYWHERE if text.lower() in TRUE else text


def _by_itself(home: Home, identity: Identity, chosen: Settings) -> str:
    if chosen.server or not _wanted(chosen, identity, os.environ):
        return ""
    if not _on_own_disk(home):
        return ""
    if identity.rank is None:
        return EVERYWHERE
    address = meeting.place(os.environ, identity.launch)
    if address and _shared_token():
        return address
    notice.say(
        f"this job is on several hosts, and {home.path} is a disk of this one: "
        + "what the ranks of other hosts write stays there. "
        + ("PADDOCK_TOKEN, the same secret for all ranks, has them send it here; or " if address else "")
        + "PADDOCK_SERVER names a server for all."
    )
    return ""


def _wanted(chosen: Settings, identity: Identity, environ: Mapping[str, str]) -> bool:
    if chosen.serve != AUTO or chosen.mode in _SILENT or chosen.sources["server"] == "argument":
        return False
    return meeting.hosts(environ, ranked=identity.rank is not None) > 1


def _on_own_disk(home: Home) -> bool:
    from paddock.record.filesystem import is_local

    return is_local(home.path)


def _shared_token() -> bool:
    """A secret that the first rank would make now could reach the others by no safe way: somebody must have given one
    to all of them."""
    from paddock.record.token import find_token

    try:
        return bool(find_token())
    except UsageError:
        raise
    except PaddockError as error:
        notice.say(str(error))
        return False
