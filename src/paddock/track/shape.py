"""Names that scripts written for wandb use, so that `import paddock as wandb` carries them.

What has a meaning here does it; what is about wandb's server is accepted and does nothing, or says what to use instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.errors import UsageError
from paddock.record.layout import RunDirectory, new_id
from paddock.track import notice


class AlertLevel(Enum):
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


class Settings(SimpleNamespace):
    """Whatever wandb.Settings takes, for init(settings=...). What was not given is None."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def update(self, *given: Any, **more: Any) -> None:
        self.__dict__.update(*given, **more)


_MEANT = {  # wandb's name of a setting -> ours of an argument
    **{name: name for name in ("project", "mode", "resume", "reinit", "quiet", "silent")},
    **{f"run_{name}": name for name in ("id", "name", "group", "job_type", "tags", "notes")},
    "root_dir": "dir",
}


def given_by(settings: Any) -> dict[str, Any]:
    """What a Settings object or a dict says that means something here, as arguments of init(). A real wandb.Settings
    has defaults for everything: only what was set counts."""
    if isinstance(settings, Mapping):
        said = {str(name): value for name, value in settings.items()}
    elif isinstance(named := getattr(settings, "model_fields_set", None), (set, frozenset)):
        said = {name: getattr(settings, name, None) for name in named}
    else:
        said = dict(getattr(settings, "__dict__", {}))
    about = {name: said[name] for name in _MEANT.values() if said.get(name) is not None}
    about |= {ours: said[name] for name, ours in _MEANT.items() if said.get(name) is not None}
    if said.get("console") == "off":
        about["capture_output"] = False
    if said.get("disable_code"):
        about["capture_code"] = False
    return about | ({"quiet": True} if about.get("silent") else {})


class Metric(NamedTuple):
    """What define_metric() returns."""

    name: str
    goal: str | None = None
    step_metric: str | None = None


class Api:
    """wandb's way to read runs; here it only says what takes its place."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UsageError(
            "There is no server to ask, so there is no Api.",
            hint="paddock.runs('project=demo') reads the runs; paddock.run_view(id) reads one.",
        )


util = SimpleNamespace(generate_id=lambda length=10: "".join(new_id() for _ in range(-(-length // 10)))[:length])


def termlog(string: str = "", newline: bool = True, repeat: bool = True, **_: Any) -> None:
    notice.say(string) if repeat else notice.say_once(string, string)


def termwarn(string: str, newline: bool = True, repeat: bool = True, **_: Any) -> None:
    termlog(f"warning: {string}", newline, repeat)


def termerror(string: str, newline: bool = True, repeat: bool = True, **_: Any) -> None:
    termlog(f"error: {string}", newline, repeat)


def unwatch(*_: Any, **__: Any) -> None:
    """The end of watch(), which does nothing either."""


def setup(*_: Any, **__: Any) -> None:
    """There is no service to start."""


def teardown(exit_code: int | None = None) -> None:
    join(exit_code)


def join(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """wandb's old name of finish()."""
    from paddock.track import active

    active.finish(exit_code)


class WandbShape:
    """What a run has for wandb's sake. It writes through the run's own journal and nowhere else."""

    _facts: dict[str, Any]
    _directory: RunDirectory

    if TYPE_CHECKING:  # what the run itself has

        def _append(self, record: dict[str, Any]) -> None: ...
        @property
        def step(self) -> int: ...
        @property
        def disabled(self) -> bool: ...
        def log_artifact(
            self, artifact: Any, name: str | None = None, type: str | None = None, aliases: Any = None
        ) -> Any: ...
        def use_artifact(self, artifact: Any, type: str | None = None) -> Any: ...

    @property
    def name(self) -> str:
        return str(self._facts.get("name") or self._directory.id)

    @name.setter
    def name(self, name: str) -> None:
        self._facts["name"] = str(name)
        self._append({"k": "name", "name": str(name)})

    @property
    def job_type(self) -> str | None:
        return self._facts.get("job_type")

    @property
    def entity(self) -> str:
        """Whose run it is: the user's name."""
        return str(self._facts.get("user") or "")

    @property
    def start_time(self) -> float:
        """When the run began, in seconds since 1970."""
        return float(self._facts.get("created") or 0.0)

    @property
    def sweep_id(self) -> str | None:
        return None

    @property
    def offline(self) -> bool:
        """Nothing is ever sent anywhere."""
        return True

    @property
    def settings(self) -> Settings:
        facts = {name: self._facts.get(name) for name in ("project", "job_type", "notes")}
        return Settings(
            run_id=self._directory.id, run_name=self.name, run_group=self._facts.get("group"), mode="offline", **facts
        )

    @property
    def url(self) -> str:
        """Where the run's directory is, as a file:// address."""
        return self._directory.path.absolute().as_uri()

    def get_url(self) -> str:
        return self.url

    def project_name(self) -> str:
        return str(self._facts.get("project") or "")

    def watch(self, *_: Any, **__: Any) -> None:
        """Accepted, and does nothing; log what you want to see."""

    def unwatch(self, *_: Any, **__: Any) -> None:
        """See watch()."""

    def display(self, height: int = 420, hidden: bool = False) -> bool:
        """There is no page to show."""
        return False

    def status(self) -> SimpleNamespace:
        """Nothing waits to be sent."""
        return SimpleNamespace(sync_items_total=0, sync_items_pending=0, sync_time=None)

    def mark_preempting(self) -> None:
        """Remember that the machine is about to be taken away."""
        self._mark("preempting", {})

    def log_model(self, path: Any, name: str | None = None, aliases: Any = None) -> Any:
        """Keep a file or a directory as an artifact of type "model"."""
        called = name or f"{self._directory.id}-{Path(path).name}"
        return self.log_artifact(path, re.sub(r"[^A-Za-z0-9._-]+", "-", called)[:128], "model", aliases)

    def use_model(self, name: str) -> str:
        """The path of a model's file, or of its directory when it has several."""
        found = self.use_artifact(name)
        if not hasattr(found, "download"):
            return str(found)
        directory = Path(found.download())
        listed = [path for path in directory.rglob("*") if path.is_file()]
        return str(listed[0] if len(listed) == 1 else directory)

    def link_artifact(self, artifact: Any, target_path: str, aliases: Any = None) -> Any:
        """There is no registry; that the artifact belongs to one is remembered as a mark."""
        if not self.disabled and not getattr(artifact, "version", ""):
            artifact = self.log_artifact(artifact)
        about = {"artifact": getattr(artifact, "name", str(artifact)), "version": getattr(artifact, "version", "")}
        self._mark("link", {**about, "target": str(target_path), "aliases": [str(alias) for alias in aliases or ()]})
        return artifact

    def link_model(self, path: Any, registered_model_name: str, name: str | None = None, aliases: Any = None) -> Any:
        return self.link_artifact(self.log_model(path, name, aliases), registered_model_name, aliases)

    def _mark(self, name: str, data: dict[str, Any]) -> None:
        self._append({"k": "mark", "step": self.step, "name": name, "data": data})
