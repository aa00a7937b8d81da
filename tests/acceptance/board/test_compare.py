"""A comparison shows only what differs, folds seeds as `paddock compare` does, and can be carried away."""

from __future__ import annotations

import re
from itertools import chain
from statistics import mean, stdev
from typing import Any

import pytest

from tests.acceptance.board.eye import Eye, opened, soon
from tests.acceptance.board.laboratory import LRS, SEEDS, Laboratory


@pytest.fixture
def compare(eye: Eye, lab: Laboratory) -> str:
    return f"/compare?run={'&run='.join(lab.sweep())}"


def accuracies(lab: Laboratory, lr: float) -> list[float]:
    runs = lab.get("/runs?limit=500&q=name~sweep")["runs"]
    return [run["metrics"]["val/acc"]["best"] for run in runs if run["config"]["optimizer"]["lr"] == lr]


def test_only_what_differs_is_listed(eye: Eye, lab: Laboratory, compare: str) -> None:
    page = eye.go(f"{compare}&show=differences")
    table = page.locator("main table").first
    told = lab.get(f"/diff?run={'&run='.join(lab.sweep())}")["config"]
    assert table.locator("tbody th").all_inner_texts() == [row["key"] for row in told]
    assert {row["key"] for row in told} == {"lr", "optimizer.lr", "seed"}
    page.get_by_label("what is the same, too").check()
    eye.wait_text("optimizer.name")
    packages = page.locator("main section", has=page.get_by_role("heading", name="Packages"))
    packages.get_by_role("rowheader", name="pytest", exact=True).wait_for()  # of what a worker ran, too


def test_seeds_are_folded_into_mean_and_std(eye: Eye, lab: Laboratory, compare: str) -> None:
    eye.go(f"{compare}&show=results&metric=val/acc&stat=best")
    eye.wait_text("±", "main table")
    terminal = lab.paddock("compare", "name~sweep", "--by", "optimizer.lr", "--metric", "val/acc")
    told = [(mean(values), stdev(values)) for values in (accuracies(lab, lr) for lr in sorted(LRS))]
    for text in (eye.text("main table"), terminal):
        found = sorted((float(m), float(s)) for m, s in re.findall(r"([\d.]+) ± ([\d.]+)", text))
        assert list(chain(*found)) == pytest.approx(list(chain(*told)), rel=0.03)


def test_the_curves_are_drawn_and_zoomed_by_key(eye: Eye, compare: str) -> None:
    page = eye.go(f"{compare}&metric=train/loss")
    chart = page.locator("main .plot").first
    chart.locator("canvas").wait_for()
    chart.focus()
    for _ in range(2):
        page.keyboard.press("+")  # as fast as it goes: none is lost
    eye.wait_address("zoom=14.625~24.375")
    page.keyboard.press("0")
    eye.wait_address("zoom=", there=False)


def test_the_curves_are_zoomed_by_drag_and_wheel(eye: Eye, compare: str) -> None:
    page = eye.go(f"{compare}&metric=train/loss")
    over = page.locator("main .plot .u-over").first
    over.wait_for()
    box = over.bounding_box()
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, height, steps=4)
    page.mouse.up()
    eye.wait_address("zoom=")
    low, high = zoomed(page)
    assert (low, high) == (pytest.approx(39 * 0.4, abs=0.2), pytest.approx(39 * 0.6, abs=0.2))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    eye.wait_address(f"zoom={low:.10g}~{high:.10g}", there=False)
    closer = zoomed(page)
    assert low < closer[0] < closer[1] <= high
    over.dblclick()
    eye.wait_address("zoom=", there=False)


def zoomed(page: Any) -> tuple[float, float]:
    low, high = re.search(r"zoom=([\d.]+)~([\d.]+)", page.url).groups()  # type: ignore[union-attr]
    return float(low), float(high)


@pytest.mark.parametrize("show", ["scatter", "parallel"])
def test_config_and_result_are_drawn_against_each_other(eye: Eye, compare: str, show: str) -> None:
    page = eye.go(compare)
    page.get_by_role("button", name=show.capitalize()).click()
    eye.wait_address(f"show={show}")
    page.locator("main :is(svg circle, svg path, svg polyline, canvas)").first.wait_for()
    eye.pictures(f"compare-{show}")


@pytest.mark.parametrize(
    ("label", "mark"), [("LaTeX", r"\begin{tabular}"), ("Markdown", "| --- |"), ("CSV", "acc mean,val/acc std,")]
)
def test_the_results_are_copied(eye: Eye, compare: str, label: str, mark: str) -> None:
    page: Any = eye.go(f"{compare}&show=results&metric=val/acc&stat=best")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=label).click()
    copied = soon(lambda: page.evaluate("navigator.clipboard.readText()"))
    assert mark.replace(" ", "") in copied.replace(" ", "").replace("-----", "---") or mark in copied


def test_a_scatter_has_logarithmic_axes(eye: Eye, compare: str) -> None:
    page = eye.go(f"{compare}&show=scatter&log=x,y")
    page.locator("main .plot canvas").wait_for()
    soon(lambda: page.locator("main .plot canvas").evaluate(LOWEST))


def test_seeds_are_folded_over_steps_time_and_epochs(eye: Eye, compare: str) -> None:
    page = eye.go(f"{compare}&metric=train/loss")
    assert sorted(page.locator("main .legend button").all_inner_texts()) == sorted(
        f"lr={lr} (n={len(SEEDS)})"
        for lr in LRS  # optimizer.lr says the same
    )
    for axis in ("step", "epoch"):
        page.get_by_role("button", name=axis, exact=True).click()
        over = page.locator("main .plot .u-over").first
        over.hover()
        page.locator("main .tip:has-text('±')").wait_for()
        page.mouse.move(0, 0)
        page.locator("main .tip").wait_for(state="detached")
    # The trainings of a test are over in a moment: over time there may be nothing in the middle.
    with page.expect_response(lambda got: "/api/v1/series?" in got.url and "times=true" in got.url) as answer:
        page.get_by_role("button", name="time", exact=True).click()
    assert len(answer.value.json()["series"]) == len(LRS) * len(SEEDS)
    eye.settle()


def test_panels_beside_each_other_have_one_scale(eye: Eye, compare: str) -> None:
    """The loss of the one learning rate falls to a third, that of the other hardly: it stays in the upper half."""
    page = eye.go(f"{compare}&metric=train/loss&col=config.lr")
    soon(lambda: page.locator("main .plot canvas").count() == len(LRS))
    eye.settle()
    slow, quick = (page.locator("main .plot canvas").nth(at) for at in range(len(LRS)))
    soon(lambda: quick.evaluate(LOWEST) > 0.7)
    assert 0 < slow.evaluate(LOWEST) < 0.5
    eye.pictures("compare-facets")


# Where the lowest pixel of a line is: 0 at the top, 1 at the bottom.
LOWEST = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let at = data.length - 4; at >= 0; at -= 4) {
    const colours = [data[at], data[at + 1], data[at + 2]];
    if (data[at + 3] > 200 && Math.max(...colours) - Math.min(...colours) > 100) return at / data.length;
  }
  return 0;
}"""


def test_what_is_picked_on_an_axis_is_in_the_address(eye: Eye, lab: Laboratory) -> None:
    page = eye.go(f"/compare?run={'&run='.join(lab.sweep())}&show=parallel")
    axis = page.locator("svg.parallel g rect").first.bounding_box()  # of the learning rate
    middle = axis["x"] + axis["width"] / 2
    page.mouse.move(middle, axis["y"] + 2)
    page.mouse.down()
    page.mouse.move(middle, axis["y"] + axis["height"] / 3, steps=5)
    page.mouse.up()
    eye.wait_text("2 of 4 picked")
    with opened(page.context.browser, lab.url) as other:
        other.go(page.evaluate("location.pathname + location.search"))
        other.wait_text("2 of 4 picked")
        other.fine()


def test_that_not_all_are_compared_is_said(eye: Eye, lab: Laboratory) -> None:
    runs = [*lab.sweep(), *(f"other{n}" for n in range(200))]
    eye.go(f"/compare?run={','.join(runs)}&show=results")
    eye.wait_text(f"The first 200 of the {len(runs)} runs")


def test_one_run_is_compared_with_others_that_are_selected_then(eye: Eye, lab: Laboratory) -> None:
    one, *_ = lab.sweep()
    page = eye.go(f"/runs/{one}")
    page.get_by_role("link", name="Compare", exact=True).last.click()
    page.get_by_role("link", name="list").click()
    page.get_by_label("Filter").fill("name~sweep")
    eye.wait_text("1 run selected")
    page.locator("main [role=row] input[type=checkbox]:not(:checked)").first.click()
    eye.wait_text("2 runs selected")
    page.keyboard.press("c")
    page.wait_for_url(f"**/compare?*run={one}*")
    eye.settle()
    eye.wait_text("2 runs")


def test_the_best_is_what_the_goal_says_also_of_what_was_logged_once(eye: Eye, lab: Laboratory) -> None:
    (lab.work / "once.py").write_text(ONCE)
    for k in (1, 2):
        assert lab.python("once.py", str(k)).wait(60) == 0
    runs = [lab.named(f"once {k}")["id"] for k in (1, 2)]
    page = eye.go(f"/compare?run={'&run='.join(runs)}&show=results&fold=0")
    best = page.locator("main table.results td.best")
    soon(lambda: sorted(best.all_inner_texts()) == ["0.1", "0.2"])
    eye.go("/runs?q=project%3Donce&by=config.k&col=best.test/loss&col=best.points")
    best = page.locator("main .groups td.best")
    soon(lambda: sorted(best.all_inner_texts()) == ["0.1", "0.2"])


ONCE = """
import sys, paddock
k = int(sys.argv[1])
run = paddock.init(project="once", name=f"once {k}", config={"k": k})
run.define_metric("points", goal="min")
run.log({"test/loss": 0.1 * k, "points": 0.2 * k})
"""
