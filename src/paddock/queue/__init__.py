"""Tasks in directories: a task is one plain-text file, the directory it is in is its state, `mv` is an interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.queue.entry.submission import submit, submit_all
    from paddock.queue.show.view import tasks

__all__ = ["submit", "submit_all", "tasks"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from paddock.queue.entry import submission
        from paddock.queue.show import view

        return view.tasks if name == "tasks" else getattr(submission, name)
    raise AttributeError(f"module 'paddock.queue' has no attribute {name!r}")
