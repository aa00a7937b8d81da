"""The watches' pages: each checkpoint with its score, or why it has none, and the best."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

from tests.acceptance.board.eye import Eye, opened, soon
from tests.acceptance.board.laboratory import EVALUATE, Laboratory, laboratory


def test_a_watch_leads_to_its_checkpoints(eye: Eye, lab: Laboratory) -> None:
    told = lab.get("/watches")["watches"]
    page = eye.go("/watches")
    for watch in told:
        eye.wait_text(watch["directory"])
    page.get_by_role("link", name="out").first.click()
    page.wait_for_url("**/watches/*")
    detail = lab.get(f"/watches/{lab.watch('out')['watch']}")
    eye.settle()
    rows = page.locator("main table.checkpoints tbody tr")
    assert rows.count() == detail["total"] == 4
    text = eye.text("main table.checkpoints")
    for one in detail["evaluations"]:
        assert f"first/{Path(one['checkpoint']).name}" in text
        assert (one["reason"] if one["state"] == "failed" else f"{one['values']['acc']:.4g}"[:5]) in text
    assert Path(detail["best"]["checkpoint"]).name in eye.text("main .watch-best")
    page.get_by_role("link", name="train-lr0.2-s0").first.wait_for()
    page.locator("main .watch-chart canvas").wait_for()


def test_only_what_failed_is_shown_when_asked_for(eye: Eye, lab: Laboratory) -> None:
    watch = lab.watch("out")["watch"]
    page = eye.go(f"/watches/{watch}")
    page.locator("main .watch-counts button", has_text="failed").click()
    soon(lambda: page.locator("main table.checkpoints tbody tr").count() == 1)
    eye.wait_text("this checkpoint cannot be read")
    eye.wait_address("state=failed")


def test_a_new_checkpoint_is_there_without_a_reload(eye: Eye, lab: Laboratory) -> None:
    """Watched elsewhere than the others, so that they find what they count."""
    (lab.work / "later").mkdir()
    evaluator = ("--evaluator", "evaluate.py:score", "--regex-filter", r"\.json$", "--quiet-time", "0.1s")
    lab.paddock("watch", "later", *evaluator, "--once", "--num-eval-workers", "0", "--quiet")
    found = lab.watch("later")
    page = eye.go(f"/watches/{found['watch']}")
    eye.wait_text("No checkpoint was found yet")
    (lab.work / "later/step=5.json").write_text("0.25")
    lab.paddock("watch", "later", *evaluator, "--once", "--num-eval-workers", "0", "--quiet")
    soon(lambda: page.locator("main table.checkpoints tbody tr").count() == 1)


def test_what_waits_and_what_was_missed_is_told_with_the_reason(eye: Eye, lab: Laboratory) -> None:
    (lab.work / "rotating").mkdir()
    evaluator = ("--evaluator", "evaluate.py:score", "--regex-filter", r"\.json$", "--quiet-time", "0.1s")
    queue = ("--queue", "rotating", "--num-eval-workers", "0", "--once", "--quiet")
    lab.paddock("watch", "rotating", *evaluator, *queue)
    for step in (10, 20):
        (lab.work / f"rotating/step={step}.json").write_text(str(1 / step))
    lab.paddock("watch", "rotating", *evaluator, *queue)
    page = eye.go(f"/watches/{lab.watch('rotating')['watch']}")
    eye.wait_text("2 pending", "main .watch-counts")
    assert page.locator("main table.checkpoints .state.eval-pending").count() == 2
    eye.wait_text("they wait in rotating, on which nobody works", "main .log-bar")
    eye.pictures("watch-pending")
    shutil.rmtree(lab.work / "rotating/.paddock-pins")  # as where no links can be made
    (lab.work / "rotating/step=10.json").unlink()
    lab.paddock("worker", "rotating", "--no-persist")
    eye.wait_text("1 missed", "main .watch-counts")
    eye.wait_text("1 done", "main .watch-counts")
    page.locator("main .watch-counts button", has_text="missed").click()
    (missed,) = (
        one for one in lab.get(f"/watches/{lab.watch('rotating')['watch']}")["evaluations"] if one["step"] == 10
    )
    row = page.locator("main table.checkpoints tbody tr", has_text="step=10.json")
    row.get_by_text(missed["reason"]).wait_for()
    soon(lambda: page.locator("main table.checkpoints tbody tr").count() == 1)
    eye.pictures("watch-missed")


def test_what_nobody_tells_of_is_seen_without_a_reload(browser: Any, tmp_path: Path) -> None:
    """In a home where nothing else happens: a queue elsewhere and a watcher that is killed say nothing."""
    with (
        laboratory(tmp_path / "quiet") as quiet,
        opened(browser, quiet.url) as page,
        opened(browser, quiet.url) as listed,
    ):
        (quiet.work / "evaluate.py").write_text(EVALUATE)
        (quiet.work / "out").mkdir()
        elsewhere = str(tmp_path / "q")
        ways = ("--regex-filter", r"\.json$", "--quiet-time", "0.1s", "--queue", elsewhere, "--num-eval-workers", "0")
        watcher = quiet.start("watch", "out", "--evaluator", "evaluate.py:score", *ways, "--plain", "--eval-existing")
        soon(lambda: quiet.get("/watches")["watches"] and quiet.watch("out")["watched"])
        (quiet.work / "out/step=10.json").write_text("0.5")
        listed.go("/watches")
        page.go(f"/watches/{quiet.watch('out')['watch']}")
        for seen in (page, listed):
            seen.wait_text("1 pending")
            seen.wait_text("watched on ")
        quiet.paddock("cancel", "--queue", elsewhere, "--all", "--yes")
        for seen in (page, listed):
            seen.wait_text("1 cancelled")
        watcher.kill()
        for seen in (page, listed):
            seen.page.locator("main", has_text="watched on ").wait_for(state="detached")
            seen.fine()


def test_a_command_that_is_shown_can_be_pasted(eye: Eye, lab: Laboratory) -> None:
    (lab.work / "my out").mkdir()
    evaluator = ("--evaluator", "evaluate.py:score", "--regex-filter", r"\.json$", "--quiet-time", "0.1s")
    lab.paddock("watch", "my out", *evaluator, "--once", "--num-eval-workers", "0", "--quiet")
    page = eye.go(f"/watches/{lab.watch('my out')['watch']}")
    shown = page.locator("main .command code").last.inner_text()
    assert lab.paddock(*shlex.split(shown)[1:])
