"""tqdm's bars count as progress."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.catalog.catalog import Catalog
from paddock.model import Progress
from paddock.record.layout import Home


@pytest.fixture
def bars(home: Home) -> Callable[[Any], list[Progress]]:
    def read(run: Any) -> list[Progress]:
        with Catalog.open(home) as catalog:
            catalog.refresh()
            return catalog.progress(run.id)

    return read


def test_a_loop_is_drawn_and_counted(bars) -> None:
    from paddock import tqdm

    run, drawn = paddock.init(), io.StringIO()
    assert [item for item in tqdm(range(5), desc="loop", unit="file", file=drawn)] == [0, 1, 2, 3, 4]  # noqa: C416
    (bar,) = bars(run)
    assert (bar.msg, bar.done, bar.total, bar.unit, bar.state) == (("loop",), 5, 5, "file", "done")
    assert "loop: 100%" in drawn.getvalue() and "5/5" in drawn.getvalue()


def test_updates_by_hand_descriptions_and_totals(bars) -> None:
    run = paddock.init()
    with paddock.tqdm(total=10, file=io.StringIO()) as bar:
        bar.set_description("first")
        for _ in range(4):
            bar.update(2)
        bar.total = 20
        bar.n = 9
        bar.refresh()
        bar.set_postfix(loss=0.5)
        (shown,) = bars(run)
        assert shown.state == "running" and shown.msg == ("first",)
    (shown,) = bars(run)
    assert (shown.done, shown.total, shown.state) == (9, 20, "done")


def test_an_exception_in_the_block_ends_it_as_failed(bars) -> None:
    run = paddock.init()
    with pytest.raises(RuntimeError), paddock.tqdm(total=3, file=io.StringIO()) as bar:
        bar.update(3)
        raise RuntimeError
    assert bars(run)[0].state == "failed"


def test_a_break_leaves_it_where_it_was(bars) -> None:
    run = paddock.init()
    for item in paddock.tqdm(range(100), file=io.StringIO(), mininterval=0, miniters=1):
        if item == 30:
            break
    assert bars(run)[0].done in (30, 31) and bars(run)[0].fraction < 1


def test_switched_off_it_counts_nothing_but_without_a_terminal_it_does(bars) -> None:
    run = paddock.init()
    drawn = io.StringIO()
    assert list(paddock.tqdm(range(3), disable=True, file=drawn)) == [0, 1, 2]
    assert list(paddock.tqdm(range(4), disable=None, file=drawn)) == [0, 1, 2, 3]
    assert [bar.done for bar in bars(run)] == [4] and drawn.getvalue() == ""


SPELLINGS = """
import io
from paddock.tqdm import tqdm, trange
from paddock.tqdm.auto import tqdm as auto, trange as auto_range
import paddock.tqdm
from paddock import tqdm as again
import paddock
assert again is tqdm is paddock.tqdm.tqdm and paddock.tqdm is tqdm
silent = {"file": io.StringIO()}
paddock.init(id="all")
assert list(tqdm([1, 2], **silent)) == list(auto([1, 2], **silent)) == [1, 2]
assert list(trange(2, **silent)) == list(auto_range(2, **silent)) == list(paddock.tqdm.trange(0, 2, **silent)) == [0, 1]
class Mine(tqdm): pass
with Mine(total=1, **silent) as bar:
    assert isinstance(bar, tqdm)
    bar.update()
    bar.set_postfix_str("x")
    bar.reset(total=2)
    tqdm.write("a line")
"""


@pytest.mark.parametrize("installed", [True, False])
def test_every_spelling_works_with_tqdm_and_without(bars, home, tmp_path: Path, installed: bool) -> None:
    script = tmp_path / "spellings.py"
    script.write_text(("" if installed else "import sys\nsys.modules['tqdm'] = None\n") + SPELLINGS)
    done = subprocess.run([sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "a line" in done.stdout
    assert len(bars(home.run("all"))) == 6


def test_a_loop_that_fails_at_the_top_of_the_script_is_failed(bars, home, tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("import paddock\npaddock.init(id='f')\nfor i in paddock.tqdm(range(3)):\n    1 / (2 - i)\n")
    subprocess.run([sys.executable, str(script)], capture_output=True, check=False)
    (bar,) = bars(home.run("f"))
    assert bar.state == "failed" and bar.fraction is not None and bar.fraction < 1
