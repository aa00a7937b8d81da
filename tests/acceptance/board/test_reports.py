"""A report is written on the board, kept in the home, and carried away as one file."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.board.eye import Eye, opened, soon
from tests.acceptance.board.laboratory import LRS, Laboratory


def test_a_comparison_becomes_a_report_with_prose(eye: Eye, lab: Laboratory) -> None:
    page = eye.go(f"/compare?run={'&run='.join(lab.sweep()[:2])}")
    page.get_by_role("button", name="Put into a report").click()
    page.get_by_label("Its title").fill("Two of four")
    page.get_by_role("button", name="Keep").click()
    page.wait_for_url("**/reports/*")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("They are **alike**.")
    page.locator("main .preview strong", has_text="alike").wait_for()
    page.get_by_role("button", name="Save").click()
    page.locator("main article strong", has_text="alike").wait_for()
    kept = next(one for one in lab.get("/reports")["reports"] if one["title"] == "Two of four")
    assert [block["kind"] for block in kept["blocks"]] == ["text", "comparison"]
    assert kept["blocks"][0]["text"] == "They are **alike**."
    eye.go("/reports")
    titles = [one["title"] for one in lab.get("/reports")["reports"]]
    assert page.locator("main li h2").all_inner_texts() == titles
    page.get_by_role("link", name="Two of four").click()
    page.get_by_role("button", name="Remove").click()
    page.locator("dialog").get_by_role("button", name="Remove", exact=True).click()
    soon(lambda: "Two of four" not in [one["title"] for one in lab.get("/reports")["reports"]])


def test_an_exported_report_opens_without_a_server(eye: Eye, lab: Laboratory, tmp_path: Path) -> None:
    report = next(one for one in lab.get("/reports")["reports"] if one["title"] == "What the sweep says")
    page = eye.go(f"/reports/{report['id']}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export HTML").click()
    file = tmp_path / "report.html"
    download.value.save_as(file)
    assert "<script" not in file.read_text() and "://" not in file.read_text().replace("http://www.w3.org", "")
    with opened(page.context.browser, "") as reader:
        asked: list[str] = []
        reader.page.on("request", lambda request: asked.append(request.url))
        reader.page.goto(file.as_uri())
        assert "Learning rates" in reader.text("main") and reader.page.locator("svg path").count() > 0
        assert asked == [file.as_uri()]
        assert reader.barriers() == []
        reader.picture("exported-report")
        reader.fine()


def test_prose_that_was_not_saved_is_there_when_one_comes_back(eye: Eye, lab: Laboratory) -> None:
    report = lab.post("/reports", {"title": "Half written", "blocks": [{"kind": "text", "text": "Saved."}]})
    page = eye.go(f"/reports/{report['id']}?edit=1")
    page.get_by_label("Text").fill("An hour of work.")
    page.get_by_role("link", name="Runs").click()
    page.wait_for_url("**/runs")
    eye.go(f"/reports/{report['id']}")
    assert "Saved." in eye.text("main article") and "An hour" not in eye.text("main article")
    page.get_by_role("button", name="Go on writing").click()
    assert page.get_by_label("Text").input_value() == "An hour of work."
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("main article", has_text="An hour of work.").wait_for()
    assert lab.get(f"/reports/{report['id']}")["blocks"][0]["text"] == "An hour of work."
    assert page.get_by_role("button", name="Go on writing").count() == 0
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("Nothing that counts.")
    page.get_by_role("button", name="Leave without saving").click()
    page.locator("main article", has_text="An hour of work.").wait_for()
    assert page.get_by_role("button", name="Go on writing").count() == 0


def test_a_report_of_what_still_runs_goes_on_with_it(eye: Eye, lab: Laboratory) -> None:
    going = lab.python("-c", GOING)
    run = soon(lambda: [one for one in lab.get("/runs?limit=500&q=name%3Dreported")["runs"] if one["metrics"]])[0]
    text = f"run={run['id']}&run={lab.sweep()[0]}&show=results&metric=train/loss&stat=last&fold=0"
    blocks = [{"kind": "comparison", "text": text}]
    report = lab.post("/reports", {"title": "Going on", "blocks": blocks})
    eye.go(f"/reports/{report['id']}")
    eye.wait_text("0.5625", "main table.results")
    (lab.work / "on").touch()
    eye.wait_text("0.4375", "main table.results")
    assert going.wait(60) == 0


GOING = """
import pathlib, time, paddock
run = paddock.init(project="going", name="reported")
run.log({"train/loss": 0.5625}, step=1)
while not pathlib.Path("on").exists():
    time.sleep(0.02)
run.log({"train/loss": 0.4375}, step=2)
"""


def test_a_report_carries_each_comparison_as_it_was_seen(eye: Eye, lab: Laboratory, tmp_path: Path) -> None:
    runs = "&".join(f"run={run}" for run in lab.sweep())
    shown = (
        "show=scatter&hue=config.optimizer.lr",
        "show=parallel",
        "show=differences",
        "hue=config.lr&dash=config.lr",
    )
    blocks = [{"kind": "comparison", "text": f"{runs}&{one}"} for one in shown]
    report = lab.post("/reports", {"title": "Each kind", "blocks": blocks})
    page = eye.go(f"/reports/{report['id']}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export HTML").click()
    file = tmp_path / "report.html"
    download.value.save_as(file)
    with opened(page.context.browser, "") as reader:
        reader.page.goto(file.as_uri())
        sections = reader.page.locator("main > section")
        many = len(lab.sweep())
        assert sections.nth(0).locator("svg circle").count() == many
        assert sections.nth(1).locator("svg polyline").count() == many
        assert "Their packages are the same." in sections.nth(2).inner_text()
        assert sections.nth(2).locator("tbody th", has_text="optimizer.lr").count() == 1
        assert sections.nth(3).locator(".legend svg line").count() > 1
        assert reader.barriers() == []
        reader.picture("exported-kinds")
        reader.fine()


def test_panels_of_an_export_stand_beside_each_other_on_one_scale(eye: Eye, lab: Laboratory, tmp_path: Path) -> None:
    runs = "&".join(f"run={run}" for run in lab.sweep())
    shown = f"{runs}&metric=train/loss&col=config.lr&fold=0"
    report = lab.post("/reports", {"title": "Panels", "blocks": [{"kind": "comparison", "text": shown}]})
    page = eye.go(f"/reports/{report['id']}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export HTML").click()
    file = tmp_path / "report.html"
    download.value.save_as(file)
    with opened(page.context.browser, "") as reader:
        reader.page.goto(file.as_uri())
        panels = reader.page.locator("main figure")
        boxes = [panel.bounding_box() for panel in panels.all()]
        assert len(boxes) == len(LRS)
        assert len({box["y"] for box in boxes}) == 1 and len({box["x"] for box in boxes}) == len(LRS)
        # The curves differ in their ranges; the numbers beside them do not.
        assert len({tuple(panel.locator("svg text[text-anchor=end]").all_inner_texts()) for panel in panels.all()}) == 1
        assert reader.barriers() == []
        reader.picture("exported-panels")
        reader.fine()
