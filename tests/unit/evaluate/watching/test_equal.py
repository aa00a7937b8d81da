"""Two checkpoints of one training with the same content: it is evaluated once, which is said where it may surprise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue
from paddock.record.layout import Home
from tests.unit.evaluate.watching.test_watch import rounds, save, tasks, watcher


@pytest.mark.parametrize("together", [True, False])
def test_one_of_another_step_is_told_and_a_link_to_the_best_is_not(
    home: Home, queue: DirectoryQueue, out: Path, together: bool
) -> None:
    said: list[str] = []
    watching = watcher(home, queue, out)
    watching._entering.say = watching._trouble._say = said.append
    rounds(watching)
    first = save(out / "step=1.pt")
    if not together:
        rounds(watching)
    shutil.copy2(first, out / "step=2.pt")
    os.link(first, out / "best.pt")
    rounds(watching, 3)
    assert tasks(queue) == ["acc step=1.pt"]
    told = [text for text in said if "content" in text]
    assert told == [f"{out}/step=2.pt has the content of {out}/step=1.pt, and is not evaluated once more"]
