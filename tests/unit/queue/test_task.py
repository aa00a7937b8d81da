"""A task is one plain-text file that people can edit and that no content can break."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import Damaged
from paddock.queue.task import Attempt, Dependency, Task, name_in, read, render, render_attempt

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))
lines = st.sampled_from(
    ["---", "===", "====", "==== command", "==== attempt abc123", "| x", "paddock-task 1 abc", "", "id: 3"]
)
commands = st.lists(texts | lines, max_size=8).map("\n".join)


@given(
    command=commands.filter(str.strip),
    check=commands,
    name=texts,
    env=st.dictionaries(texts, texts, max_size=3),
    config=st.dictionaries(texts, st.none() | st.booleans() | st.floats(allow_nan=False) | texts, max_size=3),
)
def test_no_content_can_break_it(
    command: str, check: str, name: str, env: dict[str, str], config: dict[str, Any]
) -> None:
    task = Task(id="t1", command=command, check=check, name=name, env=env, config=config, tags=("a", "b c"))
    assert read(render(task), "t1").task == task


@given(tail=commands, exit=texts)
def test_no_output_can_break_it(tail: str, exit: str) -> None:
    task = Task(id="t1", command="echo ====\n")
    data = render(task)
    fence = read(data, "t1").fence
    data += render_attempt(Attempt(number=1, worker="w", outcome="failed", exit=exit, seconds=1.5, tail=tail), fence)
    data += render_attempt(Attempt(number=2, worker="w", outcome="done"), fence)
    found = read(data, "t1")
    assert found.task == task
    assert [(a.number, a.outcome) for a in found.attempts] == [(1, "failed"), (2, "done")]
    assert found.attempts[0].tail == tail


def test_it_reads_like_this_and_may_be_edited() -> None:
    task = Task(
        id="t1",
        command="python train.py \\\n  --lr 0.1",
        name="train lr=0.1",
        after=(Dependency("t0"), Dependency("t9", "any")),
        gpus=1,
        config={"lr": 0.1},
    )
    data = render(task)
    fence = data.split(b"\n")[0].split()[-1].decode()
    assert data.decode() == (
        f'paddock-task 1 {fence}\nid: t1\nname: train lr=0.1\nconfig: {{"lr":0.1}}\n'
        f'after: ["success:t0","any:t9"]\ngpus: 1\n\n==== command {fence}\npython train.py \\\n  --lr 0.1\n'
    )
    edited = data.replace(b"gpus: 1", b"# two now\ngpus: 2\npriority:   7").replace(
        b"  --lr 0.1\n", b"  --lr 0.2\n  --seed 3\n"
    )
    windows = edited.replace(b"\n", b"\r\n")
    for data in (windows, windows + render_attempt(Attempt(number=1, outcome="failed"), fence)):
        found = read(data, "t1").task
        assert (found.gpus, found.priority) == (2, 7)
        assert found.command.endswith("--lr 0.2\n  --seed 3")


@pytest.mark.parametrize(
    ("header", "timeout", "mem"),
    [("timeout: 90\nmem: 1024", 90, 1024), ("timeout: 1h30m\nmem: 8G", 5400, 8 << 30), ("timeout: 4:00:00", 14_400, 0)],
)
def test_a_person_writes_times_and_memory_in_a_file_as_on_the_command_line(
    header: str, timeout: float, mem: int
) -> None:
    task = read(f"paddock-task 1 x\n{header}\n\n==== command x\necho\n".encode(), "t").task
    assert (task.timeout, task.mem) == (timeout, mem)


def test_losses_are_counted_in_a_row() -> None:
    def losses(*outcomes: str) -> int:
        data = render(Task(id="t", command="x"))
        fence = read(data, "t").fence
        for number, outcome in enumerate(outcomes, 1):
            data += render_attempt(Attempt(number=number, outcome=outcome), fence)
        return read(data, "t").losses

    assert losses() == 0
    assert losses("lost", "lost") == 2
    assert losses("lost", "failed", "lost") == 1
    assert losses("lost", "requeued") == 0


def test_roachs_files_are_read() -> None:
    found = read(b"test -f x\n---\npython a.py \\\n  --b\n\n=== worker_1 ===\nout\n=== worker_2 ===\n", "task_1")
    assert (found.task.id, found.task.check, found.task.command) == ("task_1", "test -f x", "python a.py \\\n  --b")
    assert [a.worker for a in found.attempts] == ["worker_1", "worker_2"]
    assert found.roach
    assert read(b"true\n---\necho", "t").task.check == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"just some notes\n", "is no task"),
        (b"", "is no task"),
        (b"paddock-task 9 abc\n\n==== command abc\nx\n", "format 9"),
        (b"paddock-task 1 abc\nid: x\n", "0 commands"),
        (b"paddock-task 1 abc\ngpus: many\n\n==== command abc\nx\n", "gpus: 'many'"),
        (b'paddock-task 1 abc\ngpus: "many"\n\n==== command abc\nx\n', "cannot be read"),
        (b"paddock-task 1 abc\n\n==== command abc\n", "no command yet"),
        (b"paddock-task 1 abc\n\n==== command abc\n \n\n==== attempt abc\nnumber: 1\n", "no command yet"),
        (b"true\n---\n", "no command yet"),
        (b"true\n---\n\n=== worker_1 ===\nout\n", "no command yet"),
        (b"paddock-task 1 abc\ngpus: -1\n\n==== command abc\nx\n", "gpus: -1 is impossible"),
        (b"paddock-task 1 abc\nworkers: 0\n\n==== command abc\nx\n", "workers: 0 is impossible"),
        (b"paddock-task 1 abc\ntimeout: soon\n\n==== command abc\nx\n", "timeout: 'soon'"),
        (b"paddock-task 1 abc\nnonsense\n\n==== command abc\nx\n", "no `key: value`"),
        (b'paddock-task 1 abc\nafter: ["soon:x"]\n\n==== command abc\nx\n', "no dependency"),
    ],
)
def test_what_is_no_task_is_refused_with_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(Damaged, match=words):
        read(data, "t")


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise_anything_else(data: bytes) -> None:
    for prefix in (b"", b"paddock-task 1 abc\n"):
        try:
            read(prefix + data, "t")
        except Damaged:
            pass


def test_what_we_add_to_a_file_of_roach_is_read_again() -> None:
    data = b"---\necho\n=== worker 3 ===\nsome output\n"
    file = read(data, "old")
    data += render_attempt(Attempt(number=2, outcome="lost", exit="its worker died"), file.fence)
    data += render_attempt(Attempt(number=3, outcome="lost", tail="=== not a marker\n"), file.fence)
    found = read(data, "old")
    assert [(a.number, a.outcome) for a in found.attempts] == [(1, "ended"), (2, "lost"), (3, "lost")]
    assert (found.losses, found.task.command) == (2, "echo")


def test_what_an_editor_on_windows_puts_before_it_is_no_part_of_it() -> None:
    mark = b"\xef\xbb\xbf"
    data = b"paddock-task 1 x\r\nname: saved there\r\n\r\n==== command x\r\necho hi\r\n"
    assert read(mark + data, "t1").task == Task(id="t1", name="saved there", command="echo hi")
    assert name_in(mark + data) == "saved there"
    assert read(mark + b"true\n---\necho hi\n", "t1").task == Task(id="t1", command="echo hi")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("gpu: 1", "gpus:"),
        ("retires: 3", "retries:"),
        ("time: 2h", "timeout:"),
        ("n_workers: 2", "workers:"),
        ("check: test -f x", "==== check x"),
        ("command: true", "==== command x"),
    ],
)
def test_a_slip_in_its_header_is_named_with_what_was_meant(line: str, meant: str) -> None:
    with pytest.raises(Damaged, match=meant):
        read(f"paddock-task 1 x\n{line}\n\n==== command x\ntrue\n".encode(), "t1")


def test_what_resembles_nothing_in_its_header_is_left_alone() -> None:
    data = b"paddock-task 1 x\nticket: ML-17\n# gpu: 1\n\n==== command x\ntrue\n"
    assert read(data, "t1").task == Task(id="t1", command="true")


def test_a_task_that_would_wait_for_itself_is_refused() -> None:
    with pytest.raises(Damaged, match="waits for itself"):
        read(b'paddock-task 1 x\nafter: ["any:t1"]\n\n==== command x\ntrue\n', "t1")


def test_a_script_is_called_by_the_first_line_that_does_something() -> None:
    script = "#!/bin/bash\n#SBATCH --time 1:00\n\nset -e  # first\npython train.py\n"
    assert Task(id="t1", command=script).title == "set -e # first"
    assert Task(id="t1", command="# nothing\n").title == "# nothing"
    assert Task(id="t1", command="python train.py\necho").title == "python train.py"


def test_a_command_over_several_lines_is_called_by_all_that_a_backslash_joins() -> None:
    sweep = "#!/bin/sh\npython train.py \\\n  --seed=0 \\\n  --lr=0.1\necho over\n"
    assert Task(id="t1", command=sweep).title == "python train.py --seed=0 --lr=0.1"
    assert Task(id="t1", command="echo a\\\\\necho b").title == "echo a\\\\"  # a backslash, and no more
    assert Task(id="t1", command="echo a \\").title == "echo a \\"
    assert Task(id="t1", command="# \\\npython a.py").title == "python a.py"
