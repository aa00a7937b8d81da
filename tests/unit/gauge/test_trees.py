from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from paddock.gauge.host import HostMeter
from paddock.gauge.trees import Entry, TreeMeter, table, trees

BURN = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
TREE = f"""
import subprocess, sys
hold = bytearray(b"x") * (48 << 20)
subprocess.run([sys.executable, "-c", {BURN!r}])
child = subprocess.Popen(["sleep", "60"])
print("ready", flush=True)
sys.stdin.read()
child.kill()
"""


def test_a_tree_is_counted_with_its_children_and_those_that_are_over() -> None:
    began = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", TREE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as root:
        assert root.stdout is not None and root.stdout.readline() == b"ready\n"
        found = trees({root.pid: "task"}, table())["task"]
        cpu, rss, threads, processes = TreeMeter(began).read(found)
        took = time.monotonic() - began
        root.communicate(b"")
    assert processes == 2 and threads == 2
    assert rss is not None and rss > 48 << 20
    assert cpu is not None and cpu * took / 100 >= 0.18  # seconds, most of them of a child that has ended


def test_roots_below_each_other_count_to_themselves() -> None:
    processes = {pid: Entry(pid, pid, parent, 1, 0, 1, 10) for pid, parent in ((2, 1), (3, 2), (4, 3), (5, 2))}
    found = trees({2: "a", 3: "b"}, processes)
    assert {name: sorted(entry.pid for entry in members) for name, members in found.items()} == {
        "a": [2, 5],
        "b": [3, 4],
    }


def test_an_orphan_that_ends_takes_nothing_away_from_the_others() -> None:
    meter = TreeMeter(time.monotonic() - 1)
    meter.read([Entry(2, 2, 1, 100, 0, 1, 0), Entry(9, 9, 1, 900, 0, 1, 0)])
    time.sleep(0.01)
    cpu = meter.read([Entry(2, 2, 1, 150, 0, 1, 0)])[0]
    assert cpu is not None and cpu > 0


def test_the_host_says_what_it_has_and_uses() -> None:
    meter = HostMeter(Path("/"))
    time.sleep(0.05)
    found = meter.read()
    assert found["cpus"] == os.cpu_count()
    assert found["cpu"] is None or 0 <= found["cpu"] <= 100
    assert 0 < found["memory"] < found["memory_total"]
    assert 0 < found["disk"] <= found["disk_total"]
    assert found["host"] == os.uname().nodename and found["load"] >= 0
