"""A small search on several processes: one bar over all of them, log lines of each, a question at the end.

python examples/progress.py
paddock show search          # while it runs, or after it
paddock logs search --logging
paddock answer search yes    # when it asks
"""

from __future__ import annotations

import logging
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor

import paddock
from paddock import tqdm
from paddock.monitor import Progress

POINTS = int(os.environ.get("POINTS", "40"))
SECONDS = float(os.environ.get("SECONDS", "0.05"))  # that one point takes


def height(progress: Progress, seed: int) -> tuple[float, int]:
    noise = random.Random(seed)
    x = noise.uniform(-2, 2)
    time.sleep(SECONDS)
    found = 3 - (x - 1) ** 2
    if found > 2.9:
        logging.warning("seed %d is high: %.3f", seed, found)
    progress.advance(1, distributed=True)
    return found, seed


def main() -> None:
    run = paddock.init(project="examples", name="search", capture_logging=True)
    logging.info("looking at", POINTS, "points")
    with (
        Progress.new(total=POINTS, msg=("search", "points"), unit="point") as progress,
        ProcessPoolExecutor(2) as pool,
    ):
        found = list(pool.map(height, [progress] * POINTS, range(POINTS)))
    best = max(found)
    for step in tqdm(range(10), desc="polishing"):
        time.sleep(SECONDS)
        run.log({"height": best[0] * (1 + step / 1000)}, step=step)
    kept = paddock.ask(f"Keep seed {best[1]} ({best[0]:.3f})?", choices=["yes", "no"], default="yes", timeout=1)
    logging.info("kept: %s", kept)


if __name__ == "__main__":
    main()
