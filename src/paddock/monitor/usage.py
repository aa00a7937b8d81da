"""from paddock.monitor.usage import Usage"""

from __future__ import annotations

from paddock.track.usage import Usage

__all__ = ["Usage"]
