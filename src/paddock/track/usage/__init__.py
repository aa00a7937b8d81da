"""What this process uses over time, and checkpoints of the script on that line."""

from __future__ import annotations

from paddock.track.usage.checkpoint import Usage

__all__ = ["Usage"]
