"""Evaluates the checkpoints of digits.py while it trains.

mkdir -p out
paddock watch out --evaluator examples/digits_eval.py:test --regex-filter '\\.npz$' --detach
python examples/digits.py --out out
paddock watch show out
"""

from __future__ import annotations

from pathlib import Path

import digits
import numpy as np


def test(path: str) -> dict[str, float]:
    """On digits that are moved by a pixel, which the training never sees."""
    pixels, labels = digits.digits()
    moved = np.roll(pixels.reshape(-1, 8, 8), 1, axis=2).reshape(pixels.shape)
    likely = digits.predict(digits.load(Path(path)), moved)
    right = likely[np.arange(len(moved)), labels]
    return {"acc": float((likely.argmax(1) == labels).mean()), "loss": float(-np.log(right + 1e-12).mean())}
