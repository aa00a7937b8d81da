"""Which runs do the words on the command line mean?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddock.compare.select import parse, select
from paddock.errors import QueryError, RunNotFound
from paddock.model import RunRow

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog

_QUERY = re.compile(r"[=<>~()]|^(has|tag):|\s(and|or|in)\s|^not\s")


def named(catalog: Catalog, names: Sequence[str]) -> list[RunRow]:
    """Runs by id, by the beginning of an id, or by name; each once, in the order they were named."""
    found = [catalog.run(name) for name in names]
    return list({run.id: run for run in found}.values())


class Choice(NamedTuple):
    runs: list[RunRow]
    queried: bool  # and not named, each of them


def named_or_queried(catalog: Catalog, words: Sequence[str]) -> list[RunRow]:
    return choose(catalog, words).runs


def choose(catalog: Catalog, words: Sequence[str]) -> Choice:
    """All words name runs, or all together are one query."""
    try:
        return Choice(named(catalog, words), queried=False)
    except RunNotFound as unknown:
        try:
            query = parse(" ".join(words))
        except QueryError:
            if any(_QUERY.search(word) for word in words):
                raise
            raise unknown from None
    return Choice(select(catalog.runs(), query), queried=True)
