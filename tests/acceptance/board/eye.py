"""A browser's tab with a hook: it counts what the page should never do, while tests look at it and click through it."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from tests.waiting import until

WIDE, NARROW = (1280, 800), (390, 844)
PICTURES = Path(__file__).parents[3] / "build/pictures"  # for people to look at; not in the repository
SECONDS = 60_000  # ms; only a fault takes so long
SLOWER = float(os.environ.get("PADDOCK_SLOWER_BROWSER", "1"))  # times: races that a quick machine hides show themselves
soon = functools.partial(until, seconds=SECONDS / 1000, pause=0.02)
# `ran` is what every hostile string calls; a policy's violation says that one has become part of the page.
_HOOK = """
document.addEventListener("securitypolicyviolation", (e) =>
  window.violated(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber} ${e.sample}`));
const add = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (kind, ...rest) {
  if (kind === "click" && this instanceof Element) this.clickable = true;
  return add.call(this, kind, ...rest);
};
"""
_SETTLED = """() => document.querySelector("main *") && ![...document.querySelectorAll("main .waiting")].some((e) => {
  const box = e.getBoundingClientRect();
  return box.top < innerHeight && box.bottom > 0;
})"""
# Whatever takes a click, and cannot be come to by the Tab key: neither it nor what is around it or in it.
_UNREACHABLE = """() => {
  const inTurn = "[tabindex]:not([tabindex='-1'])";
  const tabbable = `a[href], button, input, select, textarea, summary, [contenteditable], ${inTurn}`;
  const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const roving = "[role=radiogroup], [role=tablist], [role=menu], [role=grid], [role=listbox], [role=toolbar]";
  const found = [...document.querySelectorAll("main *")].filter((e) => {
    const acts = e.clickable || e.matches("a[href], button, input, select, textarea, [role=button]");
    if (!acts || !shown(e) || e.disabled) return false;
    if (e.matches(tabbable) && e.tabIndex >= 0) return false;
    if (e.querySelector(tabbable) || e.closest("label")) return false;
    const composite = e.closest(roving);
    if (composite && (composite.matches(tabbable) || composite.querySelector(tabbable))) return false;
    return !e.parentElement.closest(`a[href], button, ${inTurn}`);
  });
  return found.map((e) => e.outerHTML.slice(0, 160));
}"""
_PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_AFRESH = """() => {
  document.activeElement.blur();
  for (const e of document.querySelectorAll("*")) if (e.scrollTop || e.scrollLeft) e.scrollTo(0, 0);
}"""
_WHOLE = ["serious", "critical"]


@dataclass
class Eye:
    """What happened in the tab that should not: scripts of strangers, dialogs, violations, errors, refusals."""

    page: Any
    url: str
    ran: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def go(self, path: str) -> Any:
        """Open a page, and wait until nothing of it is on its way."""
        self.page.goto(self.url + path)
        self.settle()
        return self.page

    def settle(self) -> None:
        self.page.wait_for_function(_SETTLED)

    def wait_address(self, words: str, there: bool = True) -> None:
        """Until the address has these words. Never by looking at `page.url` again and again: that is what the browser
        told last, and it is heard only while something is asked of it."""
        self.page.wait_for_url(lambda url: (words in url) == there)

    def text(self, selector: str = "main") -> str:
        """What people read there, with single spaces."""
        return re.sub(r"\s+", " ", self.page.inner_text(selector))

    def wait_text(self, words: str, selector: str = "main") -> None:
        self.page.locator(selector, has_text=words).first.wait_for()

    def unharmed(self) -> None:
        assert (self.ran, self.dialogs, self.violations) == ([], [], [])

    def fine(self) -> None:
        self.unharmed()
        assert self.errors == []

    def unreachable(self) -> list[str]:
        return list(self.page.evaluate(_UNREACHABLE))

    def barriers(self, only: str = "") -> list[str]:
        """What axe-core finds serious or critical: the rule, and the elements."""
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
        rules = {"runOnly": [only]} if only else {}
        options = {"resultTypes": ["violations"], **rules}
        found = self.page.evaluate("(options) => axe.run(document, options)", options)
        return [
            f"{one['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
            for one in found["violations"]
            if one["impact"] in _WHOLE
            for node in one["nodes"]
        ]

    def picture(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")

    def pictures(self, name: str) -> None:
        """Wide and narrow, light and dark, for people to look at: from its beginning, with nothing in focus."""
        self.page.evaluate(_AFRESH)
        for width, size in (("wide", WIDE), ("narrow", NARROW)):
            self.page.set_viewport_size({"width": size[0], "height": size[1]})
            for scheme in ("light", "dark"):
                self.page.emulate_media(color_scheme=scheme)
                self.page.evaluate(_PAINTED)
                self.picture(f"{name}-{width}-{scheme}")
        self.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        self.page.emulate_media(color_scheme="light")


@contextmanager
def opened(browser: Any, url: str, link: str = "") -> Iterator[Eye]:
    """A tab of a browser that knows nothing yet; with a link it is let in first."""
    with profile(browser) as context, tab(context, url) as eye:
        if link:
            let_in(eye, link)
        yield eye


@contextmanager
def profile(browser: Any) -> Iterator[Any]:
    """Cookies of its own; what it looks like is said by each tab."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}, color_scheme="light")
    context.set_default_timeout(SECONDS)
    try:
        yield context
    finally:
        context.close()


def let_in(eye: Eye, link: str) -> None:
    eye.page.goto(link)
    eye.wait_address("/login", there=False)


@contextmanager
def tab(context: Any, url: str) -> Iterator[Eye]:
    """One tab; whatever happened in it ends with it."""
    page = context.new_page()
    eye = Eye(page, url)
    try:
        page.on("dialog", lambda dialog: (eye.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: eye.errors.append(str(error)))
        page.on("console", lambda said: said.type == "error" and eye.errors.append(said.text))
        page.on("response", lambda got: got.status >= 400 and eye.errors.append(f"{got.status} {got.url}"))
        page.expose_function("ran", lambda *words: eye.ran.append(str(words)))
        page.expose_function("violated", lambda what: eye.violations.append(what))
        page.add_init_script(_HOOK)
        if SLOWER > 1:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        yield eye
    finally:
        page.close()  # without asking it
