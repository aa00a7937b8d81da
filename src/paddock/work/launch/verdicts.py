"""What is to become of tasks that have no job and wait for others. Pure.

A task whose parent failed would wait for ever on an engine that never starts its job, so whoever looks judges. One
whose parents have not ended yet gets a job at once where the engine itself can hold it back until they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from paddock.queue.lifecycle import settle
from paddock.queue.task import Dependency


class Verdicts(NamedTuple):
    start: list[str]  # ids of tasks, in the order in which they came
    hold: list[str]
    doomed: dict[str, str]  # and why


def judge(
    tasks: Iterable[tuple[str, tuple[Dependency, ...]]],
    states: Mapping[str, str],
    with_job: AbstractSet[str],
    *,
    holds_back: bool,
) -> Verdicts:
    """`states` of all tasks of the queue, `with_job` those that have a job which may run, and `holds_back` whether the
    engine starts a job only after others."""
    given = list(tasks)
    found = Verdicts([], [], {})
    coming = set(with_job)
    waiting = []
    for task, after in given:
        verdict = settle(after, states)
        if verdict.doomed:
            found.doomed[task] = verdict.doomed
        elif verdict.ready or not holds_back:
            coming.add(task)
        else:
            waiting.append((task, [d.task for d in after if states.get(d.task) not in ("done", "failed")]))
    while rest := [one for one in waiting if one[0] not in coming and coming.issuperset(one[1])]:
        coming.update(task for task, _ in rest)
    for task, _ in given:
        if task not in found.doomed:
            (found.start if task in coming else found.hold).append(task)
    return found
