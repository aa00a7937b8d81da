"""Put the monitor into this process: its log lines, its exceptions."""

from __future__ import annotations

from typing import Any

from paddock.track import active
from paddock.track.lines import forward
from paddock.track.run import Run
from paddock.track.start import init


def install(**about: Any) -> Run:
    """Keep what the `logging` module is given in the run of this process, or in the one that it was started for; where
    there is neither, begin one, as `paddock.init(**about)` does."""
    return init(**about, capture_logging=True)


def forward_exception(enabled: bool = True) -> None:
    """Keep exceptions that nobody catches as lines of the run, or leave them to the terminal alone."""
    run = active.joined()
    if not enabled:
        forward.remove()
    elif run is None:
        forward.install()
    else:
        forward.follow(run)
