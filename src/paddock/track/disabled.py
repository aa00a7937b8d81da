"""mode="disabled": every call works and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paddock.record.layout import RunDirectory, new_id
from paddock.track.ending import Ending
from paddock.track.run import Run
from paddock.track.settable import Settable, Summary


class DisabledRun(Run):
    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts
        self._directory = RunDirectory(Path("/nonexistent") / new_id())
        self._rank, self._attempt, self._step = None, 1, 0
        self._dropped: dict[str, int] = {}
        self._logged: dict[str, Any] = {}
        self._config = Settable(dict(facts.get("config") or {}), lambda values: None)
        self._summary = Summary({}, lambda values: None, lambda: self._logged)

    @property
    def disabled(self) -> bool:
        return True

    @property
    def dir(self) -> str:
        import tempfile

        if not hasattr(self, "_scratch"):
            self._scratch = tempfile.mkdtemp(prefix="paddock-disabled-")
        return self._scratch

    def log(self, data: Any, step: Any = None, commit: bool | None = None, sync: bool | None = None) -> None:
        self._step += 1

    def log_metric(self, name: str, value: Any, tags: Any = None, step: int | None = None) -> None:
        pass

    def _append(self, record: dict[str, Any]) -> None:
        pass

    def alert(self, title: str, text: str = "", level: str = "info", wait_duration: Any = None) -> None:
        pass

    def save(self, glob_str: Any, base_path: Any = None, policy: str = "live") -> list[str]:
        return []

    def log_artifact(self, artifact: Any, name: Any = None, type: Any = None, aliases: Any = None) -> Any:
        return artifact

    def use_artifact(self, artifact: Any, type: str | None = None) -> Any:
        return artifact

    def should_stop(self) -> str:
        return ""

    def _finish(self, ending: Ending) -> None:
        from paddock.track import active

        active.leave(self)

    def _after_fork(self) -> None:
        pass
