"""Code that is read beside the training, because init() did not wait for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddock.record.layout import Home
from tests.waiting import until

TRAIN = """
import sys, time
import paddock
run = paddock.init(id="late")
print("begun", flush=True)
if sys.argv[1:]:
    time.sleep(600)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PADDOCK_CAPTURE_SECONDS", "0")
    path = tmp_path / "project"
    path.mkdir()
    (path / "train.py").write_text(TRAIN)
    return path


def fill(project: Path, files: int) -> None:
    for number in range(files):
        (project / f"module{number}.py").write_text(f"x = {number}")


def _code(home: Home, read: Any) -> list[dict[str, Any]]:
    """As a record of its own; or in run.json, when the thread was done before that was written after all."""
    facts = json.loads((home.runs / "late/run.json").read_text())
    found = [record["code"] for record in read(home.runs / "late").records.get("code", [])]
    return found + ([facts["code"]] if facts.get("code") else [])


def test_it_is_recorded_as_soon_as_it_is_there(project: Path, home: Home, read) -> None:
    fill(project, 20)
    process = subprocess.Popen([sys.executable, "train.py", "stay"], cwd=project, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        until(lambda: _code(home, read))
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
    (code,) = _code(home, read)
    assert code["files"] == 21 and code["script"] == "train.py"


def test_the_end_of_the_run_waits_for_it_and_no_longer_for_its_pauses(project: Path, home: Home, read) -> None:
    fill(project, 2000)  # with the pauses of a capture beside a training: twenty seconds
    subprocess.run([sys.executable, "train.py"], cwd=project, check=True, capture_output=True, timeout=120)
    found = read(home.runs / "late")
    (record,) = found.records["code"]
    assert record["code"]["files"] == 2001
    (opened,), (ended,) = found.records["open"], found.records["end"]
    assert ended["t"] >= opened["t"] and record["t"] <= ended["t"]
    assert "dropped" not in found.records
