"""The page of one run: its charts, its evaluations, its log, and all that is known of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.board.eye import Eye, opened, soon
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


def test_logarithmic_axes_are_drawn(eye: Eye, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{watched['id']}?chart=train/loss&log=x,y")
    page.locator("main .plot canvas").wait_for()
    assert soon(lambda: page.evaluate(INKED)) > 100


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


def test_enter_goes_to_the_line_though_the_answer_is_still_to_come(eye: Eye, lab: Laboratory) -> None:
    page = eye.go(f"/runs/{lab.sweep()[0]}?tab=log")
    page.get_by_role("searchbox").first.focus()
    page.keyboard.type("done")
    page.keyboard.press("Enter")  # nobody waits for the server in between
    eye.wait_address("hit=")
    eye.wait_text(" of ", ".log-count")


def test_what_is_chosen_moves_nothing_beside_it(eye: Eye, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{watched['id']}?tab=charts")
    names = page.locator(".tabs a, .run-tabs button, main .choice button")

    def places() -> list[tuple[float, float]]:
        return [(box["x"], box["width"]) for box in (one.bounding_box() for one in names.all()) if box]

    before = places()
    page.get_by_role("button", name="log y").first.click()
    eye.wait_address("log=y")
    assert places() == before
    tabs = page.locator(".run-tabs button")
    edges = [tab.bounding_box()["x"] for tab in tabs.all()]
    page.get_by_role("tab", name="About").click()
    eye.wait_address("tab=about")
    assert [tab.bounding_box()["x"] for tab in tabs.all()] == edges


def test_a_long_name_leaves_room_for_how_it_ended(eye: Eye, lab: Laboratory) -> None:
    failed = next(run for run in lab.get("/runs?limit=500&q=name%3Dbad")["runs"])
    page = eye.go(f"/runs/{failed['id']}")
    page.evaluate("() => { document.querySelector('main h1').firstChild.data = 'with all of its config '.repeat(12) }")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
    cut = "() => { const e = document.querySelector('.run-reason'); return e.scrollWidth > e.clientWidth; }"
    assert page.locator(".run-reason").inner_text() == "ValueError: loss is nan at step 39"
    assert not page.evaluate(cut)


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
    table = page.locator("main section", has=page.get_by_role("heading", name="per class"))
    table.get_by_role("row", name="goldfish 0.75").wait_for()
    eye.go(f"/runs/{watched['id']}?tab=code")
    eye.wait_text("train.py")


def test_what_a_run_waits_for_is_on_its_page(eye: Eye, lab: Laboratory) -> None:
    eye.go(f"/runs/{lab.named('huge')['id']}")
    eye.wait_text("waits in default: needs 64 GPUs", "main .run-head")
    asking = lab.python("train.py", "--end", "ask", "--seed", "7")
    page = eye.go(f"/runs/{lab.named('ask-lr0.1-s7')['id']}")
    question = page.locator("main article", has_text="Lower the learning rate?")
    question.get_by_role("button", name="no", exact=True).click()
    soon(lambda: question.count() == 0)
    soon(lambda: asking.poll() == 0)
    soon(lambda: lab.named("ask-lr0.1-s7")["state"] == "finished")


def test_dependents_and_what_they_wait_for_lead_to_each_other(eye: Eye, lab: Laboratory) -> None:
    first = lab.paddock(
        "submit", "--no-snapshot", "--queue", "chain", "--name", "first", "--quiet", "--", "true"
    ).strip()
    then = ("--after", first, "--", "true")
    lab.paddock("submit", "--no-snapshot", "--queue", "chain", "--name", "second", "--quiet", *then)
    page = eye.go(f"/runs/{first}?tab=about")
    relations = page.locator("main section", has=page.get_by_role("heading", name="Relations"))
    relations.get_by_text("dependents").wait_for()
    relations.get_by_role("link", name="second").click()
    page.get_by_role("heading", name="second").wait_for()
    page.get_by_role("tab", name="About").click()
    relations.get_by_role("link", name="first").wait_for()
    eye.pictures("run-relations")


def test_gpus_are_in_the_usage(eye: Eye, lab: Laboratory, driver: dict[str, str]) -> None:
    """Of a driver that is none: what is drawn is what the record has."""
    found = {name: driver[name] for name in ("LD_LIBRARY_PATH", "XDG_RUNTIME_DIR")}
    training = lab.python("-c", ON_GPU, **found)
    assert training.wait(60) == 0
    run = lab.named("on a gpu")["id"]
    soon(lambda: lab.named("on a gpu")["state"] == "finished")  # so that the server has seen all of it
    (process,) = lab.get(f"/runs/{run}/usage")["processes"]
    assert process["most"]["gpu-memory"] == 512 * 2**20
    page = eye.go(f"/runs/{run}?tab=usage")
    for title in ("GPU (of one)", "GPU memory"):
        page.locator("main article", has_text=title).locator("canvas").wait_for()
    eye.wait_text("537 MB", "main table")
    eye.pictures("run-gpus")


def test_a_point_that_is_alone_is_seen(eye: Eye, lab: Laboratory) -> None:
    assert lab.python("-c", "import paddock; paddock.init(name='alone').log({'x/alone': 3}, step=7)").wait(60) == 0
    page = eye.go(f"/runs/{lab.named('alone')['id']}")
    page.locator("main .plot canvas").wait_for()
    assert soon(lambda: page.evaluate(INKED)) > 12


def test_the_line_that_was_come_to_is_in_the_address(eye: Eye, watched: dict[str, Any]) -> None:
    page = eye.go(f"/runs/{watched['id']}?tab=log&find=epoch")
    eye.wait_text("lines", ".log-count")
    page.keyboard.type("nNN")  # as fast as it goes: the last one, and two before it
    told = page.locator(".log-count", has_text=" of ")
    told.wait_for()
    count = int(told.inner_text().split(" of ")[1])
    eye.wait_text(f"{count - 2} of {count}", ".log-count")
    line = page.locator(".log-row.hit").inner_text()
    with opened(page.context.browser, eye.url) as other:
        other.go(page.evaluate("location.pathname + location.search"))
        other.wait_text(f"{count - 2} of {count}", ".log-count")
        other.page.locator(".log-row.hit", has_text=line).wait_for()
        other.fine()


def test_the_picture_that_is_seen_is_in_the_address(eye: Eye, lab: Laboratory) -> None:
    (lab.work / "pictures.py").write_text(PICTURES)
    assert lab.python("pictures.py").wait(60) == 0
    page = eye.go(f"/runs/{lab.named('painter')['id']}?tab=files")
    eye.wait_text("step 3", "main .strip")
    page.get_by_label("sample: which of 3").press("ArrowLeft")
    page.get_by_label("sample: which of 3").press("ArrowLeft")
    eye.wait_text("step 1", "main .strip")
    with opened(page.context.browser, lab.url) as other:
        other.go(page.evaluate("location.pathname + location.search"))
        other.wait_text("step 1", "main .strip")
        other.page.get_by_label("sample: which of 3").press("End")
        other.wait_text("step 3", "main .strip")
        other.wait_address("shown=", there=False)  # the last one, whichever that is tomorrow
        other.fine()


def test_a_run_that_is_not_there_is_a_sentence(eye: Eye) -> None:
    eye.go("/runs/nosuchrun")
    eye.wait_text("There is no such run")
    assert all("404" in error for error in eye.errors)
    eye.errors.clear()


# Pixels between the axes that have the colour of the first line.
INKED = """() => {
  const canvas = document.querySelector("main .plot canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 200 && data[at + 2] - data[at] > 100) count += 1;
  return count;
}"""
ON_GPU = """
import os, time
os.environ["STUB_PID"] = str(os.getpid())
import paddock
from paddock.monitor.usage import Usage
run = paddock.init(project="gpus", name="on a gpu", usage=True)
Usage.checkpoint("train")
for step in range(10):
    run.log({"loss": 1 / (step + 1)}, step=step)
    time.sleep(0.2)
"""
PICTURES = """
import paddock
run = paddock.init(project="painting", name="painter")
for step in (1, 2, 3):
    run.log_image("sample", [[[step * 60, 0, 0]] * 4] * 4, step=step)
"""
GOING = """
import pathlib, time, paddock
run = paddock.init(project="going", name="going")
for step in (1, 2):
    run.log({"loss": 1 / step}, step=step)
    print("step", step, flush=True)
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
"""
