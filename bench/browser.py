"""A real browser for measurements: Debian's Chromium by Playwright. Every look begins with an empty cache."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIZE = {"width": 1280, "height": 800}
SLOWEST_MS = 120_000
# Without 3D, TensorBoard draws its curves as SVG, where they can be seen by a script.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-3d-apis", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
# When so many names of runs can be read, or so many curves are drawn in the part of the page that is seen. A look costs
# something too: the next is ten times as far away as the last took.
_EYE = """
window.seen = {
  names: () => (document.body.innerText.match(/(vit-|bench)\\d+/g) ?? []).length,
  curves: () => {
    const inView = (e) => { const b = e.getBoundingClientRect();
      return b.width > 60 && b.height > 20 && b.top < innerHeight && b.bottom > 0; };
    const all = (kind, is) => [...document.querySelectorAll(kind)].filter((e) => is(e) && inView(e)).length;
    return all("svg path", (e) => e.getAttribute("d")?.length > 200) + all("canvas", inked);
  },
};
const small = Object.assign(document.createElement("canvas"), { width: 64, height: 32 });
const inked = (canvas) => {
  if (!canvas.width || !canvas.height) return false;
  const pen = small.getContext("2d", { willReadFrequently: true });
  pen.clearRect(0, 0, 64, 32);
  try { pen.drawImage(canvas, 0, 0, 64, 32); } catch { return false; }
  const at = pen.getImageData(0, 0, 64, 32).data;
  let coloured = 0;
  for (let i = 0; i < at.length; i += 4)
    if (at[i + 3] > 20 && Math.max(...at.slice(i, i + 3)) - Math.min(...at.slice(i, i + 3)) > 40) coloured++;
  return coloured > 20;
};
const [what, least] = WANTED;
const look = () => {
  const since = performance.now();
  const there = document.body && seen[what]() >= least;
  if (there) requestAnimationFrame(() => setTimeout(() => { window.painted ??= performance.now(); }));
  else setTimeout(() => requestAnimationFrame(look), 10 * (performance.now() - since));
};
requestAnimationFrame(look);
"""


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        raise FileNotFoundError("there is no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def painted(browser: Any, url: str, what: str, least: int) -> float:
    """Milliseconds from asking for a page until `least` "names" or "curves" are painted."""
    from playwright.sync_api import TimeoutError

    context = browser.new_context(viewport=SIZE)
    try:
        page = context.new_page()
        page.add_init_script(_EYE.replace("WANTED", f'["{what}", {least}]'))
        page.goto(url, wait_until="commit", timeout=SLOWEST_MS)
        try:
            page.wait_for_function("() => window.painted !== undefined", timeout=SLOWEST_MS)
        except TimeoutError:
            raise ValueError(f"no {least} {what} were painted within {SLOWEST_MS / 1000:g} s") from None
        return float(page.evaluate("() => window.painted"))
    finally:
        context.close()
