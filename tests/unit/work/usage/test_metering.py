"""What a worker sees of its host and of tasks that know nothing of Paddock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.compare.usage.report import read as read_usage
from paddock.record.layout import Home
from paddock.work.usage.hostusage import HostFile, hosts, sweep
from tests.conftest import Reading

# It has its memory, and uses its processor until that was seen: two samples from then on, or a minute.
TASK = """\
import glob, time
x, end = bytearray(b"x") * (30 << 20), time.time() + 60
def seen():
    return sum(open(path, "rb").read().count(b'"k":"usage"') for path in glob.glob(JOURNALS))
before = seen()
while time.time() < end and seen() < before + 2:
    for _ in range(100_000): pass
"""


def work(tmp_path: Path, command: str, seconds: str) -> tuple[Path, str]:
    """The run of a task that a worker has run, and what there was in hosts/ meanwhile."""
    environ = os.environ | {"PADDOCK_WORKER_USAGE_SECONDS": seconds}
    paddock = [sys.executable, "-m", "paddock"]
    listing = f"{command}; cat {tmp_path}/home/hosts/*.json > {tmp_path}/seen 2>/dev/null; true"
    subprocess.run([*paddock, "submit", "--no-snapshot", "--", listing], env=environ, check=True, capture_output=True)
    subprocess.run([*paddock, "worker", "--one-task"], env=environ, check=True, capture_output=True, timeout=120)
    (run,) = (tmp_path / "home" / "runs").iterdir()
    return run, (tmp_path / "seen").read_text()


@pytest.fixture
def beats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The worker's journals are written to more often than in real life."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'worker' in sys.argv:\n    import paddock.work.worker as w\n    w.BEAT_SECONDS = 0.1\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PADDOCK_LEASE_BEAT_SECONDS", "0.2")


def test_a_task_that_never_heard_of_paddock_has_usage(
    tmp_path: Path, beats: None, read: Callable[[Path], Reading]
) -> None:
    (tmp_path / "task.py").write_text(TASK.replace("JOURNALS", repr(f"{tmp_path}/home/runs/*/journal/*")))
    run, seen = work(tmp_path, f"python3 {tmp_path}/task.py", "0.2")
    found = read(run)
    assert found.damaged == 0 and all(record["tree"] for record in found.records["usage"])
    (process,) = read_usage(run).processes
    assert process.label == "all processes"
    assert process.peaks["memory"] > 30 << 20 and process.peaks["cpu"] > 5
    (journal,) = (run / "journal").iterdir()
    assert b'{"k":"end"' in journal.read_bytes().splitlines()[-1]
    host = json.loads(seen)
    assert host["host"] == os.uname().nodename and host["cpus"] == os.cpu_count() and host["gpus"] == []
    assert list((tmp_path / "home" / "hosts").iterdir()) == []  # it went with its worker


def test_a_short_task_has_none_and_with_0_seconds_nothing_is_sampled(
    tmp_path: Path, beats: None, read: Callable[[Path], Reading]
) -> None:
    run, _ = work(tmp_path, "true", "10")
    assert "usage" not in read(run).records
    subprocess.run(["rm", "-r", run], check=True)
    run, seen = work(tmp_path, "sleep 0.3", "0")
    assert "usage" not in read(run).records and seen == ""


def test_the_newest_sample_of_each_host_counts_and_old_files_go(home: Home) -> None:
    assert hosts(home) == []
    for writer, host, load in (("w1", "a", 1), ("w2", "a", 2), ("w3", "b", 3)):
        HostFile(home, writer).write({"host": host, "load": load})
        time.sleep(0.002)  # a sample bears its millisecond
    (home.hosts / "w4.json").write_text("{torn")
    (home.hosts / ".w5.tmp").write_text("{")
    found = hosts(home)
    assert [(host.name, host.writers, host.sample["load"], host.silent) for host in found] == [
        ("a", 2, 2, False),
        ("b", 1, 3, False),
    ]
    old = os.stat(home.hosts / "w3.json").st_mtime - 2 * 24 * 3600
    os.utime(home.hosts / "w3.json", (old, old))
    assert hosts(home)[1].silent
    sweep(home)
    assert [host.name for host in hosts(home)] == ["a"]
