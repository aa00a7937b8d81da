"""The page of one run: its charts, its evaluations, its log, and all that is known of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.board.eye import Eye, soon
from tests.acceptance.board.laboratory import Laboratory


@pytest.fixture
def watched(lab: Laboratory) -> dict[str, Any]:
    return lab.named("train-lr0.2-s0")


def test_there_is_a_chart_for_every_metric_in_groups(eye: Eye, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{watched['id']}")
    page.locator("main canvas").first.wait_for()
    names = [title.get_attribute("title") for title in page.locator("main article h3").all()]
    charted = set(watched["metrics"]) - {"epoch"}  # which is an axis
    assert sorted(names) == sorted(charted) and "eval/score/acc" in names
    assert page.title().startswith(watched["name"])


def test_smoothing_axes_and_zoom_are_in_the_address(eye: Eye, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{watched['id']}")
    page.get_by_role("button", name="log y").first.click()
    eye.wait_address("log=y")
    page.get_by_role("button", name="time", exact=True).click()
    eye.wait_address("x=time")
    page.locator("main input[type=range]").first.press("ArrowRight")
    eye.wait_address("smooth=")
    page.reload()
    eye.settle()
    assert page.get_by_role("button", name="log y").first.get_attribute("aria-pressed") == "true"


def test_evaluations_are_told_with_their_state(eye: Eye, lab: Laboratory, watched: dict[str, Any]) -> None:
    eye.go(f"/runs/{watched['id']}")
    told = lab.get(f"/runs/{watched['id']}/evaluations")["evaluations"]
    assert [one["state"] for one in told].count("failed") == 1
    eye.wait_text(f"{len(told)} evaluations", "main .run-head")
    eye.wait_text("1 failed", "main .run-head")


def test_the_log_has_its_colours_and_is_searched(eye: Eye, lab: Laboratory, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{lab.sweep()[0]}?tab=log")
    page.locator("main .ansi :is(.bold, .b, [class*=bold], [class*=green])").first.wait_for()
    assert "\x1b" not in eye.text() and "start with lr" in eye.text()
    page.get_by_role("searchbox").first.fill("done")
    page.locator("main :is(mark, .hit, .found)").first.wait_for()


def test_a_failed_run_says_how_it_ended(eye: Eye, lab: Laboratory) -> None:
    failed = next(run for run in lab.get("/runs?limit=500&q=name%3Dbad")["runs"])
    eye.go(f"/runs/{failed['id']}?tab=about")
    for words in ("failed", "loss is nan at step 39", "optimizer.lr", "0.1"):
        eye.wait_text(words)


def test_what_runs_is_live(eye: Eye, lab: Laboratory) -> None:
    """A training that goes on: its points come into the page by themselves."""
    going = lab.python("-c", GOING)
    soon(lambda: [run for run in lab.get("/runs?limit=500&q=name%3Dgoing")["runs"] if run["metrics"]])
    page = eye.go(f"/runs/{lab.named('going')['id']}?tab=log")
    eye.wait_text("step 1")
    (lab.work / "go").touch()
    eye.wait_text("step 2")
    soon(lambda: page.locator("main .run-head .state").inner_text() == "finished")
    assert going.wait(20) == 0


def test_usage_code_and_files_are_there(eye: Eye, lab: Laboratory, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{lab.named('ask-lr0.1-s0')['id']}?tab=usage")
    page.locator("main canvas").first.wait_for()
    eye.picture("run-usage")
    eye.go(f"/runs/{watched['id']}?tab=files")
    eye.wait_text(".png")
    page.locator("main img").first.wait_for()
    assert page.locator("main img").first.evaluate("one => one.decode().then(() => one.naturalWidth)") == 64
    eye.go(f"/runs/{watched['id']}?tab=code")
    eye.wait_text("train.py")


def test_a_run_that_is_not_there_is_a_sentence(eye: Eye) -> None:
    eye.go("/runs/nosuchrun")
    eye.wait_text("There is no such run")
    assert all("404" in error for error in eye.errors)
    eye.errors.clear()


GOING = """
import pathlib, time, paddock
run = paddock.init(project="going", name="going")
for step in (1, 2):
    run.log({"loss": 1 / step}, step=step)
    print("step", step, flush=True)
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
"""
