"""What a queue can do. Where it cannot, Paddock says so; it never pretends."""

from __future__ import annotations

from typing import NamedTuple


class Abilities(NamedTuple):
    files: bool  # a task is a file: `mv`, `rm` and an editor are orders
    ranks: bool  # a task may have several ranks (--workers N), which meet there
    several: bool  # a worker may work on several such queues at once
    apart: bool  # its workers need to share no disk with who submits
    jobs: bool  # an engine may start a job for each task (--on)
