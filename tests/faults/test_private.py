"""A job on two hosts with a disk each, and no server named: the main process has one, and one run comes of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.catalog.catalog import Catalog
from paddock.model import RunRow
from paddock.record.layout import Home
from paddock.record.process import exists
from tests.faults.harbour import environment
from tests.waiting import DEADLINE, until

TOKEN = "a-secret-of-all-ranks-0123456789"

# The main process of a job of two nodes. Its worker is on the other one: another network, another disk.
MAIN = """
import json, os, subprocess, sys
import paddock
from paddock.monitor.progress import Progress
run = paddock.init(id="main")
worker = '''
import logging, paddock
from paddock.monitor.progress import Progress
with Progress.new(total=3, msg="far") as progress:
    for i in range(3):
        paddock.log({"far": i})
        progress.advance(1)
'''
elsewhere = {**os.environ, "PADDOCK_HOME": sys.argv[1], "PADDOCK_RUN_HOME": "/nowhere/to/be/seen"}
subprocess.run([*sys.argv[2:], sys.executable, "-c", worker], env=elsewhere, check=True)
server = run._server
print(json.dumps([os.environ.get("PADDOCK_SERVER"), server and server._process.pid]), flush=True)
"""

RANK = """
import os
import paddock
run = paddock.init(project="ranks")
for step in range(50):
    run.log({f"rank{run.rank}": step})
run.finish()
print(run.id)
"""


def row(home: Home, run: str) -> RunRow:
    with Catalog.open(home) as catalog:
        catalog.refresh()
        return catalog.run(run)


def test_the_main_process_of_a_job_on_two_hosts_has_a_server_by_itself(
    hosts: tuple[str, str], home: Home, tmp_path: Path, script
) -> None:
    one, two = hosts
    (path := tmp_path / "main.py").write_text(MAIN)
    words = ["ip", "netns", "exec", one, sys.executable, path, tmp_path / "scratch", "ip", "netns", "exec", two]
    environ = environment(home, {}, SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="2")
    done = subprocess.run(words, env=environ, stdout=subprocess.PIPE, timeout=DEADLINE, check=True)
    url, pid = json.loads(done.stdout)
    assert url.startswith("http://10.231.0.1:")
    until(lambda: not exists(pid, ""))
    found = row(home, "main")
    assert found.metrics["far"].last == 2 and found.state == "finished"
    assert not list((home.path / "server").glob("private-*")), "the token went with it"


@pytest.mark.parametrize("why", ["one host", "a server named", "not wanted", "sent nowhere"])
def test_where_it_is_not_needed_there_is_none(home: Home, script, tmp_path: Path, why: str) -> None:
    more = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "1" if why == "one host" else "2"}
    more |= {"PADDOCK_SERVER": "127.0.0.1:1"} if why == "a server named" else {}
    more |= {"PADDOCK_SERVE": "false"} if why == "not wanted" else {}
    more |= {"PADDOCK_MODE": "offline"} if why == "sent nowhere" else {}
    source = "import paddock\nrun = paddock.init(id='main')\nprint(run._server)"
    process = script(source, env=environment(home, {}, PADDOCK_SHIP_SECONDS="0", **more), stdout=subprocess.PIPE)
    assert process.communicate(timeout=DEADLINE)[0] == b"None\n"


def ranks(hosts: tuple[str, str], homes: tuple[Home, Home], path: Path, **more: str) -> list[tuple[str, str]]:
    """What each of two ranks on two hosts printed to both streams."""
    (script := path / "rank.py").write_text(RANK)
    started = []
    for number, (host, home) in enumerate(zip(hosts, homes, strict=True)):
        about = {"RANK": str(number), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "GROUP_WORLD_SIZE": "2"}
        about |= {"MASTER_ADDR": "10.231.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "x", **more}
        words = ["ip", "netns", "exec", host, sys.executable, str(script)]
        environ = environment(home, {}, PADDOCK_CAPTURE_CODE="false", PADDOCK_SHIP_SECONDS="60", **about)
        started.append(subprocess.Popen(words, env=environ, stdout=-1, stderr=-1, text=True))
    said = [process.communicate(timeout=DEADLINE) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    return said


def test_ranks_that_share_a_secret_meet_at_the_first_one(hosts: tuple[str, str], home: Home, tmp_path: Path) -> None:
    said = ranks(hosts, (home, Home(tmp_path / "other")), tmp_path, PADDOCK_TOKEN=TOKEN)
    (run,) = {out.strip() for out, _ in said}
    assert {name: last.last for name, last in row(home, run).metrics.items()} == {"rank0": 49, "rank1": 49}


def test_ranks_without_a_secret_in_common_are_told_what_to_do(
    hosts: tuple[str, str], home: Home, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other")
    (out, first), (_, second) = ranks(hosts, (home, other), tmp_path)
    assert "what the ranks of other hosts write stays there" in first and "PADDOCK_TOKEN, the same secret" in first
    assert second == ""
    assert set(row(home, out.strip()).metrics) == {"rank0"} and set(row(other, out.strip()).metrics) == {"rank1"}
