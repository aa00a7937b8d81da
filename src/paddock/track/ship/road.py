"""How code gets to workers that do not see the home: through a server, or through an object store.

Who submits sends the snapshot before the task is queued; who works fetches it before the task begins. Both are asked by
digest, so what is there already does not travel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from paddock import files, settings
from paddock.address import parse
from paddock.errors import Damaged, MissingExtra, Refused, Unreachable
from paddock.record import travel
from paddock.record.layout import Home
from paddock.record.manifest import manifest_path
from paddock.record.objects import get_object
from paddock.record.token import find_token
from paddock.settings import Settings
from paddock.track.ship import parcel
from paddock.track.ship.carrier import Carrier
from paddock.track.ship.connection import Connection

_AT_ONCE = 512  # objects asked for in one question
_TRIES = 200  # rounds of sending without an end


class Road(Protocol):
    def send(self, home: Home, digest: str) -> None:
        """Have the snapshot at the other end."""

    def fetch(self, home: Home, digest: str) -> None:
        """Have the snapshot here."""


def road(given: Settings, home: Home) -> Road | None:
    """The one that the settings name; None when everybody has to see the same disk."""
    if given.code_store:
        return StoreRoad(given.code_store)
    if given.server:
        return ServerRoad(Connection(parse(given.server), find_token(home), ca=given.server_ca))
    return None


def ship_code(home: Home, digest: str) -> None:
    """Send a snapshot the way that the settings name, if they name one."""
    found = road(settings.load(), home)
    if found is not None:
        found.send(home, digest)


class ServerRoad:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, home: Home, digest: str) -> None:
        carrier = Carrier(home, self._connection, lambda key, text: None)
        carrier.carry_code(digest)
        try:
            self._carry(carrier, digest)
        finally:
            self._connection.close()

    @staticmethod
    def _carry(carrier: Carrier, digest: str) -> None:
        for _ in range(_TRIES):
            step = carrier.step(look=False)
            if carrier.same_home or carrier.has_arrived(digest):
                return
            if step.trouble:
                raise Unreachable(f"The server does not take the code: {step.trouble}.")
        raise Refused("The server does not take the code.", hint="`paddock doctor` may say why.")

    def fetch(self, home: Home, digest: str) -> None:
        try:
            travel.receive(home, digest, lambda: self._whole(f"code/{digest}.json"), self._objects)
        finally:
            self._connection.close()

    def _whole(self, path: str) -> bytes:
        """A file in as many pieces as it takes."""
        found = bytearray()
        while True:
            part, data = self._connection.fetch([parcel.Wanted(path, len(found))])[0]
            if part.total < 0:
                raise Damaged(
                    f"{self._connection.address.url} has no {path[:20]}.",
                    hint="Who submitted the task has to send its code there: PADDOCK_SERVER.",
                )
            found += data
            if len(found) >= part.total:
                return bytes(found)

    def _objects(self, digests: list[str]) -> Iterator[tuple[str, bytes]]:
        for start in range(0, len(digests), _AT_ONCE):
            wanted = {_object(digest): digest for digest in digests[start : start + _AT_ONCE]}
            while wanted:
                before = len(wanted)
                for part, data in self._connection.fetch([parcel.Wanted(path) for path in wanted]):
                    if part.path in wanted and part.total >= 0 and (part.total == len(data)):
                        yield wanted.pop(part.path), bytes(data)
                if len(wanted) == before:  # the first alone is more than fits, or is not there
                    path = next(iter(wanted))
                    yield wanted.pop(path), self._whole(path)


class StoreRoad:
    """A bucket, or any place that fsspec knows: the same names as in a home."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    @property
    def _extra(self) -> str:
        return "gcs" if self._url.startswith(("gs:", "gcs:")) else "s3"

    def send(self, home: Home, digest: str) -> None:
        system, root = self._open()
        if system.exists(f"{root}/code/{digest}.json"):
            return
        for one in travel.contents(home, digest):
            path = f"{root}/{_object(one)}"
            if not system.exists(path):
                self._put(system, path, get_object(home, one))
        self._put(system, f"{root}/code/{digest}.json", files.read_from(manifest_path(home, digest), 0))

    def fetch(self, home: Home, digest: str) -> None:
        system, root = self._open()

        def objects(digests: list[str]) -> Iterator[tuple[str, bytes]]:
            for one in digests:
                yield one, self._get(system, f"{root}/{_object(one)}")

        travel.receive(home, digest, lambda: self._get(system, f"{root}/code/{digest}.json"), objects)

    def sizes(self, under: str) -> list[tuple[str, int]]:
        """Every file below this name, by its own, and how many bytes it has."""
        system, root = self._open()
        try:
            found = system.find(f"{root}/{under}", detail=True)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise Unreachable(f"{self._url} cannot be read ({error}).", hint="Check its credentials.") from None
        start = len(root.rstrip("/")) + 1
        return [(str(name)[start:], int(one["size"])) for name, one in sorted(found.items())]

    def put(self, name: str, data: bytes) -> None:
        system, root = self._open()
        self._put(system, f"{root}/{name}", data)

    def get(self, name: str) -> bytes:
        system, root = self._open()
        return self._get(system, f"{root}/{name}")

    def _open(self) -> tuple[Any, str]:
        try:
            import fsspec.core
        except ImportError:
            raise MissingExtra(self._url, self._extra) from None
        try:
            system, root = fsspec.core.url_to_fs(self._url, use_listings_cache=False)
        except ImportError:
            raise MissingExtra(self._url, self._extra) from None
        except ValueError as error:
            raise Refused(f"code_store={self._url} is no store: {error}.") from None
        return system, str(root)

    def _put(self, system: Any, path: str, data: bytes) -> None:
        try:
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
            system.pipe_file(path, data)
        except Exception as error:  # each kind of store has its own
            raise Unreachable(f"{self._url} does not take the code ({error}).", hint="Check its credentials.") from None

    def _get(self, system: Any, path: str) -> bytes:
        try:
            return bytes(system.cat_file(path))
        except FileNotFoundError:
            raise Damaged(f"{self._url} has no {path.rpartition('/')[2][:20]}.", hint="Submit the task anew.") from None
        except Exception as error:
            raise Unreachable(f"{self._url} cannot be read ({error}).", hint="Check its credentials.") from None


def _object(digest: str) -> str:
    return f"code/objects/{digest[:2]}/{digest[2:]}"
