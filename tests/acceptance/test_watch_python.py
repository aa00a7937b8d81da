"""paddock.watch() beside a real training: real processes, real workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import paddock
from tests.acceptance.watched import alive, prepare, until_states

TRAIN = """
import json, os, sys, zipfile
import paddock

def accuracy(path):
    with zipfile.ZipFile(path) as file:
        return {"acc": 0.1 * len(file.namelist())}

def save(path, entries):
    with zipfile.ZipFile(path + ".tmp", "w") as file:
        for number in range(entries):
            file.writestr(str(number), path)
    os.rename(path + ".tmp", path)

if __name__ == "__main__":
    os.makedirs("out", exist_ok=True)
    save("out/step=0.pt", 1)
"""


@pytest.fixture
def out(program: Any) -> Path:
    return prepare(program)


def train(program: Any, body: str, **options: Any) -> subprocess.CompletedProcess[str]:
    (program.cwd / "train.py").write_text(TRAIN + textwrap.indent(textwrap.dedent(body), "    "))
    return subprocess.run(
        [sys.executable, "train.py"],
        cwd=program.cwd,
        env=program.environment,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


def test_several_directories_are_one_watch(program: Any, out: Path) -> None:
    done = train(
        program,
        """
        os.makedirs("other", exist_ok=True)
        with paddock.watch(["out", "other"], accuracy, quiet_time="0s") as watch:
            save("out/step=1.pt", 1), save("other/step=2.pt", 2)
        print(sorted((one.step, one.state) for one in watch.results if one.state != "skipped"))
        """,
    )
    assert done.stdout.splitlines()[-1:] == ["[(1, 'done'), (2, 'done')]"], done.stderr


def test_evaluators_by_name_and_a_word_when_a_name_is_another_function(program: Any, out: Path) -> None:
    done = train(
        program,
        """
        with paddock.watch("out", {"mine": accuracy}, quiet_time="0s") as watch:
            save("out/step=1.pt", 1)
        print([one.evaluator for one in watch.results if one.state == "done"])
        with paddock.watch("out", "mine:metrics.py:acc", quiet_time="0s"):
            pass
        """,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['mine']"
    assert "The evaluator mine was" in done.stderr


def test_a_training_is_evaluated_while_it_runs_and_its_run_has_the_scores(program: Any, out: Path) -> None:
    done = train(
        program,
        """
        run = paddock.init(name="t")
        with paddock.watch("out", accuracy, quiet_time="0s", num_eval_workers=2) as watch:
            for step in range(1, 4):
                save(f"out/step={step}.pt", step)
        print(json.dumps([(one.step, one.state, one.values) for one in watch.results if one.state != "skipped"]))
        """,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert [(step, state) for step, state, _ in found] == [(1, "done"), (2, "done"), (3, "done")]
    assert [values["acc"] for _, _, values in found] == pytest.approx([0.1, 0.2, 0.3])
    run = program("show", "t", "--json").json["run"]
    assert run["metrics"]["eval/accuracy/acc"]["last_step"] == 3
    assert alive(program) == []


def test_when_the_training_is_gone_the_watch_sees_to_what_is_there_and_ends(program: Any, out: Path) -> None:
    done = train(
        program,
        """
        paddock.watch("out", accuracy, quiet_time="0s")
        save("out/step=1.pt", 1)
        os.kill(os.getpid(), 9)
        """,
    )
    assert done.returncode == -9
    until_states(program, "skipped", "done")
    import tests.waiting

    tests.waiting.until(lambda: alive(program) == [], pause=0.1)


def test_stop_leaves_what_is_not_evaluated_to_the_next_watch(program: Any, out: Path) -> None:
    done = train(
        program,
        """
        watch = paddock.watch("out", "metrics.py:slow", quiet_time="0s")
        save("out/step=1.pt", 1)
        import time
        while not os.path.exists("running"):
            time.sleep(0.05)
        watch.stop()
        assert not watch.is_running
        print([one.state for one in watch.results])
        """,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("['skipped', 'pending']")
    assert alive(program) == []


def test_a_training_without_a_guard_is_told_instead_of_started_again(program: Any, out: Path) -> None:
    script = 'import paddock\n\ndef acc(path):\n    return 1.0\n\npaddock.watch("out", acc)\n'
    (program.cwd / "bare.py").write_text(script)
    words = [sys.executable, "bare.py"]
    done = subprocess.run(words, cwd=program.cwd, env=program.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "if __name__ == '__main__'" in done.stderr, done.stderr


def test_mistakes_are_errors_of_the_call(out: Path, home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(out.parent)
    monkeypatch.setenv("PYTHONPATH", str(Path(paddock.__file__).parents[1]))
    for words, says in (
        ({"evaluator": "metrics.py:nothing"}, "has no function"),
        ({"evaluator": "metrics.py:acc", "nonsense": 3}, "nonsense"),
        ({"evaluator": "metrics.py:acc", "regex_filter": "("}, "cannot be read"),
        ({"evaluator": lambda path: 1.0}, "cannot be found by another process"),
        ({"evaluator": 3}, "evaluates nothing"),
        ({}, "Nothing evaluates"),
    ):
        with pytest.raises(paddock.UsageError, match=says):
            paddock.watch("out", **words)  # type: ignore[arg-type]
    with pytest.raises(paddock.UsageError, match="is a file"):
        paddock.watch("metrics.py", "metrics.py:acc")
    with pytest.raises(paddock.UsageError, match="Several are a list"):
        paddock.watch("out", "metrics.py:acc", "metrics.py:loss")


def test_a_model_is_not_watched_as_wandb_would() -> None:
    assert paddock.watch(object(), object(), log="all", log_freq=10) is None
    assert paddock.watch(models=[object()]) is None
    assert os.environ.get("PADDOCK_WATCH_PARENT") is None
