"""The picture of the board in the README, of a small home that is always the same:

python -m bench.boardpicture docs/pictures/board.png
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.browser import chromium

LRS, SEEDS, STEPS = (0.003, 0.01, 0.03), range(3), 300
NOW = 1_767_225_600.0  # the first day of 2026: nothing in the picture depends on when it is made
SIZE = {"width": 1280, "height": 820}
COLOURS = 128  # of the PNG: a third of its bytes, and nobody sees it


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        runs = [write(home, lr, seed) for lr in LRS for seed in SEEDS]
        environment = os.environ | {"PADDOCK_HOME": str(home), "PADDOCK_CACHE": str(Path(scratch, "cache"))}
        words = [sys.executable, "-m", "paddock", "serve", "--address", "127.0.0.1:0", "--json"]
        server = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            take(json.loads(server.stdout.readline())["urls"][0], runs, Path(sys.argv[1]))
        finally:
            server.terminate()
            server.wait()


def write(home: Path, lr: float, seed: int) -> str:
    """One run of a sweep, with a curve that looks as curves do."""
    from paddock import wire
    from paddock.record.layout import Home

    run_id = f"lr{LRS.index(lr)}seed{seed}"
    noise, found = random.Random(run_id), Home(home).run(run_id)
    found.journals.mkdir(parents=True)
    facts = {"v": 1, "id": run_id, "name": f"vit-s lr={lr} seed={seed}", "project": "digits", "created": NOW}
    found.facts.write_bytes(wire.dumps(facts | {"config": {"lr": lr, "seed": seed, "depth": 6}, "user": "ada"}))
    opening = {"k": "open", "v": 1, "t": NOW, "run": run_id, "writer": "box-1", "role": "main", "host": "box", "pid": 1}
    lines = [wire.record_line(opening | {"attempt": 1, "boot": "", "start": "", "oom": -1})]
    lines.append(wire.record_line({"k": "columns", "id": 0, "names": ["train/loss", "val/acc"]}))
    lines += [wire.row_line([0, step, 100 * step, *values(lr, step, noise)]) for step in range(0, STEPS, 3)]
    lines.append(wire.record_line({"k": "end", "t": NOW + STEPS / 10, "code": 0, "reason": "finished"}))
    (found.journals / "box-1.jsonl").write_bytes(b"".join(lines))
    return run_id


def values(lr: float, step: int, noise: random.Random) -> tuple[float, float]:
    speed, floor = lr * 1.6, 0.12 + 6 * abs(lr - 0.011)
    loss = floor + 2.1 * math.exp(-speed * step) + noise.gauss(0, 0.03 + lr)
    return max(0.02, loss), min(0.99, max(0.1, 1 - 0.42 * loss + noise.gauss(0, 0.012)))


def take(url: str, runs: list[str], target: Path) -> None:
    from PIL import Image

    address = f"{url}/compare?{'&'.join(f'run={run}' for run in runs)}&metric=train/loss&metric=val/acc&smooth=0.4"
    with chromium() as browser:
        page: Any = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(address)
        page.locator("main canvas").first.wait_for()
        time.sleep(1.0)
        page.screenshot(path=target, animations="disabled")
    Image.open(target).convert("RGB").quantize(COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    main()
