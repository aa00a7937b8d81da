"""What killed writers left in the runs."""

from __future__ import annotations

from paddock.record.layout import Home
from paddock.record.leftovers import leftovers


def test_only_what_was_written_aside_counts_and_only_when_it_is_old(home: Home) -> None:
    run = home.runs / "a1"
    left = [
        run / ".run.json.0123456789ab.tmp",
        run / "journal" / ".w.jsonl.gz.0123456789ab.tmp",
        run / "files" / "deep" / ".model.bin.01234567.tmp",
        home.path / "artifacts" / "net" / ".v0.json.0123456789ab.tmp",
    ]
    kept = [run / "run.json", run / "files" / ".mine.tmp", run / "files" / "x.01234567.tmp", run / ".a.0123.tmp"]
    for path in (*left, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
    assert list(leftovers(home)) == []
    assert sorted(leftovers(home, grace=0.0)) == sorted((path, 4) for path in left)
