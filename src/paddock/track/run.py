"""A run, as the training script holds it. Its shape is wandb's; its record is a directory of journals."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from paddock import files, wire
from paddock.errors import UsageError
from paddock.record.journal import Journal
from paddock.record.layout import Home, RunDirectory
from paddock.record.redact import redact_config
from paddock.settings import Settings
from paddock.track import notice
from paddock.track.ending import Ending, Hooks, by_exception, by_exit
from paddock.track.lines.output import Output
from paddock.track.recorder import Recorder
from paddock.track.settable import Settable, Summary
from paddock.track.shape import Metric, WandbShape
from paddock.track.stopping import StopSign
from paddock.track.things.media import Histogram, Image, Media, Table
from paddock.track.values import as_number, row_value, sort

if TYPE_CHECKING:
    from paddock.track.private.server import PrivateServer
    from paddock.track.ship.shipper import Shipper

SIGNAL_SECONDS = 3.0  # that a process which was told to end may take to send the rest of its run


class Run(WandbShape, Recorder):
    def __init__(
        self,
        home: Home,
        directory: RunDirectory,
        facts: dict[str, Any],
        settings: Settings,
        open_journal: Callable[[], Journal],
        *,
        rank: int | None = None,
        attempt: int = 1,
        step: int = 0,
    ) -> None:
        self._home, self._directory, self._facts = home, directory, facts
        super().__init__(open_journal, sync_seconds=settings.sync_seconds, beat_seconds=settings.beat_seconds)
        self._step = step
        self._rank, self._attempt = rank, attempt
        self._output: Output | None = None
        self._hooks: Hooks | None = None
        self._shipper: Shipper | None = None
        self._server: PrivateServer | None = None
        self._ship_seconds = settings.ship_seconds
        self._stop = StopSign(directory, attempt)
        self._at_finish: list[Callable[[], None]] = []
        self._before_finish: list[Callable[[Ending], None]] = []  # not under the journal's lock
        self._config = Settable(dict(facts.get("config") or {}), self._config_changed)
        self._summary = Summary({}, lambda values: self._set("summary", values), self._last_values)

    # What it is

    @property
    def id(self) -> str:
        return self._directory.id

    @property
    def project(self) -> str:
        return str(self._facts.get("project") or "")

    @property
    def group(self) -> str | None:
        return self._facts.get("group")

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self._facts.get("tags") or ())

    @tags.setter
    def tags(self, tags: Any) -> None:
        wanted, had = [str(tag) for tag in tags or ()], list(self.tags)
        self._facts["tags"] = wanted
        self._append(
            {"k": "tag", "add": [t for t in wanted if t not in had], "remove": [t for t in had if t not in wanted]}
        )

    @property
    def notes(self) -> str:
        return str(self._facts.get("notes") or "")

    @notes.setter
    def notes(self, text: str) -> None:
        self._facts["notes"] = str(text)
        self._append({"k": "note", "text": str(text)})

    @property
    def dir(self) -> str:
        """Where files can be left to be kept with the run."""
        self._directory.files.mkdir(parents=True, exist_ok=True)
        return str(self._directory.files)

    @property
    def path(self) -> Path:
        return self._directory.path

    @property
    def rank(self) -> int | None:
        return self._rank

    @property
    def attempt(self) -> int:
        return self._attempt

    @property
    def step(self) -> int:
        return self._step

    @property
    def resumed(self) -> bool:
        return self._attempt > 1

    @property
    def disabled(self) -> bool:
        return False

    @property
    def config(self) -> Settable:
        return self._config

    @property
    def summary(self) -> Summary:
        return self._summary

    def __repr__(self) -> str:
        return f"<paddock run {self.id} {self.name!r} in {self.project!r}>"

    def _recall(self, records: list[dict[str, Any]]) -> None:
        """Go on from what earlier attempts and other processes have set."""
        for record in records:
            if record["k"] in ("config", "summary"):
                target = self._config if record["k"] == "config" else self._summary
                target._values.update(wire.revive(record.get("set") or {}))
            elif record["k"] == "tag":
                removed, added = record.get("remove") or [], record.get("add") or []
                self._facts["tags"] = [t for t in self.tags if t not in removed] + [
                    t for t in added if t not in self.tags
                ]
            elif record["k"] == "name":
                self._facts["name"] = record.get("name")
            elif record["k"] == "about":
                self._facts.update(record.get("set") or {})
            else:
                self._facts["notes"] = record.get("text") or ""

    # What happens in it

    def _config_changed(self, values: dict[str, Any]) -> None:
        self._set("config", values)

    def _set(self, kind: str, values: Mapping[str, Any]) -> None:
        if not values:
            return
        with self._guarded(kind):
            kept = wire.plain(dict(values))
            if kept.lossy:
                named = ", ".join(kept.lossy[:5])
                self._drop(f"{kind} as repr", len(kept.lossy), f"{kind}: {named} kept as repr() only")
            self._append({"k": kind, "set": redact_config(kept.value) if kind == "config" else kept.value})

    def log_metric(self, name: str, value: Any, tags: Mapping[str, Any] | None = None, step: int | None = None) -> None:
        """Record a value, or a dict of fields, as a series of its own for each set of tags."""
        if not tags:
            self.log(dict(value) if _is_unprefixed(name, value) else {name: value}, step)
            return
        with self._guarded(repr(name)):
            found = sort({name: value})
            self._own()
            plain = {str(k): str(v) for k, v in sorted(tags.items())}
            self._log_sorted(found, plain, self._next_step(step, None, found))

    def log_info(self, values: Mapping[str, Any]) -> None:
        """Set facts about the run that are no metrics, such as {"state.progress": 0.5}."""
        self._set("info", values)

    def log_runtime(self, event: str, mean: float, std: float = 0.0, instances: int = 1) -> None:
        """Record how long something took: mean and standard deviation in seconds over so many instances."""
        numbers = [row_value(n) if (n := as_number(v)) is not None else None for v in (mean, std, instances)]
        self._append(
            {"k": "runtime", "event": str(event)} | dict(zip(("mean", "std", "instances"), numbers, strict=True))
        )

    def log_text(self, name: str, text: str, step: int | None = None) -> None:
        with self._guarded(f"the text {name!r}"):
            self.log({name: str(text)}, step, False if step is None else None)

    def log_image(self, name: str, image: Any, step: int | None = None, caption: str | None = None) -> None:
        picture = image if isinstance(image, Image) else Image(image, caption)
        self.log({name: picture}, step, False if step is None else None)

    def log_table(self, name: str, table: Any = None, step: int | None = None, **made_of: Any) -> None:
        with self._guarded(f"the table {name!r}"):
            if table is not None and not isinstance(table, Table):
                made_of["data"] = table
            made = table if isinstance(table, Table) else Table(**made_of)
            self.log({name: made}, step, False if step is None else None)

    def _log_media(self, name: str, media: Media, step: int) -> None:
        record: dict[str, Any] = {"k": media.kind, "step": step, "name": name, **media.facts()}
        if not isinstance(media, Histogram):
            stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] or media.kind
            directory = self._directory.files / "media"
            directory.mkdir(parents=True, exist_ok=True)
            aside = directory / f".{stem}-{os.urandom(4).hex()}{media.suffix}"
            try:
                media.write(aside)
                final = directory / f"{stem}-{step}-{os.urandom(4).hex()}{media.suffix}"
                os.rename(aside, final)
            finally:
                aside.unlink(missing_ok=True)
            record["path"] = str(final.relative_to(self._directory.path))
        self._append(record)

    def define_metric(
        self,
        name: str,
        step_metric: str | None = None,
        *,
        goal: str | None = None,
        summary: str | None = None,
        best: bool | None = None,
        x: str | None = None,
        **_: Any,
    ) -> Metric:
        """Say how a metric is to be read: its goal ("min" or "max"), and which metric is its x-axis."""
        wanted = {"minimize": "min", "maximize": "max"}.get(goal or "", goal)
        if wanted is None and summary in ("min", "max"):
            wanted = summary
        if wanted not in (None, "min", "max"):
            raise UsageError(f"goal={goal!r} is unknown.", hint="It is 'min' or 'max'.")
        shows_best = best if best is not None else summary in ("best", "min", "max")
        self._append({"k": "metric", "name": str(name), "goal": wanted, "best": shows_best, "x": x or step_metric})
        return Metric(str(name), wanted, x or step_metric)

    def mark(self, name: str, data: Mapping[str, Any] | None = None, step: int | None = None) -> None:
        """Remember a moment: "warmup done", "learning rate dropped"."""
        with self._guarded("a mark"):
            at = self._step if step is None else step
            self._append({"k": "mark", "step": at, "name": str(name), "data": wire.plain(data or {}).value})

    def alert(self, title: str, text: str = "", level: str = "info", wait_duration: Any = None) -> None:
        with self._guarded("an alert"):
            shown = str(getattr(level, "value", level)).lower()
            self._append({"k": "alert", "title": str(title), "text": str(text), "level": shown})
            notice.say(f"alert: {title}{': ' + str(text) if text else ''}")

    def save(
        self, glob_str: str | os.PathLike[str], base_path: str | os.PathLike[str] | None = None, policy: str = "live"
    ) -> list[str]:
        """Keep a copy of a file, of all files a pattern names, or of a directory, with the run."""
        from paddock.track.things.saving import copy_into

        kept: list[str] = []
        # A typing error in a file's name, or a full disk, must not end a long training.
        with self._guarded(f"save({glob_str!r})"):
            for path in copy_into(Path(glob_str), self._directory.files, Path(base_path) if base_path else None):
                relative = str(path.relative_to(self._directory.path))
                self._append({"k": "file", "path": relative, "size": path.stat().st_size})
                kept.append(str(path))
        return kept

    def log_artifact(self, artifact: Any, name: str | None = None, type: str | None = None, aliases: Any = None) -> Any:
        """Keep a versioned set of files: an Artifact, or a path."""
        from paddock.track.things.artifact import Artifact, log_artifact

        with self._guarded(f"the artifact {getattr(artifact, 'name', artifact)!r}"):
            if not isinstance(artifact, Artifact):
                made = Artifact(name or Path(artifact).name, type or "file")
                made.add(artifact)
                artifact = made
            log_artifact(self._home, self._directory, artifact, aliases, self._append)
        return artifact

    def use_artifact(self, artifact: Any, type: str | None = None) -> Any:
        """Find an artifact ("name", "name:v3" or "name:best") and note that this run depends on it."""
        from paddock.track.things.artifact import use_artifact

        return use_artifact(self._home, artifact, self._append)

    def log_code(self, *_: Any, **__: Any) -> None:
        """The code is kept anyway; here so that scripts written for wandb run."""

    # How it ends

    def should_stop(self) -> str:
        """Why the training is to end, when somebody has asked for it (`paddock watch --patience`); else "", which is
        false. Costs nothing in a loop: the disk is looked at every two seconds."""
        return self._stop.why()

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        self._finish(by_exit(exit_code))

    def _is_ours(self) -> bool:
        """To finish: it has not ended yet, and was not begun by the process that we were forked from."""
        return not self._closed and self._pid == os.getpid()

    def _finish(self, ending: Ending) -> None:
        from paddock.track import active

        if not self._is_ours():
            return
        for told in self._before_finish:
            told(ending)
        with self._lock:
            if not self._is_ours():
                return
            for step in self._at_finish:
                try:
                    step()
                except Exception as error:
                    notice.say(f"{type(error).__name__} while finishing: {error}")
            if self._output:
                if self._output.lost:
                    self._dropped["output"] = self._output.lost
                self._output.close()
            for columns in list(self._columns.values())[:1000]:
                self._journal.append(columns.record())
            self._tell_dropped()
            self._journal.append_now(ending.record())
            self._final, self._columns = self._last_values(), {}  # no row after the end, from whatever thread
            self._closed = True
        self._detach()
        if self._hooks:
            self._hooks.remove()
        active.leave(self)
        if self._shipper:  # who sends a signal means it: the rest can be sent later
            wait = self._ship_seconds
            self._shipper.finish(min(wait, SIGNAL_SECONDS) if ending.reason == "signal" else wait)
        if self._server:
            self._server.stop(0.0 if ending.reason == "signal" else self._ship_seconds)
        total = sum(self._dropped.values())
        if total:
            why = ", ".join(f"{n} {w}" for w, n in sorted(self._dropped.items()))
            what = "1 value was" if total == 1 else f"{total:,} values were"
            notice.say(f"{what} not recorded as given ({why}). `paddock show {self.id}` says more.")

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish(by_exception(kind, value, trace) if kind else Ending(0, "finished"))


def _is_unprefixed(name: str, value: Any) -> bool:
    return not name and isinstance(value, Mapping)


def read_facts(directory: RunDirectory) -> dict[str, Any]:
    try:
        found = wire.loads(files.read_from(directory.facts, 0))
    except (OSError, wire.DecodeError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}
