"""Answers that come late: whatever the order in which a page hears of something, in the end it shows what is so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import Popen
from typing import Any

import pytest

from tests.acceptance.board.eye import Eye, soon
from tests.acceptance.board.laboratory import Laboratory

EVENTS = "**/api/v1/events?*"


@dataclass
class Training:
    """It prints and logs `step 1`, and when it is told to `step 2`; then it goes on until it may end."""

    lab: Laboratory
    name: str
    process: Popen[Any]
    id: str = ""

    def print_more(self) -> None:
        (self.lab.work / f"{self.name}.go").touch()
        soon(lambda: "step 2" in self.lab.get(f"/runs/{self.id}/output")["lines"])

    def end(self) -> None:
        """Until the server knows."""
        for gate in ("go", "end"):
            (self.lab.work / f"{self.name}.{gate}").touch()
        assert self.process.wait(60) == 0
        soon(lambda: self.lab.get(f"/runs/{self.id}")["run"]["state"] == "finished")


@pytest.fixture(scope="module", autouse=True)
def _tidy(lab: Laboratory) -> Iterator[None]:
    """Other tests look at all runs, which fit on one screen."""
    yield
    lab.paddock("rm", "--yes", "project=late")


@pytest.fixture
def training(lab: Laboratory, request: pytest.FixtureRequest) -> Iterator[Training]:
    name = re.sub(r"\W", "-", request.node.name)
    found = Training(lab, name, lab.python("-c", TRAINING, name))
    found.id = lab.named(name)["id"]
    soon(lambda: lab.get(f"/runs/{found.id}")["run"]["metrics"])
    yield found
    found.end()


@contextmanager
def held(page: Any, pattern: str) -> Iterator[list[Any]]:
    """What the page asks for there is not asked of the server, until this is over."""
    asked: list[Any] = []
    waits = True
    page.route(pattern, lambda route: asked.append(route) if waits else route.continue_())
    yield asked
    waits = False
    for route in asked:
        route.continue_()


def state(page: Any) -> Callable[[], str]:
    return lambda: page.locator("main .run-head .state").inner_text()


def test_an_answer_that_is_older_than_the_news_does_not_undo_them(eye: Eye, training: Training) -> None:
    """The end is heard of while the first answer, of a run that goes on, is on its way; and it is the only one."""
    page = eye.page
    asked: list[Any] = []
    page.add_init_script(HEARD)
    page.route(f"**/api/v1/runs/{training.id}", lambda route: asked.append(route))
    with page.expect_response(EVENTS):
        page.goto(f"{eye.url}/runs/{training.id}?tab=log")
    older = soon(lambda: page.wait_for_timeout(20) or asked)[0].fetch()
    assert older.json()["run"]["state"] == "running"
    training.end()
    soon(lambda: page.evaluate("heard.includes('finished')"))
    asked[0].fulfill(response=older)
    soon(lambda: state(page)() == "finished")


def test_news_between_an_answer_and_the_next_paint_are_not_undone(eye: Eye, training: Training) -> None:
    """An answer of a run that goes on is there, and what the page does after painting it comes behind the news."""
    page = eye.page
    asked: list[Any] = []
    page.add_init_script(HEARD + LATE)
    page.route(
        f"**/api/v1/runs/{training.id}", lambda route: asked.append(route) or len(asked) > 1 or route.continue_()
    )
    eye.go(f"/runs/{training.id}?tab=log")
    eye.wait_text("step 1")
    older = soon(lambda: page.wait_for_timeout(20) or asked[1:])[0].fetch()
    assert older.json()["run"]["state"] == "running"
    page.evaluate("late = true")
    with page.expect_response(f"**/api/v1/runs/{training.id}"):
        asked[1].fulfill(response=older)
    training.end()
    soon(lambda: page.evaluate("heard.includes('finished')"))
    soon(lambda: state(page)() == "finished")


def test_what_happened_before_the_stream_was_there_is_seen(eye: Eye, training: Training) -> None:
    page = eye.page
    with held(page, EVENTS) as asked:
        eye.go(f"/runs/{training.id}?tab=log")
        eye.wait_text("step 1")
        assert state(page)() == "running" and asked
        training.end()
    soon(lambda: state(page)() == "finished")
    eye.wait_text("step 2")


@pytest.mark.parametrize("kind", ["printed", "logged"])
def test_what_was_said_before_the_stream_was_there_is_seen(eye: Eye, training: Training, kind: str) -> None:
    with held(eye.page, EVENTS):
        eye.go(f"/runs/{training.id}?tab=log&log-of={kind}")
        eye.wait_text("step 1")
        training.print_more()
    eye.wait_text("step 2")
    assert state(eye.page)() == "running"


@pytest.mark.parametrize("kind", ["printed", "logged"])
def test_what_was_said_last_is_seen_when_the_end_is_heard_of_first(eye: Eye, training: Training, kind: str) -> None:
    """With the end the page listens no more to what is said; here it never did."""
    page = eye.page
    page.route(EVENTS, lambda route: route.continue_(url=re.sub("&(output|lines)=[^&]*", "", route.request.url)))
    eye.go(f"/runs/{training.id}?tab=log&log-of={kind}")
    eye.wait_text("step 1")
    training.end()
    soon(lambda: state(page)() == "finished")
    eye.wait_text("step 2")


# All that the page has decoded of its streams.
HEARD = """
window.heard = "";
const decode = TextDecoder.prototype.decode;
TextDecoder.prototype.decode = function (...given) {
  const text = decode.apply(this, given);
  window.heard += text;
  return text;
};
"""
# What waits for the next paint, or a moment for want of one, waits for seconds once `late` is true.
LATE = """
window.late = false;
const wait = window.setTimeout;
window.setTimeout = (act, ms, ...rest) => wait(act, window.late && !(ms > 50) ? 3000 : ms, ...rest);
"""
TRAINING = """
import logging, pathlib, sys, time, paddock
name = sys.argv[1]
run = paddock.init(project="late", name=name, capture_logging=True)
for step, gate in ((1, "go"), (2, "end")):
    run.log({"loss": 1 / step}, step=step)
    logging.info("step %d", step)
    print("step", step, flush=True)
    while not pathlib.Path(f"{name}.{gate}").exists():
        time.sleep(0.02)
"""
