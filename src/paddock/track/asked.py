"""What a script says of its run where the run was submitted as a task: it holds where the submission left it open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.track.run import Run

_PLAIN = ("project", "group", "job_type")  # the others have records of their own


def settle(run: Run, asked: Mapping[str, Any]) -> None:
    """Only what was not said at submit: who names the tasks of a sweep does not want them all named by their script.
    Tags take nothing from each other."""
    left = run._facts.get("open")
    if not asked or not isinstance(left, list):
        return
    if asked["name"] and "name" in left:
        run.name = asked["name"]
    if asked["notes"] and "notes" in left:
        run.notes = asked["notes"]
    said = {key: str(asked[key]) for key in _PLAIN if asked[key] and key in left}
    if any(run._facts.get(key) != value for key, value in said.items()):
        run._facts.update(said)
        run._append({"k": "about", "set": said})
    given = asked["tags"] or ()
    more = [tag for tag in ([given] if isinstance(given, str) else given) if str(tag) not in run.tags]
    if more:
        run.tags = (*run.tags, *more)
