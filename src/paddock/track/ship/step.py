"""What one round of sending did."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    sent: int = 0  # bytes
    left: int = 0  # bytes, as far as is known
    wait: float = 0.0  # seconds that the server asks to be left alone
    trouble: str = ""  # why the server could not take something now
    busy: bool = False  # there is more to do at once
