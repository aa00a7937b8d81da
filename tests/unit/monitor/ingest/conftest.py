"""A client's home and a server's, with nothing between them: what is sent is packed and unpacked all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import Unreachable
from paddock.monitor.ingest.back import brought, stamp
from paddock.monitor.ingest.store import Store
from paddock.record.layout import Home
from paddock.track.ship import parcel
from paddock.track.ship.carrier import Carrier, send_all
from paddock.track.ship.parcel import Ask, Back, Brought, Header, Reply


class Straight:
    """What Connection is, without a line; `cut` makes the answer to the next parcel get lost."""

    def __init__(self, store: Store) -> None:
        self.store, self.parcels, self.asked = store, 0, 0
        self.cut = False
        self.most = 1 << 30  # bytes that get through at once

    def ask(self, files: list[Ask]) -> Reply:
        self.asked += 1
        return Reply(self.store.id, self.store.answer(files))

    def send(self, header: Header, data: list[bytes]) -> Reply:
        self.parcels += 1
        body = parcel.encode(header, data)
        if len(body) > self.most:
            raise Unreachable("The line broke.")
        found = self.store.take(*parcel.decode(body))
        if self.cut:
            self.cut = False
            raise ConnectionError
        return Reply(self.store.id, found, stamp=stamp(self.store.home, header.parts[0].path.split("/")[1]))

    def back(self, run: str, known: list[str]) -> list[Brought]:
        return brought(self.store.home, Back(1, run, known))


@pytest.fixture(autouse=True)
def _no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", "false")


@pytest.fixture
def there(tmp_path: Path) -> Home:
    return Home(tmp_path / "server")


@pytest.fixture
def store(there: Home) -> Iterator[Store]:
    found = Store(there)
    yield found
    found.close()


@pytest.fixture
def straight(store: Store) -> Straight:
    return Straight(store)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def carrier(home: Home, straight: Straight, said: list[str]) -> Carrier:
    return Carrier(home, straight, lambda _, sentence: said.append(sentence))  # type: ignore[arg-type]


@pytest.fixture
def send(carrier: Carrier) -> Callable[..., str]:
    return lambda *runs: send_all(carrier, runs, lambda _: None)


def same(one: Home, other: Home, run_id: str, **ignored: Any) -> bool:
    """Whether both have the same files of a run, byte by byte."""
    return tree(one.runs / run_id) == tree(other.runs / run_id)


def tree(path: Path) -> dict[str, bytes]:
    hidden = ("shipped.json", ".ship.lock")
    found = [p for p in sorted(path.rglob("*")) if p.is_file() and p.name not in hidden]
    return {str(p.relative_to(path)): p.read_bytes() for p in found}
