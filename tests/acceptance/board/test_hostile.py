"""Nothing that a run, a task, a checkpoint, a question or a report is called ever runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.acceptance.board import hostile
from tests.acceptance.board.eye import Eye, opened
from tests.acceptance.board.laboratory import Laboratory, laboratory

# What opens something: tabs, menus, parts that unfold, boxes, column heads. Orders are given elsewhere.
OPENERS = "[role=tab], summary, [aria-expanded], [aria-pressed]:not(.star), th button"
MOST = 40
# In one go: the page is alive, and what was there may be gone before a second question about it.
_CLICK = """([openers, number]) => {
  const one = document.querySelectorAll(openers)[number];
  if (one && one.getClientRects().length > 0 && !one.disabled) one.click();
  return Boolean(one);
}"""
_CHARTS = """() => [...document.querySelectorAll("main canvas")].slice(0, 3).map((one) => {
  one.scrollIntoView({ block: "center" });
  const box = one.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
})"""


def prod(eye: Eye) -> None:
    """Open everything that opens, and point at everything that may answer."""
    page = eye.page
    for number in range(MOST):  # what opens may bring more of them, or take some away
        if not page.evaluate(_CLICK, [f"main :is({OPENERS})", number]):
            break
        page.keyboard.press("Escape")
    for x, y in page.evaluate(_CHARTS):
        page.mouse.move(x, y)


def places(den: Laboratory) -> dict[str, str]:
    runs = den.get("/runs?limit=500")["runs"]
    asking = next(run["id"] for run in runs if run["state"] == "running")
    failed = next(run["id"] for run in runs if run["state"] == "failed" and run["metrics"])
    two = f"/compare?run={asking}&run={failed}"
    tabs = {f"{tab} of a run": f"/runs/{asking}?tab={tab}" for tab in ("charts", "log", "usage", "files")}
    return tabs | {
        "runs": "/runs",
        "about a run": f"/runs/{failed}?tab=about",
        "code of a run": f"/runs/{failed}?tab=code",
        "compare": f"{two}&fold=0",
        "results": f"{two}&show=results",
        "differences": f"{two}&show=differences&every=1",
        "queue": "/queue/default",
        "watches": "/watches",
        "watch": f"/watches/{den.get('/watches')['watches'][0]['watch']}",
        "now": "/now",
        "reports": "/reports",
        "report": f"/reports/{den.get('/reports')['reports'][0]['id']}",
    }


def test_hostile_strings_are_text_on_every_page(browser: Any, tmp_path: Path) -> None:
    """One test, since the home with all of them takes seconds to make."""
    with laboratory(tmp_path / "den") as den:
        hostile.fill(den)
        with opened(browser, den.url, den.link()) as eye:
            for name, path in places(den).items():
                eye.go(path)
                if name != "code of a run":  # it has none
                    eye.wait_text("ran('")
                prod(eye)
                assert (name, eye.ran, eye.dialogs, eye.violations, eye.errors) == (name, [], [], [], [])
            filters(eye)
            exported(eye, den, tmp_path)
            saved(eye, den)
            eye.unharmed()


def filters(eye: Eye) -> None:
    """What is no query is answered by a sentence, in which it stands."""
    for text in hostile.CORPUS[:4]:
        eye.page.goto(f"{eye.url}/runs?q={quote(text)}#{quote(text)}")
        eye.page.locator("#filter-error .bad-text").wait_for()


def exported(eye: Eye, den: Laboratory, tmp_path: Path) -> None:
    """The page that a report becomes has no server's policy around it."""
    page = eye.go(places(den)["report"])
    with page.expect_download() as download:
        page.get_by_role("button", name="Export HTML").click()
    download.value.save_as(tmp_path / "report.html")
    with opened(page.context.browser, "") as reader:
        reader.page.goto((tmp_path / "report.html").as_uri())
        assert hostile.FIRST in reader.text("main")
        reader.page.wait_for_timeout(100)
        reader.fine()


def saved(eye: Eye, den: Laboratory) -> None:
    """Files of runs are whatever people saved; the server must not lend them its origin."""
    run = places(den)["log of a run"].removeprefix("/runs/").partition("?")[0]
    file = next(one["id"] for one in den.get(f"/runs/{run}/files")["files"] if one["path"] == "page.html")
    answer = eye.page.request.get(f"{den.url}/api/v1/runs/{run}/files/{file}")
    assert answer.status == 200 and "ran(" in answer.text()
    assert "sandbox" in answer.headers["content-security-policy"]
