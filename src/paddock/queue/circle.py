"""Tasks that wait for each other in a circle, and so for ever. Pure.

`submit` cannot make one, for what is waited for must be there already: a person has edited the files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

_MOST = 100  # tasks that are looked at for a circle: those of a person's slip have two or three


def circle(start: str, waits: Callable[[str], Iterable[str]]) -> list[str]:
    """From a task by what it waits for, and what that waits for, back to itself: those in between. [] for none."""
    came: dict[str, str] = {}
    line = [start]
    while line and len(came) < _MOST:
        task = line.pop(0)
        for other in waits(task):
            if other == start:
                path = []
                while task != start:
                    path.append(task)
                    task = came[task]
                return path[::-1]
            if other not in came:
                came[other] = task
                line.append(other)
    return []


def stuck(waits: Mapping[str, Collection[str]]) -> set[str]:
    """Those that can never begin, given what each of them still waits for: they are in a circle, or wait for one."""
    open_ = {task: sum(other in waits for other in others) for task, others in waits.items()}
    children: dict[str, list[str]] = {}
    for task, others in waits.items():
        for other in others:
            children.setdefault(other, []).append(task)
    free = [task for task, count in open_.items() if not count]
    for task in free:  # grows
        for child in children.get(task, ()):
            open_[child] -= 1
            if not open_[child]:
                free.append(child)
    return {task for task, count in open_.items() if count}


def told(between: Iterable[str]) -> str:
    """A circle in words, given the names of those in between."""
    return f"waits for ever: for {', which waits for '.join((*between, 'it'))}"
