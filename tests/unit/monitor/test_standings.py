"""How watches stand, for a server that is asked again and again."""

from __future__ import annotations

import shutil
from pathlib import Path

from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.ledger.watches import Watch
from paddock.monitor.watches import Standings


def found(ledger: Ledger, *keys: str) -> None:
    ledger.directory.mkdir(parents=True, exist_ok=True)
    for key in keys:
        path = f"/out/{key}.pt"
        ledger.put(Finding(key=key, evaluator="acc", call={"command": "true"}, path=path, fingerprint=key))


def test_what_was_read_once_is_not_read_again(tmp_path: Path) -> None:
    ledger, standings = Ledger(tmp_path), Standings()
    watch = Watch("w", "/out", ledger, {}, ())
    found(ledger, "a", "b")
    assert len(standings.of(watch).evaluations) == 2
    for file in ledger.directory.iterdir():
        file.write_bytes(b"not to be read")
    found(ledger, "c")
    assert [one.finding.key for one in standings.of(watch).evaluations] == ["a", "b", "c"]


def test_a_watch_that_was_removed_and_begun_anew_has_only_what_was_found_since(tmp_path: Path) -> None:
    ledger, standings = Ledger(tmp_path), Standings()
    watch = Watch("w", "/out", ledger, {}, ())
    found(ledger, "a", "b")
    standings.of(watch)
    ledger.directory.rename(tmp_path / "away")
    found(ledger, "c")
    assert [one.finding.key for one in standings.of(watch).evaluations] == ["c"]
    shutil.rmtree(ledger.directory)
    assert standings.of(watch).evaluations == []
