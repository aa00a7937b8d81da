"""However often the watcher is killed, its rules are kept: nothing twice, nothing good deleted, a best told once."""

from __future__ import annotations

import json
import subprocess
import sys


def test_kills_of_the_watcher_break_no_rule(long: bool) -> None:
    size = ("--checkpoints", "1500", "--kills", "300") if long else ("--checkpoints", "150", "--kills", "30")
    command = [sys.executable, "-m", "tests.faults.watch_rules_storm", "--seed", "1", *size]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=1800, check=False)
    assert json.loads(done.stdout)["faults"] == []
