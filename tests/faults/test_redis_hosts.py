"""Two hosts that share a Redis, and no disk: code, runs and orders travel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from paddock.record.layout import Home
from tests.acceptance import bucket
from tests.acceptance.conftest import Program, new_program
from tests.acceptance.watched import QUICK as WATCH_QUICK
from tests.acceptance.watched import evaluations, prepare, save
from tests.conformance.backend import QUICK
from tests.faults.harbour import Harbour
from tests.redisserver import RedisServer
from tests.waiting import until, written

ADDRESS = "10.231.0.1"
TRAIN = """
import os, time, paddock
run = paddock.init(name="train")
for step in range(3):
    run.log({"loss": 1.0 / (step + 1)}, step=step)
print("trained in", os.path.basename(os.getcwd()), flush=True)
"""


class Host(Program):
    """The command line on a host with a name and a network of its own, which does not see a directory of the other."""

    def __init__(self, program: Program, namespace: str, hidden: Path) -> None:
        super().__init__(program.home, program.cwd, {**program.environment, **QUICK})
        hide = f"hostname {namespace} && mount -t tmpfs none '{hidden}' && exec \"$@\""
        self.prefix = ["ip", "netns", "exec", namespace, "unshare", "-m", "-u", "sh", "-c", hide, "sh"]

    def start(self, *arguments: str, env: Any = None, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "paddock", *arguments],
            cwd=self.cwd,
            env={**self.environment, **(env or {})},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )


class Two:
    """`one` submits, and has Redis; `two` works."""

    def __init__(self, hosts: tuple[str, str], place: Path) -> None:
        here, there = place / "one", place / "two"
        here.mkdir()
        there.mkdir()
        self.one = Host(new_program(here / "home", here), hosts[0], there)
        self.two = Host(new_program(there / "home", there), hosts[1], here)
        self.namespaces = hosts
        self.redis = RedisServer(here / "redis", host=ADDRESS, prefix=["ip", "netns", "exec", hosts[0]])
        self.url = f"{self.redis.url}?queue=q"
        self.workers: list[subprocess.Popen[str]] = []

    def work(self, *words: str) -> subprocess.Popen[str]:
        self.workers.append(self.two.start("worker", "--grace", "2s", *words, self.url))
        return self.workers[-1]

    def submit(self, *words: str) -> str:
        sent = self.one("submit", "-q", "-Q", self.url, *words)
        assert sent.code == 0, sent.err
        return str(sent.out.strip())

    def states(self) -> dict[str, int]:
        counts: dict[str, int] = self.one("status", "--json", "-Q", self.url).json["queues"][0]["counts"]
        return counts

    def close(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.communicate(timeout=60)
        self.redis.stop()


@pytest.fixture
def two(hosts: tuple[str, str], tmp_path: Path) -> Iterator[Two]:
    made = Two(hosts, tmp_path)
    try:
        yield made
    finally:
        made.close()


def _project(two: Two) -> None:
    (two.one.cwd / "train.py").write_text(TRAIN)
    for words in (["git", "init", "-q"], ["git", "add", "."]):
        subprocess.run(words, cwd=two.one.cwd, check=True)


@pytest.mark.parametrize("store", [False, True], ids=["through the server", "code through a bucket"])
def test_code_and_runs_travel_where_no_disk_is_shared(two: Two, tmp_path: Path, store: bool) -> None:
    if store and not bucket.program():
        pytest.skip("there is no S3 server on this machine")
    _project(two)
    there = Home(tmp_path / "one" / "there")
    prefix = ["ip", "netns", "exec", two.namespaces[0]]
    with ExitStack() as stack:
        server = Harbour(there, host=ADDRESS, prefix=prefix).start()
        stack.callback(server.stop)
        two.two.environment |= server.environment
        if store:
            (tmp_path / "s3").mkdir()
            keys = stack.enter_context(bucket.server(tmp_path / "s3", ADDRESS, prefix))
            for host in (two.one, two.two):
                host.environment |= {**keys, "PADDOCK_CODE_STORE": "s3://snapshots/code"}
        else:
            two.one.environment |= server.environment
        task = two.submit("--", f"{sys.executable} train.py")
        held = (there.path / "code").exists() and any((there.path / "code").glob("*.json"))
        assert held is not store  # the server has the code, or the bucket
        two.work()
        until(lambda: two.states()["done"] == 1)
        assert not (Home(two.one.home).run(task).path / "output").exists()  # nothing of it ran here
        until(lambda: written(there.run(task).path / "output" / "1.log").endswith("trained in work\n"))
        shown = two.one("series", task, "loss", "--json", env={"PADDOCK_HOME": str(there.path)})
        assert shown.code == 0 and "0.5" in shown.out, (shown.out, shown.err)


def test_runs_travel_through_a_bucket_where_there_is_no_server(two: Two, tmp_path: Path) -> None:
    if not bucket.program():
        pytest.skip("there is no S3 server on this machine")
    _project(two)
    (tmp_path / "s3").mkdir()
    with bucket.server(tmp_path / "s3", ADDRESS, ["ip", "netns", "exec", two.namespaces[0]]) as keys:
        for host in (two.one, two.two):
            host.environment |= {**keys, "PADDOCK_CODE_STORE": "s3://snapshots/code"}
        task = two.submit("--", f"{sys.executable} train.py")
        two.work("--one-task")
        assert two.workers[0].wait(90) == 0  # what was left to send is sent
        fetched = two.one("sync", "--all", "--from", "s3://snapshots/code", "--json")
        assert fetched.code == 0 and fetched.json["runs"] == 1, fetched.err
        assert two.one("logs", task).out.endswith("trained in work\n")
        assert "0.5" in two.one("series", task, "loss").out
        assert [run["state"] for run in two.one("ls", "--json").json["runs"]] == ["finished"]
        assert two.one("sync", "--all", "--from", "s3://snapshots/code", "--json").json["runs"] == 0


def test_a_host_that_is_cut_off_ends_its_task_before_another_has_it(two: Two, tmp_path: Path) -> None:
    """The fence is 6 s, the reclaim 10 s. Both write to a directory that they would not share in life."""
    log = tmp_path / "log"
    log.mkdir()
    script = "exec 9> lock; flock -n 9 || touch twice; echo $$ >> all; while true; do sleep 0.05; done"
    task = two.submit("--no-snapshot", "--cwd", str(log), "--", script)
    two.work()
    until(lambda: written(log / "all"))
    drop = ["ip", "netns", "exec", two.namespaces[1], "iptables", "-A", "INPUT", "-j", "DROP"]
    if subprocess.run(drop, capture_output=True).returncode != 0:
        subprocess.run(["ip", "-n", two.namespaces[1], "link", "set", "pd0", "down"], check=True)
    two.workers.append(two.one.start("worker", "--grace", "2s", two.url))
    until(lambda: len((log / "all").read_text().split()) == 2)
    assert not (log / "twice").exists()
    (running,) = json.loads(two.one("status", "--json", "-Q", two.url).out)["queues"][0]["running"]
    assert (running["id"], running["attempt"]) == (task, 2)
    two.one("cancel", "-Q", two.url, task)


def test_an_evaluation_is_left_to_a_worker_that_sees_the_checkpoint(two: Two) -> None:
    """Redis carries the task, and no checkpoints: who has no such disk does not fail it, and does not keep it."""
    out = prepare(two.one)
    two.work()
    until(lambda: two.one("workers", "-Q", two.url).out.count(two.namespaces[1]), 60)
    where = ("--redis_host", ADDRESS, "--redis_port", str(two.redis.port), "--eval_queue_name", "q", "--no-worker")
    watch = two.one.start("watch", "out", "--evaluator", "metrics.py:acc", *where, *WATCH_QUICK)
    two.workers.append(watch)
    until(lambda: any(two.one.home.glob("watches/*/begun")), 60)
    save(out / "step=7.pt", 3)
    until(lambda: f"on {two.namespaces[1]}" in two.one("status", "-Q", two.url).out, 60)  # why it still waits
    two.workers.append(two.one.start("worker", two.url))
    until(lambda: two.states()["done"] == 1, 90)
    assert two.states()["failed"] == 0
    (found,) = evaluations(two.one)
    assert (found["state"], found["step"], found["values"]) == ("done", 7, {"acc": pytest.approx(0.3)})
