"""Where runs are read from: a home, and its catalog. By itself, because every verb needs it, and few need more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paddock import settings as settings_
from paddock.record.layout import Home, find_home

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog


@dataclass(frozen=True)
class Source:
    """Where the runs of a table came from: the catalog is opened for each question, so that a table can be kept,
    forked and handed to threads."""

    home: Home
    settings: settings_.Settings

    @contextmanager
    def catalog(self) -> Iterator[Catalog]:
        from paddock.catalog.catalog import Catalog

        with Catalog.open(self.home, self.settings) as catalog:
            yield catalog


def source(home: str | Path | Home | None = None) -> Source:
    if isinstance(home, Home):
        return Source(home, settings_.load())
    found = settings_.load(home=home)
    return Source(find_home(found.home), found)
