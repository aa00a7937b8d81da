"""What Slurm is given, tried by a real shell: every string arrives as it was, and a worker's end is understood."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import UsageError
from paddock.queue.task import Task
from paddock.work.slurm.script import KNOWN, Needs, arguments, needs, pilot, script, time_limit

# As the command of a worker: it notes with which words it was called, and ends as it is told.
STUB = """#!/bin/sh
for word; do printf '%s\\0' "$word"; done >> "$STUB_OUT"
printf '%s' "${SLURM_JOB_END_TIME:-none}" > "$STUB_OUT.end"
set -- $STUB_CODES
n=$(cat "$STUB_OUT.n" 2>/dev/null || echo 1)
echo $((n + 1)) > "$STUB_OUT.n"
eval "code=\\${$n:-0}"
[ "$code" = KILL ] && kill -KILL $$
exit "$code"
"""
ODD = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), min_size=1, max_size=30)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}", fullmatch=True)


@pytest.fixture(scope="module")
def bin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bin")
    for name, text in {"stub": STUB, "scontrol": '#!/bin/sh\necho "$@" >> "$STUB_OUT.scontrol"\n'}.items():
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    (directory / "squeue").write_text("#!/bin/sh\necho $STUB_LEFT\n")
    (directory / "squeue").chmod(0o755)
    return directory


def run(data: bytes, bin: Path, out: Path, codes: str = "", **environ: str) -> subprocess.CompletedProcess[bytes]:
    for path in out.parent.glob(f"{out.name}*"):
        path.unlink()
    environment = {
        "PATH": f"{bin}:{os.environ['PATH']}",
        "STUB_OUT": str(out),
        "STUB_CODES": codes,
        "SLURM_JOB_ID": "4711",
        **environ,
    }
    return subprocess.run(["sh", "-s"], input=data, env=environment, cwd=out.parent, capture_output=True, timeout=60)


def words(out: Path) -> list[str]:
    return os.fsdecode(out.read_bytes()).split("\0")[:-1]


@settings(max_examples=60)
@given(home=ODD, queue=ODD, task=IDS)
def test_every_string_reaches_the_worker_as_it_was(
    home: str, queue: str, task: str, bin: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.getbasetemp() / "argv"
    (out.parent / ".jobs" / ".output").mkdir(parents=True, exist_ok=True)
    data = script([task], ["stub", home], queue, Needs(()), task)
    assert b"\r\n" not in data  # which sbatch refuses
    found = run(data, bin, out)
    assert (found.returncode, found.stderr) == (0, b"")
    assert words(out) == [home, queue, task, "--grace=20"]


def test_a_path_that_slurm_would_mangle_is_opened_by_the_script(bin: Path, tmp_path: Path) -> None:
    (tmp_path / ".jobs" / ".output").mkdir(parents=True)
    for queue in ("/q%j", "/q\\"):
        assert "--output=/dev/null" in arguments(Needs(()), "t", queue, "c", 1)
        assert run(script(["t"], ["stub"], queue, Needs(()), "t"), bin, tmp_path / "argv", "5").returncode == 5
        assert (tmp_path / ".jobs" / ".output" / "t-4711.log").exists()


def test_bytes_that_are_no_text_survive_too(bin: Path, tmp_path: Path) -> None:
    queue = os.fsdecode(b"/q \xff'\n$(touch pwned)`id`\r\n\\")
    (tmp_path / ".jobs" / ".output").mkdir(parents=True)
    run(script(["t"], ["stub"], queue, Needs(())), bin, tmp_path / "argv")
    assert words(tmp_path / "argv")[0] == queue
    assert not (tmp_path / "pwned").exists()


@settings(max_examples=25)
@given(tasks=st.lists(IDS, min_size=2, max_size=20, unique=True), data=st.data())
def test_each_element_of_an_array_has_its_own_task(
    tasks: list[str], data: st.DataObject, bin: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.getbasetemp() / "argv"
    index = data.draw(st.integers(0, len(tasks) - 1))
    rendered = script(tasks, ["stub"], "/q", Needs((), room=("--slots=3", "--cpus=6")))
    run(rendered, bin, out, SLURM_ARRAY_TASK_ID=str(index), SLURM_ARRAY_JOB_ID="4711")
    assert words(out) == ["/q", tasks[index], "--grace=20", "--slots=3", "--cpus=6"]
    assert run(rendered, bin, out, SLURM_ARRAY_TASK_ID=str(len(tasks))).returncode == 2
    assert not out.exists()


def test_the_workers_exit_code_is_the_jobs(bin: Path, tmp_path: Path) -> None:
    for code in (0, 2, 5, 10, 75):
        assert run(script(["t"], ["stub"], "/q", Needs(())), bin, tmp_path / "argv", str(code)).returncode == code
        assert words(tmp_path / "argv").count("--grace=20") == 1


def test_a_worker_that_was_killed_is_started_again_but_not_for_ever(bin: Path, tmp_path: Path) -> None:
    out = tmp_path / "argv"
    rendered = script(["t"], ["stub"], "/q", Needs(()))
    assert run(rendered, bin, out, "KILL KILL 0").returncode == 0
    assert words(out).count("--grace=20") == 3
    assert run(rendered, bin, out, "KILL " * 20).returncode == 137
    assert words(out).count("--grace=20") == 6


def test_a_job_that_ended_well_leaves_no_log_and_one_that_did_not_keeps_it(bin: Path, tmp_path: Path) -> None:
    log = tmp_path / ".jobs" / ".output" / "t-4711.log"
    log.parent.mkdir(parents=True)
    for code, kept in ((0, False), (10, False), (75, True), (5, True)):
        log.write_text("words")
        run(script(["t"], ["stub"], "/q", Needs(()), "t"), bin, tmp_path / "argv", str(code))
        assert log.exists() is kept


def test_a_job_is_started_again_when_its_worker_gave_the_task_back_but_not_one_that_did_nothing(
    bin: Path, tmp_path: Path
) -> None:
    out = tmp_path / "argv"
    rendered = script(["t"], ["stub"], "/q", Needs(()))
    run(rendered, bin, out, "75")
    assert not Path(f"{out}.scontrol").exists()
    run(rendered.replace(b"-lt 30 ]", b"-lt 0 ]"), bin, out, "75")
    assert Path(f"{out}.scontrol").read_text() == "requeue 4711\n"


def test_a_job_that_slurm_itself_ends_is_not_started_again(bin: Path, tmp_path: Path) -> None:
    out = tmp_path / "argv"
    rendered = script(["t"], ["sh", "-c", "kill -TERM $PPID; sleep 0.2; exit 75"], "/q", Needs(()))
    assert run(rendered.replace(b"-lt 30 ]", b"-lt 0 ]"), bin, out).returncode == 75
    assert not Path(f"{out}.scontrol").exists()


def test_the_worker_knows_when_its_time_is_over(bin: Path, tmp_path: Path) -> None:
    out, end = tmp_path / "argv", tmp_path / "argv.end"
    ours = script(["t"], ["stub"], "/q", Needs((), seconds=3600))
    run(ours, bin, out, SLURM_JOB_END_TIME="12345")
    assert end.read_text() == "12345"
    now = _now()
    run(ours, bin, out)
    assert 3600 <= int(end.read_text()) - now < 3660


def test_a_job_of_one_task_asks_slurm_nothing_about_its_time_but_a_pilot_does(bin: Path, tmp_path: Path) -> None:
    out, end = tmp_path / "argv", tmp_path / "argv.end"
    run(script(["t"], ["stub"], "/q", Needs(())), bin, out, STUB_LEFT="59:01")
    assert end.read_text() == "none"
    assert "--signal=B:USR1@60" in arguments(Needs(()), "t", "/q", "c", 1)  # Slurm says it by itself
    ours = pilot(["stub"], "/d", Needs(()), "n", 1)
    for left, seconds in (("1-02:03:04", 93_784), ("2:03:04", 7384), ("59:01", 3541)):
        run(ours, bin, out, STUB_LEFT=left)
        assert seconds <= int(end.read_text()) - _now() + 5 < seconds + 60
    for left in ("UNLIMITED", "", "INVALID"):
        run(ours, bin, out, STUB_LEFT=left)
        assert end.read_text() == "none"


@pytest.mark.parametrize("count", [1, 2])
def test_a_setup_that_fails_begins_no_task_and_says_so(bin: Path, tmp_path: Path, count: int) -> None:
    """`module load` of what is not there: the task would run without it."""
    out = tmp_path / "argv"
    for setup, code in (("true\nfalse", 1), ("export SAID='it is'\ntest \"$SAID\" = 'it is'", 0)):
        wants = Needs((), setup=setup)
        worker = script(["one"], ["stub"], "q", wants)
        pilots = pilot(["stub"], str(tmp_path), wants._replace(seconds=60), "p", count)
        for text in (worker, pilots):
            assert text.startswith(b"#!/bin/bash\n")  # where `module` is
            done = run(text, bin, out, SLURM_ARRAY_JOB_ID="1", SLURM_ARRAY_TASK_ID="0")
            assert (done.returncode, out.exists()) == (code, not code)
            assert (b"The setup ended with exit code 1" in done.stderr) is bool(code)


def _now() -> int:
    return int(subprocess.run(["date", "+%s"], capture_output=True, check=True).stdout)


def test_what_a_task_needs_becomes_options_of_sbatch() -> None:
    task = Task(id="t", command="x", gpus=2, cpus=4, mem=3 << 30, engine={"time": "90m", "qos": "high"})
    found = needs(task, "gpu", {"account": "vision", "qos": "low", "gpu_type": "a100"})
    assert set(found.arguments) == {
        *("--time=0-01:30:00", "--gres=gpu:a100:2", "--cpus-per-task=4", "--mem=3072M"),
        *("--account=vision", "--partition=gpu", "--qos=high"),
    }
    assert needs(Task(id="t", command="x", workers=3, gpus=1, cpus=2), "", {}).arguments == (
        "--gres=gpu:3",
        "--cpus-per-task=6",
    )
    assert needs(Task(id="t", command="x"), "", {"options": "--exclusive --mail-type='END FAIL'"}).arguments == (
        "--exclusive",
        "--mail-type=END FAIL",
    )


def test_what_slurm_is_not_told_is_refused_with_what_it_is() -> None:
    for engine in ({"colour": "red"}, {"time": "soon"}, {"qos": ["a"]}, {"qos": "a\nb"}, {"options": "--array=1-9"}):
        with pytest.raises(UsageError) as error:
            needs(Task(id="t", command="x", engine=engine), "", {})
        if "colour" in engine:
            assert all(name in str(error.value) for name in KNOWN)


@pytest.mark.parametrize("text", ["--array=1-3", "--arr=1-3", "--jo x", "-J x", "-Jx", "-a1-3", "--exclusive -o/x"])
def test_what_is_ours_to_say_is_refused_however_sbatch_would_read_it(text: str) -> None:
    with pytest.raises(UsageError, match="Paddock's own"):
        needs(Task(id="t", command="x"), "", {"options": text})


def test_what_only_looks_like_ours_is_handed_on() -> None:
    text = "--wait-all-nodes=1 --mem-bind=local -x n1 --dependencies"
    assert needs(Task(id="t", command="x"), "", {"options": text}).arguments == tuple(text.split())


def test_time_is_read_as_in_paddock_and_as_in_slurm() -> None:
    found = {"90": 90, "90m": 5400, "4:00:00": 14_400, "1-00:00:00": 86_400, "1-12": 129_600, "1h30m": 5400, "": 0}
    assert {text: time_limit(text) for text in found} == found


def test_a_dependency_becomes_sbatchs_and_a_job_that_can_never_start_is_ended() -> None:
    given = arguments(Needs(()), "n", "/q", "c", 1, [("success", "1"), ("any", "2_3"), ("failure", "4")])
    assert "--dependency=afterany:2_3,afternotok:4,afterok:1" in given
    assert "--kill-on-invalid-dep=yes" in given
    assert "--array=0-9" in arguments(Needs(()), "n", "/q", "c", 10)
    assert not any(word.startswith("--array") for word in arguments(Needs(()), "n", "/q", "c", 1))
