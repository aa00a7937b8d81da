"""Evaluations on their way into the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddock.errors import HomeError
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.task import task_for
from paddock.queue.entry.submission import enter, submit_all
from paddock.queue.protocol import Queue
from paddock.record.layout import Home


def send(
    findings: Sequence[Finding],
    priorities: Mapping[str, int],
    ledger: Ledger,
    options: Options,
    queue: Queue,
    home: Home,
) -> None:
    tasks = [task_for(finding, ledger, options) | {"priority": priorities.get(finding.key, 0)} for finding in findings]
    try:
        enter(tasks, queue, home)
    except HomeError:
        if queue.exists():
            raise
        submit_all(tasks, queue=queue.address, home=home)  # somebody has removed the queue: make it again
