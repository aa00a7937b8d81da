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
from sklearn.datasets import load_digits


def test(path: str) -> dict[str, float]:
    """On digits that are moved by a pixel, which the training never sees."""
    data = load_digits()
    pixels = np.roll(data.images / 16.0, 1, axis=2).reshape(len(data.images), -1)
    likely = digits.predict(digits.load(Path(path)), pixels)
    right = likely[np.arange(len(pixels)), data.target]
    return {"acc": float((likely.argmax(1) == data.target).mean()), "loss": float(-np.log(right + 1e-12).mean())}
