"""Progress: counted in memory, in any process and thread, and written down as it stands."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.catalog.catalog import Catalog
from paddock.model import Progress as Bar
from paddock.monitor.progress import Progress
from paddock.record.layout import Home
from tests.waiting import DEADLINE, until


@pytest.fixture
def bars(home: Home) -> Callable[[Any], list[Bar]]:
    def read(run: Any) -> list[Bar]:
        with Catalog.open(home) as catalog:
            catalog.refresh()
            return catalog.progress(run.id)

    return read


def advance(progress: Progress, n: int) -> int:
    progress.advance(n, distributed=True)
    return os.getpid()


def advance_one_by_one(progress: Progress, n: int) -> None:
    for _ in range(n):
        progress.advance(1, distributed=True)


def test_a_bar_counts_to_its_total_and_is_done(bars) -> None:
    run = paddock.init()
    with Progress.new(total=100, msg=("step", "Message"), unit="batch") as progress:
        for _ in range(50):
            progress.advance(1)
        assert bars(run)[0].state == "running"
        for i in range(50, 100):
            progress.update(i + 1)
    (bar,) = bars(run)
    assert (bar.done, bar.total, bar.msg, bar.unit, bar.state) == (100, 100, ("step", "Message"), "batch", "done")
    assert bar.fraction == 1.0 and bar.eta is None


def test_what_has_failed_never_shows_the_whole(bars) -> None:
    run = paddock.init()
    with pytest.raises(ValueError, match="at the very end"), Progress.new(10, "x") as progress:
        progress.advance(10)
        raise ValueError("at the very end")
    (bar,) = bars(run)
    assert bar.state == "failed" and bar.done == 10 and bar.fraction is not None and bar.fraction < 1


def test_a_hundred_thousand_steps_are_a_few_records(read) -> None:
    run = paddock.init()
    with Progress.new(100_000) as progress:
        for _ in range(100_000):
            progress.advance()
    records = read(run.path).records["progress"]
    assert records[-1]["done"] == 100_000
    assert len(records) < 100


def test_the_last_step_before_a_pause_is_written(bars) -> None:
    run = paddock.init()
    progress = Progress.new(10)
    for _ in range(7):
        progress.advance()
    until(lambda: bars(run)[0].done == 7)


def test_message_and_total_may_change(bars) -> None:
    run = paddock.init()
    with Progress.new(None, "reading") as progress:
        progress.advance(3)
        assert bars(run)[0].fraction is None
        progress.msg, progress.total = ("writing", 2), 6
    (bar,) = bars(run)
    assert (bar.msg, bar.total, bar.fraction) == (("writing", "2"), 6, 0.5)


def test_nested_bars_are_listed_outermost_first(bars, home) -> None:
    run = paddock.init()
    with Progress.new(3, "epoch") as outer:
        for _ in range(2):
            with Progress.new(5, "batch") as inner:
                inner.advance(5)
            outer.advance()
        inner = Progress.new(5, "batch")
        assert [(bar.msg[0], bar.state) for bar in bars(run)] == [
            ("epoch", "running"),
            ("batch", "done"),
            ("batch", "done"),
            ("batch", "running"),
        ]
        with Catalog.open(home) as catalog:
            shown = catalog.run(run.id).progress
        assert shown is not None and shown.msg == ("epoch",)


def test_many_threads_lose_nothing(bars) -> None:
    run = paddock.init()
    with Progress.new(8000) as progress, ThreadPoolExecutor(8) as pool:
        for _ in range(80):
            pool.submit(advance_one_by_one, progress, 100)
    assert bars(run)[0].done == 8000


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_counts_together(bars, method: str) -> None:
    run = paddock.init()
    context = multiprocessing.get_context(method)
    with Progress.new(60, "jobs") as progress, ProcessPoolExecutor(3, mp_context=context) as pool:
        progress.advance(10)
        found = list(pool.map(advance, [progress] * 50, [1] * 50))
    (bar,) = bars(run)
    assert bar.done == 60 and bar.state == "done"
    assert len(bar.writers) == 1 + len(set(found))


def test_done_callbacks_count_in_the_process_that_waits(bars) -> None:
    run = paddock.init()
    with Progress.new(20) as progress, ProcessPoolExecutor(2) as pool:
        for _ in range(20):
            pool.submit(os.getpid).add_done_callback(lambda _: progress.advance(1))
    (bar,) = bars(run)
    assert bar.done == 20 and len(bar.writers) == 1


def test_a_callback_after_the_end_still_counts(bars) -> None:
    run = paddock.init()
    with Progress.new(3) as progress:
        progress.advance()
    progress.advance()
    progress.advance()
    run.finish()
    assert bars(run)[0].done == 3


def test_a_killed_child_loses_at_most_its_last_tenth_of_a_second_and_counts_nothing_twice(bars) -> None:
    run = paddock.init()
    context = multiprocessing.get_context("fork")
    with Progress.new(1000, "parts") as progress:
        gate = context.Event()

        def work() -> None:
            advance_one_by_one(progress, 100)
            gate.wait()

        children = [context.Process(target=work) for _ in range(3)]
        for child in children:
            child.start()
        until(lambda: bars(run)[0].done == 300, pause=0.05)
        for child in children:
            child.kill()
            child.join()
        progress.advance(100)
    (bar,) = bars(run)
    assert bar.done == 400 and bar.state == "done" and bar.fraction == 0.4


def test_a_bar_of_a_dead_process_is_lost(bars) -> None:
    run = paddock.init()
    context = multiprocessing.get_context("fork")

    def work() -> None:
        Progress.new(10, "child's own").advance(10)
        os._exit(9)

    child = context.Process(target=work)
    child.start()
    child.join()
    (bar,) = bars(run)
    assert bar.state == "lost" and bar.done == 10 and bar.fraction is not None and bar.fraction < 1


@pytest.mark.parametrize("what", [float("nan"), np.arange(3), "three"])
def test_what_is_no_number_is_left_out_and_the_rest_is_counted(bars, what: Any) -> None:
    run = paddock.init()
    with Progress.new(10, "odd") as progress:
        progress.advance(3)
        progress.total = 11  # so that the three are written
        until(lambda: bars(run)[0].total == 11)
        progress.advance(what)
        until(lambda: run._dropped.get("progress"))
        progress.advance(4)
    (bar,) = bars(run)
    assert (bar.done, bar.state) == (7, "done")


def leave_open(fails: bool) -> None:
    Progress.new(10, "fails" if fails else "returns").advance(10)
    if fails:
        raise RuntimeError("out of memory")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_a_process_leaves_open_ends_as_the_process_does(bars, method: str) -> None:
    run = paddock.init()
    for fails in (False, True):
        child = multiprocessing.get_context(method).Process(target=leave_open, args=(fails,))
        child.start()
        child.join()
    found = {bar.msg[0]: (bar.state, bar.fraction) for bar in bars(run)}
    assert found == {"returns": ("done", 1.0), "fails": ("failed", 0.99)}


@pytest.mark.parametrize(("last", "state"), [("", "done"), ("raise ValueError", "failed"), ("os._exit(0)", "lost")])
def test_what_a_program_of_the_run_leaves_open_ends_as_the_program_does(bars, last: str, state: str) -> None:
    run = paddock.init()
    progress = Progress.new(20, key="items")
    source = f"""
        import os
        from paddock.monitor import Progress

        Progress.new(20, key="items").advance(10)
        {last}
    """
    for _ in range(2):
        subprocess.run([sys.executable, "-c", textwrap.dedent(source)], stderr=subprocess.DEVNULL, check=False)
    progress.close()
    (bar,) = bars(run)
    assert (bar.done, bar.state) == (20, state)


def test_what_is_open_at_the_end_ends_as_the_run_does(bars) -> None:
    run = paddock.init()
    Progress.new(10, "left open").advance(5)
    run.finish(exit_code=1)
    assert bars(run)[0].state == "failed"


def test_handed_back_it_is_the_same_object() -> None:
    paddock.init()
    with Progress.new(10) as progress:
        assert pickle.loads(pickle.dumps(progress)) is progress  # noqa: S301
    copy = pickle.loads(pickle.dumps(progress))  # noqa: S301
    copy.advance(3)
    assert progress.done == 0


def test_without_a_run_and_when_disabled_it_counts_and_writes_nothing(home) -> None:
    with Progress.new(10, "x") as progress:
        progress.advance(4)
    assert progress.done == 4 and list(home.runs.iterdir()) == []
    paddock.init(mode="disabled")
    with Progress.new(10) as progress:
        progress.advance(2)
    assert progress.done == 2


def test_a_bar_from_before_init_is_counted_from_then_on(bars) -> None:
    progress = Progress.new(10, "early")
    progress.advance(2)
    run = paddock.init()
    progress.advance(1)
    assert bars(run)[0].done == 3


def test_nonsense_does_not_end_the_work(bars) -> None:
    run = paddock.init()
    progress: Any = Progress.new(total="many", msg=("[/x]", "100%", "\x1b[2J", "\ud800", None), unit=3)  # type: ignore[arg-type]
    progress.advance("one")
    progress.update(float("nan"))
    progress.update(float("inf"))
    progress.update(2)
    progress.close()
    (bar,) = bars(run)
    assert bar.done == 2 and bar.total is None and bar.msg[:2] == ("[/x]", "100%")


def test_a_message_that_cannot_be_made_a_text_does_not_end_the_work(bars) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    run = paddock.init()
    with Progress.new(total=1, msg=("epoch", Broken())) as progress:
        progress.msg = Broken()
        progress.msg = (Broken(), range(3), list(range(10**6)))
        progress.advance(1)
    assert [word[:20] for word in bars(run)[0].msg] == ["<Broken: RuntimeErro", "range(0, 3)", "<list of 1,000,000; "]


def test_a_signal_handler_may_advance_while_the_work_does() -> None:
    import signal

    paddock.init()
    progress = Progress.new(1_000_000)
    before = signal.signal(signal.SIGALRM, lambda *_: progress.advance(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        deadline = time.monotonic() + 0.3
        while time.monotonic() < deadline:
            progress.advance(1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert progress.done > 100


def test_a_signal_that_comes_in_the_middle_of_a_record_finds_it_still_to_be_written(bars) -> None:
    from paddock.track.progress import shares

    run = paddock.init()
    progress = Progress.new(10)
    progress.advance(1)
    append = run._append

    def interrupted(record: dict[str, Any]) -> None:
        run._append = append
        assert shares.write_waiting()  # by the handler, after which the process ends
        assert bars(run)[0].done == 4

    run._append = interrupted  # type: ignore[method-assign]
    progress._written = 0.0
    progress.advance(3)
    assert progress.done == 4 and not shares.write_waiting()


def test_a_fork_while_a_thread_counts_does_not_hang_the_child(bars) -> None:
    run = paddock.init()
    progress, over = Progress.new(None), threading.Event()

    def count() -> None:
        while not over.is_set():
            progress.advance()

    thread = threading.Thread(target=count)
    thread.start()
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=advance, args=(progress, 1000)) for _ in range(5)]
    for child in children:
        child.start()
        child.join(DEADLINE)
        assert child.exitcode == 0
    over.set()
    thread.join()
    total = progress.done + 5000
    progress.close()
    assert bars(run)[0].done == total


def test_info_counts_as_progress(bars) -> None:
    run = paddock.init()
    run.log_info({"state.progress": 0.25})
    (bar,) = bars(run)
    assert (bar.done, bar.total, bar.fraction, bar.state) == (0.25, 1, 0.25, "running")
    run.finish(exit_code=1)
    assert bars(run)[0].state == "failed"


RANK = """
import sys, paddock
from paddock.monitor import Progress

paddock.init(project="ranks")
with Progress.new(total=100, msg="own") as own:
    own.advance(10)
with Progress.new(total=100, msg="together") as progress:
    for _ in range(int(sys.argv[1])):
        progress.advance(1, distributed=True)
with Progress.new(total=9, msg="named", key="pool") as named:
    named.advance(3)
"""


def test_ranks_of_one_launch_count_together(bars, home: Home, tmp_path: Path) -> None:
    script = tmp_path / "rank.py"
    script.write_text(RANK)
    launch = os.environ | {"WORLD_SIZE": "3", "MASTER_ADDR": "here", "MASTER_PORT": "4711", "TORCHELASTIC_RUN_ID": "x"}
    ranks = [
        subprocess.Popen([sys.executable, str(script), str(20 + rank)], env=launch | {"RANK": str(rank)})
        for rank in range(3)
    ]
    assert [rank.wait(60) for rank in ranks] == [0, 0, 0]
    (run,) = home.runs.iterdir()
    found = {}
    for bar in bars(home.run(run.name)):
        found.setdefault(bar.msg[0], []).append((bar.done, bar.total, bar.state, len(bar.writers)))
    assert found == {
        "own": [(10, 100, "done", 1)] * 3,
        "together": [(63, 100, "done", 3)],
        "named": [(9, 9, "done", 3)],
    }


@pytest.mark.parametrize(
    "launch",
    [
        {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "20316161"},
        {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"},
    ],
)
def test_what_a_rank_starts_joins_its_run_although_it_has_the_launchers_variables(
    home: Home, tmp_path: Path, launch: dict[str, str]
) -> None:
    script = tmp_path / "rank.py"
    script.write_text(
        "import subprocess, sys, paddock\n"
        "paddock.init()\n"
        "paddock.log({'rank': 1})\n"
        "subprocess.run([sys.executable, '-c', 'import paddock; paddock.log({\"child\": 1})'], check=True)\n"
    )
    subprocess.run([sys.executable, str(script)], env=os.environ | launch, check=True, timeout=DEADLINE)
    (run,) = home.runs.iterdir()
    assert len(list((run / "journal").iterdir())) == 2
