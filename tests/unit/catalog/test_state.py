"""What became of a run, as a table of cases."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.catalog.state import Process, decide, of_writer

OK = {"k": "end", "t": 9.0, "code": 0, "reason": "finished"}
EXIT3 = {"k": "end", "t": 9.0, "code": 3, "reason": "exit"}
ERROR = {
    "k": "end",
    "t": 9.0,
    "code": 1,
    "reason": "exception",
    "exception": {"type": "ValueError", "message": "bad\nx"},
}
TERM = {"k": "end", "t": 9.0, "code": 143, "reason": "signal", "signal": "TERM"}
CTRL_C = {"k": "end", "t": 9.0, "code": 130, "reason": "interrupted"}


def main(**about: Any) -> Process:
    return Process(role="main", **about)


def supervisor(alive: bool = False, attempt: int = 1, **exit_: Any) -> Process:
    record = {"k": "exit", "t": 10.0, "attempt": attempt, "code": None, "signal": None, "oom": False, **exit_}
    return Process(role="supervisor", alive=alive, attempt=attempt, exits=[record] if exit_ else [])


CASES: list[tuple[str, list[Process], str, str]] = [
    ("nobody ever wrote", [], "lost", "never started"),
    ("only somebody's note", [Process(role="annotation", seen=4.0)], "lost", "never started"),
    ("only a child", [Process(role="child", alive=True)], "lost", "never started"),
    ("alive", [main(alive=True)], "running", ""),
    ("supervised, not yet in init", [supervisor(alive=True)], "running", ""),
    ("restarted, not yet in init", [main(end=ERROR), supervisor(alive=True, attempt=2)], "running", ""),
    ("finished", [main(end=OK)], "finished", ""),
    ("the first of several programs finished", [main(end=OK), supervisor(alive=True)], "running", ""),
    ("its supervisor died with it", [supervisor()], "lost", "its supervisor died"),
    ("its worker lost its guard", [supervisor(why="lost")], "lost", "lost with its worker"),
    ("lost in its second attempt", [supervisor(code=1), supervisor(attempt=2)], "lost", "its supervisor died"),
    ("sys.exit(3)", [main(end=EXIT3)], "failed", "exit code 3"),
    ("finish(exit_code=2)", [main(end={**OK, "code": 2})], "failed", "exit code 2"),
    ("exception", [main(end=ERROR)], "failed", "ValueError: bad"),
    ("terminated", [main(end=TERM)], "killed", "signal TERM"),
    ("interrupted", [main(end=CTRL_C)], "killed", "interrupted"),
    ("gone", [main()], "lost", "no sign of life"),
    ("gone, on a host", [main(host="n1")], "lost", "no sign of life from n1"),
    ("gone when memory ran out", [main(oom=True)], "lost", "probably out of memory"),
    ("gone, but its parent saw a signal", [main(), supervisor(signal="KILL")], "killed", "signal KILL"),
    ("gone, but its parent saw no memory", [main(), supervisor(signal="KILL", oom=True)], "killed", "out of memory"),
    ("gone, but its parent saw a code", [main(), supervisor(code=7)], "failed", "exit code 7"),
    ("gone, but its parent saw it end well", [main(), supervisor(code=0)], "finished", ""),
    ("a bad end beats its own good word", [main(end=OK), supervisor(code=3)], "failed", "exit code 3"),
    ("killed after its good word", [main(end=OK), supervisor(signal="SEGV")], "killed", "signal SEGV"),
    ("both saw it end well", [main(end=OK), supervisor(code=0)], "finished", ""),
    ("its own word on a bad end says more", [main(end=ERROR), supervisor(code=1)], "failed", "ValueError: bad"),
    ("its own signal says more than a code", [main(end=TERM), supervisor(code=143)], "killed", "signal TERM"),
    (
        "a rank's own word says more",
        [main(rank=0, end=OK), main(rank=1, end=ERROR), supervisor(code=1)],
        "failed",
        "rank 1: ValueError: bad",
    ),
    ("another attempt's bad end", [main(attempt=2, end=OK), supervisor(code=3)], "finished", ""),
    ("died before init", [supervisor(code=1)], "failed", "exit code 1"),
    ("another attempt's exit says nothing", [main(attempt=2), supervisor(code=1)], "lost", "no sign of life"),
    ("failed, then resumed", [main(end=ERROR), main(attempt=2, alive=True)], "running", ""),
    ("failed, then finished", [main(end=ERROR), main(attempt=2, end=OK)], "finished", ""),
    ("finished, then lost", [main(end=OK), main(attempt=2)], "lost", "no sign of life"),
    ("an old attempt that hangs", [main(alive=True), main(attempt=2, end=OK)], "finished", ""),
    ("begun twice in one attempt", [main(started=1.0), main(started=2.0, end=OK)], "finished", ""),
    ("one rank alive", [main(rank=0, end=OK), main(rank=1, alive=True)], "running", ""),
    ("rank 0 lost", [main(rank=0), main(rank=1, end=OK)], "lost", "no sign of life"),
    ("rank 1 lost, rank 0 done", [main(rank=0, end=OK), main(rank=1)], "finished", ""),
    ("rank 1 failed", [main(rank=0, end=OK), main(rank=1, end=ERROR)], "failed", "rank 1: ValueError: bad"),
    ("rank 1 explains", [main(rank=0, end=TERM), main(rank=1, end=ERROR)], "failed", "rank 1: ValueError: bad"),
    ("rank 1 told to go", [main(rank=0, end=OK), main(rank=1, end=TERM)], "finished", ""),
    ("shared, one still alive", [main(started=1.0, alive=True), main(started=2.0, end=OK)], "running", ""),
    ("a child's death is no matter", [main(alive=True), Process(role="child")], "running", ""),
]


@pytest.mark.parametrize(
    ("processes", "state", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_state_follows_from_the_processes(processes: list[Process], state: str, reason: str) -> None:
    verdict = decide(processes)
    assert (verdict.state, verdict.reason) == (state, reason)
    assert decide(reversed(processes))[:2] == (state, reason)


def test_a_run_ended_when_its_last_rank_said_so() -> None:
    assert decide([main(rank=0, end=OK), main(rank=1, end={**OK, "t": 12.0})]).ended == 12.0


def test_a_run_that_ended_well_ended_when_it_said_so_itself() -> None:
    assert decide([main(end=OK), supervisor(code=0)]).ended == 9.0
    assert decide([main(end=OK), supervisor(code=3)]).ended == 10.0


def test_a_lost_run_ended_when_it_was_last_seen() -> None:
    assert decide([main(seen=5.0)]).ended == 5.0


def test_nothing_in_an_end_record_can_break_the_verdict() -> None:
    for odd in (
        {},
        {"reason": 3},
        {"reason": "exception"},
        {"reason": "exception", "exception": 5},
        {"reason": "signal"},
    ):
        assert decide([main(end=odd)]).state in ("finished", "failed", "killed")


def test_a_child_that_ended_without_a_word_is_gone_and_not_lost() -> None:
    assert of_writer(Process(role="child")) == "gone"
    assert of_writer(Process(role="child", alive=True)) == "running"
    assert of_writer(main()) == "lost"
    assert of_writer(main(end=TERM)) == "killed"
    assert of_writer(supervisor(code=1)) == "finished"
