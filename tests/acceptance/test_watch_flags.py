"""A command line of assayer works here, but for its Redis."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.watched import prepare, save


def test_every_flag_is_taken_in_both_spellings(program: Any) -> None:
    out = prepare(program)
    save(out / "step=1.model")
    flags = {
        "directory": "out",
        "evaluator": "metrics.py:acc",
        "regex_filter": r"^.*\.(pt|pth|ckpt|model|state)$",
        "num_eval_workers": "5",
        "num_watch_workers": "1",
        "polling_interval": "5",
        "watch_queue_name": "watch",
        "eval_queue_name": "other",
    }
    for spelling in (str, lambda name: name.replace("_", "-")):
        words = [word for name, value in flags.items() for word in (f"--{spelling(name)}", value)]
        found = program("watch", *words, f"--{spelling('eval_existing')}", "--once", "--json", "--quiet-time", "0s")
        assert found.code == 0, found.err
    assert [place.name for place in (program.home / "queues").iterdir()] == ["other"]
    for spelling in (str, lambda name: name.replace("_", "-")):
        words = (f"--{spelling('redis_host')}", "127.0.0.1", f"--{spelling('redis_port')}", "1")
        found = program("watch", "out", "--evaluator", "metrics.py:acc", *words, "--once")
        assert (found.code, "There is no Redis at redis://127.0.0.1:1/0" in found.err) == (12, True)


@pytest.mark.parametrize(
    ("flag", "state"),
    [
        ("--eval_existing=true", "pending"),
        ("--eval-existing=True", "pending"),
        ("--eval_existing=false", "skipped"),
        ("--noeval_existing", "skipped"),
    ],
)
def test_a_flag_of_absl_may_have_a_value(program: Any, flag: str, state: str) -> None:
    save(prepare(program) / "step=1.pt")
    found = program("watch", "--directory", "out", "--evaluator", "metrics.py:acc", flag, "--once", "--json")
    assert found.code == 0 and [one["state"] for one in found.json["found"]] == [state]


def test_a_disk_that_refuses_in_one_directory_leaves_the_others_to_be_done(program: Any) -> None:
    out = prepare(program)
    words = ("--evaluator", "metrics.py:acc", "--once", "--quiet-time", "0s", "--eval-existing")
    for name in ("a", "b"):
        (out / name).mkdir()
    assert program("watch", "out/a", "out/b", *words).code == 0
    (first,) = (p for p in program.home.glob("watches/*") if f'{out}/a"' in (p / "watch.json").read_text())
    (first / "ledger").rename(first / "away")
    (first / "ledger").symlink_to("/proc/self")  # a directory where nothing can be put
    for name in ("a", "b"):
        save(out / name / "step=1.pt")
    found = program("watch", "out/a", "out/b", *words, "--json")
    assert found.code == 5 and [one["checkpoint"] for one in json.loads(found.out)["found"]] == [f"{out}/b/step=1.pt"]
    assert f"{out}/a cannot be dealt with now" in found.err and "Traceback" not in found.err
    found = program("watch", "rescan", "out/a")
    assert (found.code, "cannot be dealt with now" in found.err) == (5, True)
