"""What holds for every page of the board: it loads, offends nobody, can be used by keyboard, and teaches when empty."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.board.eye import NARROW, Eye, opened, soon
from tests.acceptance.board.laboratory import Laboratory, laboratory

PAGES = ("runs", "run", "running", "compare", "queue", "watches", "watch", "now", "reports", "report")
LISTS = ("runs", "compare", "queue", "watches", "now", "reports")
TABS = 40  # presses of the key: more than any page has before its tables begin


def address(lab: Laboratory, name: str) -> str:
    """Where a page with something on it is."""
    if name == "run":
        return f"/runs/{lab.named('train-lr0.2-s0')['id']}"
    if name == "running":
        return f"/runs/{lab.named('ask-lr0.1-s0')['id']}"
    if name == "compare":
        return f"/compare?run={'&run='.join(lab.sweep())}"
    if name == "watch":
        return f"/watches/{lab.watch('out')['watch']}"
    if name == "report":
        return f"/reports/{lab.get('/reports')['reports'][0]['id']}"
    return f"/{name}"


@pytest.mark.parametrize("name", PAGES)
def test_no_barrier_is_serious_and_every_action_is_in_reach(eye: Eye, lab: Laboratory, name: str) -> None:
    page = eye.go(address(lab, name))
    assert page.title() != "" and eye.text() != ""
    assert eye.barriers() == []
    assert eye.unreachable() == []
    places = tabbed(page)
    assert len(places) >= 8
    assert [html for _, seen, html in places if not seen] == []
    page.emulate_media(color_scheme="dark")
    assert eye.barriers(only="color-contrast") == []
    eye.pictures(name)
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]


def tabbed(page: Any) -> list[tuple[float, bool, str]]:
    """Where the Tab key leads, until it comes round or has gone far; and whether one sees where it is."""
    places: list[tuple[float, bool, str]] = []
    for _ in range(TABS):
        page.keyboard.press("Tab")
        found = page.evaluate(_PLACE)
        if found is None or found[0] in [place[0] for place in places]:
            break
        places.append(found)
    return places


_PLACE = """() => {
  const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
  if (e === document.body) return null;
  e.place ??= Math.random();
  const ring = style.outlineStyle !== "none" || style.boxShadow !== "none";
  return [e.place, ring && box.width > 0, e.outerHTML.slice(0, 120)];
}"""


def test_an_empty_page_shows_the_one_command_that_fills_it(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with laboratory(tmp_path_factory.mktemp("empty")) as empty, opened(browser, empty.url) as eye:
        for name in LISTS:
            eye.go(f"/{name}")
            assert "paddock" in eye.text(".empty .command, .empty code"), name
            assert "examples/" not in eye.text(".empty"), name  # which only a checkout has
            assert eye.barriers() == [], name
            eye.picture(f"empty-{name}")
        eye.fine()


def test_the_hook_sees_what_it_is_there_for(browser: Any, lab: Laboratory) -> None:
    """Or all the zeros that it counts would be worth nothing."""
    with opened(browser, lab.url) as eye:
        page = eye.go("/runs")
        put = """(html) => { document.querySelector("main").innerHTML = html }"""
        page.evaluate(put, "<img src=/x onerror=ran(1)><b onclick=x()>")
        soon(lambda: page.evaluate("1") and eye.violations)  # told while something is asked
        assert "script-src" in eye.violations[0]
        page.evaluate("() => { ran('own'); alert('seen'); }")
        soon(lambda: page.evaluate("1") and eye.ran and eye.dialogs)
        assert eye.ran == ["('own',)"] and eye.dialogs == ["seen"]
        page.evaluate(put, "<img src='/icon'><p>x</p>")
        page.evaluate("""() => document.querySelector("main p").addEventListener("click", () => 0)""")
        assert any("image-alt" in found for found in eye.barriers())
        assert [found for found in eye.unreachable() if "<p" in found]
