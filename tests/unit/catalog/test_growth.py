"""However a journal grows, and whenever it is looked at, the index says what the journal says."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from paddock import wire
from paddock.catalog.catalog import Catalog
from paddock.catalog.store import Store
from paddock.record.layout import Home

SETS = {0: ("loss",), 1: ("loss", "acc"), 2: ("acc",)}
ROW = st.tuples(
    st.sampled_from(sorted(SETS)), st.integers(-3, 12), st.floats(-9, 9) | st.integers(-9, 9) | st.booleans()
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(ROW, max_size=60),
    declared_after=st.integers(0, 30),
    cuts=st.lists(st.floats(0, 1), max_size=8),
    forget_at=st.integers(0, 12),
)
def test_the_index_says_what_the_journal_says(
    rows: list[tuple[int, int, Any]], declared_after: int, cuts: list[float], forget_at: int
) -> None:
    """Random rows of three column sets, declared at a random place, cut at random bytes, an index lost on the way."""
    lines = [wire.record_line({"k": "open", "t": 1000.0, "role": "main", "host": "h", "pid": 1, "attempt": 1})]
    lines += [wire.row_line([c, step, i, *[value] * len(SETS[c])]) for i, (c, step, value) in enumerate(rows)]
    declarations = [wire.record_line({"k": "columns", "id": c, "names": names}) for c, names in SETS.items()]
    at = 1 + min(declared_after, len(rows))
    data = b"".join([*lines[:at], *declarations, *lines[at:]])
    with tempfile.TemporaryDirectory() as directory:
        home = Home(Path(directory))
        journals = home.runs / "r" / "journal"
        journals.mkdir(parents=True)
        catalog = Catalog(home, Store(None), 20.0)
        written = 0
        for i, cut in enumerate([*sorted(int(cut * len(data)) for cut in cuts), len(data)]):
            with (journals / "w.jsonl").open("ab") as file:
                file.write(data[written:cut])
            written = cut
            if i == forget_at:
                catalog.close()
                catalog = Catalog(home, Store(None), 20.0)
            catalog.refresh()
        with catalog:
            for metric in ("loss", "acc"):
                expected = {step: value for c, step, value in rows if metric in SETS[c]}
                found = catalog.series(["r"], metric).get("r")
                got = dict(zip(found.steps, found.values, strict=True)) if found else {}
                assert got == dict(sorted(expected.items()))
                count = sum(metric in SETS[c] for c, _, _ in rows)
                stat = catalog.run("r").metrics.get(metric)
                assert (stat.count if stat else 0) == count
                if stat:
                    values = [value for c, _, value in rows if metric in SETS[c]]
                    assert (stat.last_step, stat.last) == (max(expected), expected[max(expected)])
                    assert (stat.min, stat.max) == (min(values), max(values))
