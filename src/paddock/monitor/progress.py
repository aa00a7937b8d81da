"""`from paddock.monitor.progress import Progress`, as users of the Monitor System write it."""

from paddock.track.progress.progress import Progress

__all__ = ["Progress"]
