"""What only a real cluster shows: why a Job waits, who is refused, what is deleted, and the verbs of `paddock k8s`.

PADDOCK_TEST_K8S names the kubeconfig of a cluster of kubernetes.py; `make test-kubernetes` starts one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.queue.directory import find_queue
from paddock.queue.show.view import tasks
from paddock.record.layout import Home
from tests.acceptance.conftest import new_program
from tests.cluster.apiserver import make_room, remove
from tests.cluster.kubernetes import AUDIT, free_port
from tests.waiting import DEADLINE, until

CONFIG = os.environ.get("PADDOCK_TEST_K8S", "")
PROGRAM = os.path.join(os.path.dirname(sys.executable), "paddock")
pytestmark = pytest.mark.skipif(not CONFIG, reason="PADDOCK_TEST_K8S names no cluster")

COUNT = int(os.environ.get("PADDOCK_TEST_TASKS", "1000"))  # now: each test has an environment of its own


def kubectl(*arguments: str, given: str = "") -> str:
    argv = ["kubectl", f"--kubeconfig={CONFIG}", *arguments]
    return subprocess.run(argv, input=given, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def program(home: Home, tmp_path: Path) -> Iterator[Any]:
    make_room(CONFIG, cpus=64)
    made = new_program(home.path, tmp_path)
    made.environment["KUBECONFIG"] = CONFIG
    yield made
    remove(CONFIG, "app.kubernetes.io/managed-by=paddock")


def url(place: str = "test/default", *options: str, image: str = "any/image:1") -> str:
    return f"k8s://{place}?" + "&".join([f"image={image}", f"program={PROGRAM}", *options])


def submit(program: Any, on: str, *words: str) -> tuple[str, Any]:
    found = program("submit", "--no-snapshot", "--on", on, *words)
    assert found.code == 0, found.err
    return found.out.split()[-1], found


def state(program: Any, on: str, task: str) -> str:
    program("status", "-Q", on)
    found = {entry.id: entry.state for entry in tasks(on, home=Home(program.home))}
    return found.get(task, "gone")


def test_an_image_that_cannot_be_pulled_is_named_and_the_task_is_still_queued(program: Any) -> None:
    on = url(image="no/such:image")
    task, _ = submit(program, on, "--", "true")
    why = until(lambda: _why(program, task, "ImagePullBackOff"))
    assert "check its name, its tag and pull_secret" in why
    assert state(program, on, task) == "queued"
    assert program("cancel", "-Q", on, task).code == 0
    assert task not in kubectl("get", "jobs", "-o", "name")


def _why(program: Any, task: str, word: str) -> str | None:
    found = program("k8s", "status", "--json").json["jobs"]
    return next((one["about"] for one in found if one["task"] == task and word in one["about"]), None)


def test_what_no_node_has_is_said_by_status_and_by_events(program: Any) -> None:
    on = url()
    task, _ = submit(program, on, "--gpus", "99", "--", "true")
    assert "Insufficient nvidia.com/gpu" in until(lambda: _why(program, task, "Unschedulable"))
    found = program("k8s", "events", task)
    assert "FailedScheduling" in found.out and "Insufficient nvidia.com/gpu" in found.out
    assert program("cancel", "-Q", on, task).code == 0


def test_a_secret_that_is_missing_is_named(program: Any) -> None:
    task, _ = submit(program, url("test/default", "secrets=KEY=nothing-here/key"), "--", "true")
    assert "nothing-here" in until(lambda: _why(program, task, "CreateContainerConfigError"))


@pytest.mark.parametrize(
    ("place", "code", "said", "hint"),
    [
        ("stranger/default", 9, "forbid", "can-i create jobs"),
        ("nowhere/default", 0, "No cluster answers", "cluster-info"),
        ("no-such-context/default", 9, "no context", "get-contexts"),
        ("test/no-such-namespace", 9, "no namespace", "get namespaces"),
    ],
)
def test_a_cluster_that_refuses_or_is_away_costs_nothing_but_time(
    program: Any, place: str, code: int, said: str, hint: str
) -> None:
    on = url(place)
    found = program("submit", "-q", "--no-snapshot", "--on", on, "--", "true")
    task = found.out.strip()
    assert found.code == code and said in found.err and hint in found.err
    assert "Traceback" not in found.err
    assert [entry.state for entry in tasks(on, home=Home(program.home)) if entry.id == task] == ["queued"]


def test_a_word_that_kubernetes_does_not_know_is_refused_before_anything_is_queued(program: Any) -> None:
    found = program("submit", "--on", url("test/default", "colour=red"), "--", "true")
    assert found.code == 2 and "colour" in found.err
    assert not list(Path(program.home).glob("queues/*/queued/*"))


def test_cancel_deletes_the_job_and_what_belongs_to_it(program: Any) -> None:
    on = url()
    task, _ = submit(program, on, "--", "sleep 600")
    until(lambda: state(program, on, task) == "active")
    assert program("cancel", "-Q", on, task).code == 0
    assert state(program, on, task) == "gone"
    assert task not in kubectl("get", "jobs,pods", "-o", "name")
    until(lambda: task not in kubectl("get", "configmaps", "-o", "name"))  # by its owner's end


def test_a_job_that_somebody_deletes_is_lost_and_another_one_runs(program: Any) -> None:
    on = url()
    flag = program.cwd / "flag"
    task, _ = submit(program, on, "--", f"echo x >> {flag}; test $(wc -l < {flag}) -ge 2 || sleep 600")
    until(flag.exists)
    kubectl("delete", "jobs", "-l", f"paddock.dev/task={task}", "--cascade=foreground")
    until(lambda: state(program, on, task) == "done")
    (entry,) = tasks(on, home=Home(program.home))
    assert entry.file is not None
    assert [attempt.outcome for attempt in entry.file.attempts] == ["lost", "done"]


def test_a_job_that_takes_longer_than_its_time_has_timed_out(program: Any) -> None:
    on = url()
    task, _ = submit(program, on, "--time", "2s", "--", "sleep 600")
    until(lambda: state(program, on, task) == "failed")
    (entry,) = tasks(on, home=Home(program.home))
    assert entry.file is not None
    assert entry.file.attempts[-1].outcome == "timed out"


def test_gpus_selectors_and_secrets_reach_the_pod(program: Any) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"key": "pss't"}}
    kubectl("apply", "-f", "-", given=json.dumps(secret))
    on = url("test/default", "select=disk=ssd", "secrets=KEY=keys/key")
    out = program.cwd / "out"
    task, _ = submit(program, on, "--gpus", "2", "--", f'echo "$KEY $CUDA_VISIBLE_DEVICES" > {out}')
    until(lambda: state(program, on, task) == "done")
    assert out.read_text() == "pss't 0,1\n"


def asked() -> list[str]:
    """What Paddock has asked of the API server until now, as its audit log has it."""
    found = map(json.loads, (Path(CONFIG).parent / AUDIT).read_text().splitlines())
    return [
        f"{one['verb']} {one.get('objectRef', {}).get('resource', one['requestURI'])}"
        for one in found
        if one.get("userAgent") == "paddock"
    ]


def test_a_look_is_one_list_of_jobs_and_one_of_pods_however_many_tasks_there_are(program: Any) -> None:
    on = url("test/default", "select=disk=none")  # no node has it: they wait
    found = program("submit", "-q", "--no-snapshot", "--on", on, "--grid", f"n=1..{COUNT}", "--", "true {n}")
    assert found.code == 0, found.err
    queue = find_queue(on, Home(program.home))
    label = f"paddock.dev/queue={(queue.path / '.k8s-queue').read_text().strip()}"
    until(lambda: len(kubectl("get", "pods", "-l", label, "-o", "name").split()) == COUNT)
    before = len(asked())
    found = program("status", "-Q", on, "--json")
    assert found.code == 0 and found.json["queues"][0]["counts"]["queued"] == COUNT
    assert asked()[before:] == ["list jobs", "list pods"]
    assert len(kubectl("get", "jobs", "-l", label, "-o", "name").split()) == COUNT


def running(*words: str) -> list[bytes]:
    """The command lines of processes that have all of these in theirs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            found.append(path.read_bytes())
    return [line for line in found if all(os.fsencode(word) in line for word in words)]


def test_who_logs_in_by_a_program_is_served_through_kubectl(program: Any) -> None:
    on, sockets = url("program/default"), program.cwd / "sockets"  # of whom we start: others may run kubectl, too
    sockets.mkdir()
    program.environment["TMPDIR"] = str(sockets)
    out = program.cwd / "out"
    task, _ = submit(program, on, "--", f"echo ran > {out}")
    until(lambda: state(program, on, task) == "done")
    assert out.read_text() == "ran\n"
    name = program("k8s", "run", "-q", "--on", on, "--detach", "--", "echo one; sleep 1; echo two").out.strip()
    assert program("k8s", "logs", "--on", on, "-f", name).out == "one\ntwo\n"
    until(lambda: not running("kubectl", "proxy", str(sockets)))


def test_code_comes_from_the_server_and_the_run_arrives_there(program: Any, tmp_path: Path) -> None:
    """Three homes: where it is submitted, the server's, and the pod's own, which goes with the pod."""
    (tmp_path / "far").mkdir()
    far = new_program(tmp_path / "far-home", tmp_path / "far")
    address = f"127.0.0.1:{free_port()}"
    serving = far.start("serve", "--address", address, start_new_session=True)
    try:
        kept = tmp_path / "far-home" / "server" / "token"
        until(kept.exists)
        name = f"server-{os.getpid()}"
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
        kubectl("apply", "-f", "-", given=json.dumps({**secret, "stringData": {"token": kept.read_text().strip()}}))
        work = tmp_path / "work"
        work.mkdir()
        (work / "value.py").write_text("VALUE = 42\n")
        script = "import paddock, value\nwith paddock.init() as run:\n    run.log({'score': value.VALUE}, step=1)\n"
        (work / "train.py").write_text(script + "print('trained', value.VALUE)\n")
        program.cwd = work
        program.environment |= {"PADDOCK_SERVER": f"http://{address}", "PADDOCK_TOKEN": kept.read_text().strip()}
        on = url("test/default", f"server=http://{address}", f"token={name}/token")
        made = program("submit", "-q", "--on", on, "--", f"{sys.executable} train.py")
        assert made.code == 0, made.err
        task = made.out.strip()
        (work / "value.py").unlink()  # what is here now is not what was submitted
        until(lambda: state(program, on, task) in ("done", "failed"))
        assert state(program, on, task) == "done", program("show", "-Q", on, task).out
        assert not Home(program.home).run(task).path.exists()
        (run,) = far("ls", "--json").json["runs"]
        assert (run["id"], run["state"]) == (task, "finished")
        (curve,) = far("series", task, "score", "--json").json["series"]
        assert (curve["steps"], curve["values"]) == ([1], [42.0])
        assert "trained 42" in far("logs", task).out
    finally:
        serving.send_signal(signal.SIGINT)
        serving.communicate(timeout=DEADLINE)


def test_scale_starts_as_many_workers_as_a_queue_needs_and_they_leave_by_themselves(program: Any) -> None:
    name = f"scale-{os.getpid()}"
    room = {"storage": "1Gi"}
    common = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {**common, "capacity": room, "hostPath": {"path": str(program.home)}}
    claim = {**common, "resources": {"requests": room}, "volumeName": name}
    for kind, spec in (("PersistentVolume", volume), ("PersistentVolumeClaim", claim)):
        made = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
        kubectl("apply", "-f", "-", given=json.dumps(made))
    for _ in range(5):
        assert program("submit", "--no-snapshot", "-Q", "pile", "--", "sleep 0.5").code == 0
    on = url("test/default", f"home={name}:{program.home}")
    assert program("scale", on, "--max", "2", "--once", "--json", "pile").json["started"] == 2
    assert program("scale", on, "--max", "2", "--once", "--json", "pile").json["started"] == 0
    assert program("wait", "-Q", "pile", "--timeout", "90s").code == 0
    pilots = ["-l", "paddock.dev/role=pilot", "-o", "jsonpath={.items[*].status.active}"]
    until(lambda: kubectl("get", "jobs", *pilots) == "")
    assert program("scale", on, "--max", "2", "--once", "--json", "pile").json["started"] == 0
    refused = program("scale", url(), "--max", "2", "--min", "1", "--once", "pile")
    assert refused.code == 2 and "home" in refused.err


def test_run_shows_what_a_command_prints_and_ends_with_its_exit_code(program: Any) -> None:
    odd = 'it\'s "$HOME" `date` é 漢'
    found = program("k8s", "run", "--image", "any:1", "--", "printf", "%s", odd)
    assert (found.code, found.out) == (0, odd)
    found = program("k8s", "run", "--image", "any:1", "--name", "run-four", "--", "exit 4")
    assert found.code == 4
    until(lambda: "run-four" not in kubectl("get", "pods", "-o", "name"))


def test_a_detached_pod_is_found_by_logs_wait_and_cancel(program: Any) -> None:
    made = program("k8s", "run", "-q", "--image", "any:1", "--detach", "--", "echo one; sleep 2; echo two")
    name = made.out.strip()
    assert program("k8s", "logs", "-f", name).out == "one\ntwo\n"
    assert program("k8s", "logs", "--tail", "1", name).out == "two\n"
    assert program("k8s", "wait", name).code == 0
    other = program("k8s", "run", "-q", "--image", "any:1", "--detach", "--", "sleep 600").out.strip()
    assert program("k8s", "wait", other, "--timeout", "1s").code == 11
    assert program("k8s", "cancel", other).code == 0
    assert other not in kubectl("get", "pods", "-o", "name")


def test_a_dry_run_is_checked_by_the_server_and_leaves_nothing_behind(program: Any) -> None:
    found = program("submit", "--dry-run", "--json", "--no-snapshot", "--on", url(), "--", "true")
    assert [one["kind"] for one in json.loads(found.out)["objects"]] == ["Job", "ConfigMap"]
    assert "Not checked" not in found.err
    assert not list(Path(program.home).glob("queues/*/queued/*"))
