"""The list of runs: what it shows is what the API says, and what is done there is in the record."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.board.eye import NARROW, WIDE, Eye, soon
from tests.acceptance.board.laboratory import LRS, PROJECT, SEEDS, Laboratory

TALL = 4000  # so that every row is drawn, however many runs other tests have made
ROW = "main [role=row]:has(input)"


def rows(eye: Eye) -> list[str]:
    """The names in the list, as they stand."""
    return [str(name) for name in eye.page.locator(f"{ROW} a[href^='/runs/']").all_inner_texts()]


def shown(eye: Eye, names: list[str]) -> None:
    soon(lambda: rows(eye) == names)


@pytest.mark.parametrize("query", ["", "state=finished", "name~sweep", "optimizer.lr<0.1 state!=running", "state=lost"])
def test_the_list_has_the_runs_of_the_query_in_their_order(eye: Eye, lab: Laboratory, query: str) -> None:
    page = eye.go("/runs")
    page.set_viewport_size({"width": WIDE[0], "height": TALL})
    page.get_by_label("Filter").fill(query)
    path = f"/runs?limit=500&q={quote(query)}"
    soon(lambda: listed(eye) == told(lab.get(path)))
    assert str(len(rows(eye))) in eye.text("main .page-head")


def listed(eye: Eye) -> list[tuple[str, str]]:
    """The names and states in the list, as they stand."""
    return list(zip(rows(eye), eye.page.locator(f"{ROW} .state").all_inner_texts(), strict=False))


def told(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Asked for again and again: what other tests have begun may end, or be found to be lost, while one looks."""
    return [(run["name"], run["state"]) for run in answer["runs"]]


def test_a_query_that_is_none_is_explained(eye: Eye) -> None:
    page = eye.go("/runs")
    page.get_by_label("Filter").fill("lr<<")
    page.locator("#filter-error .bad-text").wait_for()
    assert any(error.startswith("400 ") for error in eye.errors)
    page.get_by_label("Filter").fill("")
    soon(lambda: rows(eye))
    eye.errors.clear()


def test_a_filter_that_nothing_fits_is_told_for_the_terminal(eye: Eye, lab: Laboratory) -> None:
    query = quote("name~nobody's lr<1")
    eye.go(f"/runs?q={query}")
    eye.wait_text(r"paddock ls 'name~nobody'\''s lr<1'", "main .empty code")


@pytest.mark.parametrize("menu", ["Group", "Columns"])
def test_a_list_of_keys_is_searched_by_typing(eye: Eye, menu: str) -> None:
    page = eye.go("/runs")
    page.get_by_role("button", name=menu).press("Enter")
    page.keyboard.type("optimizer.lr")
    box = page.locator(".panel-search")
    soon(lambda: box.input_value() == "optimizer.lr")
    page.locator(".panel .item", has_text="optimizer.lr").first.wait_for()
    page.keyboard.press("Escape")
    box.wait_for(state="detached")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_selecting_a_run_moves_no_row(eye: Eye, size: tuple[int, int]) -> None:
    page = eye.go("/runs?q=name~sweep")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    boxes = page.locator(f"{ROW} input[type=checkbox]")
    boxes.nth(1).wait_for()
    place = boxes.nth(0).bounding_box()
    boxes.nth(1).click()
    eye.wait_text("1 run selected")
    assert boxes.nth(0).bounding_box() == place
    page.keyboard.press("Escape")
    eye.wait_text("Select runs to compare")


def test_a_head_sorts_and_the_address_keeps_it(eye: Eye, lab: Laboratory) -> None:
    page = eye.go(f"/runs?q=project%3D{PROJECT}")
    page.locator("main [role=columnheader] button", has_text="name").first.click()
    names = [run["name"] for run in lab.get(f"/runs?limit=500&q=project%3D{PROJECT}&sort=name")["runs"]]
    shown(eye, names)
    eye.wait_address("sort=name")
    page.reload()
    shown(eye, names)


def test_runs_are_grouped_with_mean_std_and_count(eye: Eye, lab: Laboratory) -> None:
    page = eye.go("/runs?q=name~sweep&by=config.optimizer.lr&col=last.val/acc")
    page.locator("main table tbody tr, main [role=rowgroup] [role=row]").first.wait_for()
    text = eye.text("main")
    runs = lab.get("/runs?limit=500&q=name~sweep")["runs"]
    for lr in LRS:
        values = [run["metrics"]["val/acc"]["last"] for run in runs if run["config"]["optimizer"]["lr"] == lr]
        mean = sum(values) / len(values)
        assert len(values) == len(SEEDS) and f"{mean:.3g}"[:4] in text
    assert "±" in text


def test_groups_are_asked_for_once_it_is_known_of_what(eye: Eye) -> None:
    asked: list[str] = []
    eye.page.on("request", lambda request: "/groups?" in request.url and asked.append(request.url))
    eye.go("/runs?q=name~sweep&by=config.optimizer.lr")
    eye.wait_text("±")
    assert asked and all("metric=" in url for url in asked)


def test_what_is_starred_tagged_and_noted_is_in_the_record(eye: Eye, lab: Laboratory) -> None:
    run = lab.named("train-lr0.2-s0")
    page = eye.go("/runs?q=name%3Dtrain-lr0.2-s0")
    page.locator(f"{ROW} button[aria-pressed]").first.click()
    soon(lambda: lab.named("train-lr0.2-s0")["star"])
    page.locator(f"{ROW} input[type=checkbox]").first.click()
    page.get_by_role("button", name="Tag", exact=True).click()
    page.locator("dialog input").fill("good seen")
    page.locator("dialog footer button", has_text="Add").click()
    soon(lambda: set(lab.named("train-lr0.2-s0")["tags"]) >= {"good", "seen"})
    page.get_by_role("button", name="Note", exact=True).click()
    page.locator("dialog textarea").fill("Looks fine.")
    page.locator("dialog footer button", has_text="Keep").click()
    soon(lambda: lab.named("train-lr0.2-s0")["notes"] == "Looks fine.")
    assert "Looks fine." in lab.paddock("show", run["id"])


def test_two_runs_that_are_selected_by_keyboard_are_compared(eye: Eye, lab: Laboratory) -> None:
    page = eye.go("/runs?q=name~sweep")
    soon(lambda: len(rows(eye)) == len(LRS) * len(SEEDS))
    page.keyboard.type("jxjxc")  # as fast as it goes
    page.wait_for_url("**/compare?**")
    eye.settle()
    ids = [run["id"] for run in lab.get("/runs?limit=500&q=name~sweep")["runs"]][:2]
    assert all(f"run={run}" in page.url for run in ids)


def test_a_run_that_begins_is_in_the_list_at_once(eye: Eye, lab: Laboratory) -> None:
    eye.go("/runs?q=project%3Dsudden")
    eye.wait_text("No run fits")
    task = lab.paddock(
        "submit", "--no-snapshot", "--project", "sudden", "--name", "sudden", "--quiet", "--", "true"
    ).strip()
    soon(lambda: rows(eye) == ["sudden"])
    soon(lambda: eye.page.locator(f"{ROW} .state").all_inner_texts() == ["finished"])
    assert lab.get(f"/runs/{task}")["run"]["state"] == "finished"


def test_a_curve_is_asked_for_of_those_runs_only_that_have_it(eye: Eye, lab: Laboratory) -> None:
    asked: list[str] = []
    eye.page.on("request", lambda request: "/series?" in request.url and asked.append(request.url))
    page = eye.go(f"/runs?q={quote('name~huge or name~sweep')}&col={quote('spark:train/loss')}")
    soon(lambda: page.locator(f"{ROW} svg.spark path").count() == len(LRS) * len(SEEDS))
    assert {"huge", *(lab.get(f"/runs/{run}")["run"]["name"] for run in lab.sweep())} == set(rows(eye))
    assert asked and not [url for url in asked if lab.named("huge")["id"] in url]
