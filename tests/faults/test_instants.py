"""kill -9, or an error from the disk, at every instant of submit, claim, finish and reclaim: nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from tests.faults.instants import OPERATIONS

SAMPLE = 8  # instants of each operation in `make test`
# Processes of their own only: who takes over looks at every process there is, and each look would be one more instant.
APART = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]
strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: apt install strace")


@cache
def apart() -> list[str]:
    """What a command is started with to see no other processes; nothing where only root can have that."""
    return [] if subprocess.run([*APART, "true"], stderr=subprocess.DEVNULL, check=False).returncode else APART


def run(operation: str, *options: str) -> dict[str, Any]:
    command = [*apart(), sys.executable, "-m", "tests.faults.instants", operation, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=1800, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    print(operation, *options, {key: value for key, value in found.items() if key != "faults"})
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_process_that_kills_itself_at_any_file_it_touches(operation: str, long: bool) -> None:
    found = run(operation, *([] if long else ["--sample", str(SAMPLE)]))
    assert found["faults"] == []
    assert found["cut"] >= (20 if long else SAMPLE - 1)


@strace
@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_kill_at_every_system_call(operation: str) -> None:
    found = run(operation, "--tool", "strace")
    assert found["faults"] == []
    assert found["cut"] >= 30


@strace
@pytest.mark.parametrize(
    "error", ["EIO", *(pytest.param(name, marks=pytest.mark.long) for name in ("ENOSPC", "ESTALE"))]
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_error_from_every_system_call(operation: str, error: str, long: bool) -> None:
    found = run(operation, "--tool", "strace", "--error", error, *([] if long else ["--sample", "3"]))
    assert found["faults"] == []
    assert found["trials"] >= (20 if long else 3)
