"""What a task has left is there for the one that waited for it and names it."""

from __future__ import annotations

import os
from pathlib import Path

from paddock.queue.task import Dependency, Task
from paddock.work.attempts.left import link_what_is_named


def begin(runs: Path, command: str, *after: str, inside: str = "") -> Path:
    here = runs / "eval" / "work" / inside
    here.mkdir(parents=True, exist_ok=True)
    task = Task(id="eval", command=command, after=tuple(map(Dependency, after)))
    link_what_is_named(task, str(runs), str(here), inside)
    return here


def leave(runs: Path, run: str, *paths: str) -> None:
    for path in paths:
        file = runs / run / "work" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{run} {path}")


def test_what_the_command_names_is_linked_and_nothing_else(tmp_path: Path) -> None:
    leave(tmp_path, "train", "seed=0.pt", "log.txt", "out/step-5/model.pt", "out/score.json", "my file.pt")
    here = begin(tmp_path, "python eval.py --ckpt='seed=0.pt' --dir=./out/step-5 && echo log", "train")
    assert sorted(os.listdir(here)) == ["out", "seed=0.pt"]
    assert (here / "seed=0.pt").read_text() == "train seed=0.pt"
    (here / "out" / "score.json").write_text("mine")
    assert (tmp_path / "train/work/out/score.json").read_text() == "train out/score.json"
    assert (here / "out/step-5/model.pt").read_text() == "train out/step-5/model.pt"


def test_what_the_task_has_itself_stays(tmp_path: Path) -> None:
    leave(tmp_path, "train", "eval.py", "x.pt")
    leave(tmp_path, "eval", "eval.py")
    here = begin(tmp_path, "python eval.py x.pt", "train", "gone")
    assert (here / "eval.py").read_text() == "eval eval.py"
    assert begin(tmp_path, "python eval.py x.pt", "train") == here, "a second attempt finds it there"


def test_the_first_that_has_it_counts_and_no_path_leads_outside(tmp_path: Path) -> None:
    leave(tmp_path, "one", "a.pt", "sub/b.pt")
    leave(tmp_path, "two", "a.pt", "b.pt")
    leave(tmp_path, "stranger", "c.pt")
    here = begin(tmp_path, "cat a.pt sub/b.pt ../../stranger/work/c.pt /etc/passwd . =", "one", "two")
    assert (here / "a.pt").read_text() == "one a.pt"
    assert sorted(os.listdir(here)) == ["a.pt", "sub"]
