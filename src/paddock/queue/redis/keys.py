"""The names of what a queue has in Redis: RQ's own keys, and ours beside them. Pure."""

from __future__ import annotations

from typing import NamedTuple

WORKER = "rq:worker:"


class Keys(NamedTuple):
    queue: str

    @property
    def waiting(self) -> str:
        return f"rq:queue:{self.queue}"

    def rq(self, registry: str) -> str:
        return f"rq:{registry}:{self.queue}"

    def own(self, what: str) -> str:
        return f"paddock:{self.queue}:{what}"

    @staticmethod
    def job(task: str) -> str:
        return f"rq:job:{task}"
