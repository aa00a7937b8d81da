"""What a worker says while it works, and to whom."""

from __future__ import annotations

import sys
from typing import Any

from tests.waiting import until


def submit(program: Any, command: str, *options: str) -> str:
    found = program("submit", "--no-snapshot", "-q", *options, "--", command)
    assert found.code == 0, found.err
    return found.out.strip()


def test_a_worker_logs_its_tasks_by_the_names_that_people_gave_them(program: Any) -> None:
    task = submit(program, "true\n", "--name", "try lr=0.1")
    other = submit(program, "echo one\necho two")
    said = program("worker", "--no-persist").err
    for line in (f"running: {task}  try lr=0.1\n", f"(exit code 0): {task}  try", f"running: {other}  echo one\n"):
        assert line in said


def test_a_worker_whose_reader_is_gone_works_on_and_gives_its_task_back(program: Any) -> None:
    """Ctrl-C ends `paddock worker 2>&1 | tee log` from its end."""
    task = submit(program, "sleep 1000")
    process = program.start("worker", "--grace", "2s")
    assert process.stderr is not None
    process.stderr.close()
    until((program.home / "runs" / task / "output/1.log").exists)
    process.terminate()
    assert process.wait(60) == 0
    process.communicate()
    assert "requeued" in (program.home / "queues/default/queued" / task).read_text()


def test_of_two_tasks_at_once_each_sees_a_gpu_of_its_own_also_when_it_asked_for_none(program: Any) -> None:
    met = "while [ $(ls seen-* | wc -l) -lt 2 ]; do sleep 0.05; done"
    for _ in range(2):
        submit(program, f"echo > seen-$CUDA_VISIBLE_DEVICES; {met}", "--timeout", "60s")
    assert program("worker", "--gpus", "4,7", "--no-persist").code == 0
    assert sorted(path.name for path in program.cwd.glob("seen-*")) == ["seen-4", "seen-7"]


def test_a_task_inherits_the_gpus_of_a_worker_that_gives_out_none(program: Any) -> None:
    submit(program, "echo > seen-$CUDA_VISIBLE_DEVICES")
    program("worker", "--slots", "2", "--no-persist", env={"CUDA_VISIBLE_DEVICES": "3"})
    assert (program.cwd / "seen-3").exists()


def test_a_task_that_knows_nothing_of_paddock_leaves_its_output_exit_code_and_what_it_used(program: Any) -> None:
    task = submit(program, "echo said; exit 3")
    program("worker", "--no-persist")
    assert program("logs", task).out == "said\n"
    (exit,) = program("show", task, "--json").json["records"]["exit"]
    assert exit["code"] == 3
    assert exit["peak_memory"] > 0
    shown = program("show", task).out
    assert "failed (exit code 3)" in shown
    assert " of processor, " in shown
    file = (program.home / "queues/default/failed" / task).read_text()
    assert f"peak_memory: {exit['peak_memory']}\n" in file


def test_a_worker_takes_its_queues_by_place_or_as_the_other_verbs_do(program: Any) -> None:
    tasks = [submit(program, "true", "-Q", queue) for queue in ("one", "two", "three")]
    assert program("worker", "one", "-Q", "two", "--queue", "three", "--no-persist").code == 0
    for task, queue in zip(tasks, ("one", "two", "three"), strict=True):
        assert (program.home / "queues" / queue / "done" / task).exists()


def test_the_ranks_of_a_task_are_counted_as_in_python_too(program: Any) -> None:
    task = submit(program, "true", "--n-workers", "3")
    assert "\nworkers: 3\n" in (program.home / "queues/default/queued" / task).read_text()


def test_an_evaluation_reads_by_its_name_what_the_training_that_it_waited_for_has_saved(program: Any) -> None:
    (program.cwd / "train.py").write_text("import sys; open(sys.argv[1], 'w').write('weights')")
    (program.cwd / "eval.py").write_text("import sys; print(open(sys.argv[1]).read())")
    check = program("submit", "--", f"{sys.executable} train.py 'seed=0.pt'").out.strip()
    task = program("submit", "-q", "--chk", check, "--", f"{sys.executable} eval.py seed=0.pt").out.strip()
    program("worker", "--no-persist")
    assert program("logs", task).out == "weights\n"


def test_ranks_that_asked_for_no_gpu_see_those_of_their_slots_as_if_they_had(program: Any) -> None:
    task = submit(program, "echo $LOCAL_RANK of $CUDA_VISIBLE_DEVICES", "--workers", "2")
    assert program("worker", "--gpus", "4,7", "--no-persist").code == 0
    output = program.home / "runs" / task / "output"
    assert [(output / name).read_text() for name in ("1.log", "1.r1.log")] == ["0 of 4,7\n", "1 of 4,7\n"]


def test_the_only_task_may_be_named_as_everywhere_and_one_that_is_not_there_is_told(program) -> None:
    for name in ("one", "two"):
        assert program("submit", "-q", "--no-snapshot", "--name", name, "--", "true").code == 0
    assert program("worker", "--only", "two").code == 0
    found = {task["name"]: task["state"] for task in program("ls", "--json").json["runs"]}
    assert found == {"one": "queued", "two": "finished"}
    gone = program("worker", "--only", "three")
    assert gone.code == 0 and "no task 'three'" in gone.err
