"""Where a queue's Jobs are, noted before the first of them is made.

`k8s://` is what kubectl uses by itself, and paddock.toml may name the context, the namespace and the home. Whoever
looks from another directory, or after `kubectl config use-context`, would ask elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

from paddock import files, wire
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import CANCELLED, DONE, FAILED
from paddock.queue.show.view import IN_ORDER

FILE = ".k8s-site"
_STARTED = ".jobs"  # in the queue's directory: a file for each task that a job was started for


class Site(NamedTuple):
    context: str  # "" where a pod's own account is used
    server: str
    namespace: str
    home: str = ""  # CLAIM:/PATH

    def __str__(self) -> str:
        where = f"the context {self.context}" if self.context else "the cluster of this pod"
        return f"{where}, namespace {self.namespace}" + (f", with the home {self.home}" if self.home else "")

    def differs(self, other: Site) -> bool:
        """Two people may call one cluster differently, and one may reach it under two addresses."""
        known = self.context and other.context
        moved = known and self.context != other.context and self.server != other.server
        return bool(moved) or (self.namespace, self.home) != (other.namespace, other.home)


def read(queue: DirectoryQueue) -> Site | None:
    try:
        return Site(**wire.loads(files.read_from(queue.path / FILE, 0)))
    except (OSError, TypeError, wire.DecodeError):
        return None


def keep(queue: DirectoryQueue, here: Site) -> None:
    if read(queue) != here:
        files.replace(queue.path / FILE, wire.dumps(here._asdict()) + b"\n")


def may_have_jobs(queue: DirectoryQueue) -> bool:
    """Whether there are Jobs of tasks that are not over."""
    places = [place for place in queue.list((*IN_ORDER, CANCELLED)).places if place.state not in (DONE, FAILED)]
    return any(place.token is not None or (queue.path / _STARTED / place.id).exists() for place in places)
