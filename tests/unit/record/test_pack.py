"""Packing a journal keeps every byte, and never touches one that may still grow."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paddock import wire
from paddock.record import pack
from paddock.record.journal import Journal
from paddock.record.scan import journal_files, parse, read_journal

LONG_AGO = 200_000  # seconds


def write(folder: Path, *, end: bool = True, **header) -> Path:
    journal = Journal(folder / "w.jsonl", {"run": "r", "writer": "w", "role": "main", **header})
    journal.append({"k": "columns", "id": 0, "names": ["loss"]})
    for step in range(500):
        journal.write(wire.row_line([0, step, step, 1 / (step + 1)]))
    if end:
        journal.append_now({"k": "end", "code": 0, "reason": "finished"})
    journal.close()
    return journal.path


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def test_a_packed_journal_is_the_same_to_a_reader(tmp_path):
    path = write(tmp_path)
    data = path.read_bytes()
    found = pack.pack_run(tmp_path)
    assert found.journals == 1 and found.before == len(data) and found.after < len(data) / 2
    (file,) = journal_files(tmp_path)
    assert file.packed and read_journal(file) == data
    assert gzip.decompress(Path(file.path).read_bytes()) == data
    assert len(parse(read_journal(file)).tables[0].columns[0]) == 500
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w.jsonl.gz"]
    assert pack.pack_run(tmp_path).journals == 0


def test_a_dry_run_changes_nothing(tmp_path):
    path = write(tmp_path)
    assert pack.pack_run(tmp_path, dry_run=True).journals == 1
    assert list(tmp_path.iterdir()) == [path]


def boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_a_journal_of_a_living_process_is_left_alone(tmp_path):
    path = write(tmp_path, end=False, host=socket.gethostname(), pid=os.getpid(), boot=boot(), start="")
    age(path, 3600)
    assert pack.pack_run(tmp_path).journals == 0


def test_a_journal_of_a_dead_process_of_this_host_is_packed_when_it_has_settled(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    path = write(tmp_path, end=False, host=socket.gethostname(), pid=child.pid, boot=boot(), start="1")
    assert pack.pack_run(tmp_path).journals == 0
    age(path, 3600)
    assert pack.pack_run(tmp_path).journals == 1


def test_a_silent_process_of_another_host_may_be_stopped_and_go_on_next_week(tmp_path):
    path = write(tmp_path, end=False, host="elsewhere", pid=1, boot="other", start="1")
    age(path, LONG_AGO)
    assert pack.pack_run(tmp_path).journals == 0


def test_a_half_written_last_line_waits(tmp_path):
    path = write(tmp_path)
    with open(path, "ab") as file:
        file.write(b'{"k":"no')
    assert pack.pack_run(tmp_path).journals == 0


def test_a_journal_that_grows_while_it_is_packed_stays_as_it_is(tmp_path, monkeypatch):
    path = write(tmp_path)
    real = pack._same

    def grow(aside: Path, data: bytes) -> bool:
        with open(path, "ab") as file:
            file.write(wire.record_line({"k": "mark"}))
        return real(aside, data)

    monkeypatch.setattr(pack, "_same", grow)
    assert pack.pack(path) == -1
    assert list(tmp_path.iterdir()) == [path]


def test_what_does_not_read_back_is_thrown_away(tmp_path, monkeypatch):
    path = write(tmp_path)
    monkeypatch.setattr(pack.gzip, "compress", lambda data, *a, **k: b"nonsense")
    with pytest.raises(OSError, match="read back"):
        pack.pack(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_crash_between_rename_and_removal_leaves_both_and_the_plain_one_counts(tmp_path):
    path = write(tmp_path)
    (tmp_path / "w.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    (file,) = journal_files(tmp_path)
    assert not file.packed
    assert pack.pack_run(tmp_path).journals == 1
    (file,) = journal_files(tmp_path)
    assert file.packed
