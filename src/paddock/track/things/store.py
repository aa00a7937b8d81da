"""Store: objects and series under keys, as a thin view of a run.

    store = Store.init(project="toys")
    store.save({"acc": 0.9}, "eval/final")
    store.log("loss", 0.5)
    store.load("loss")        # [0.5]

Nothing is overwritten silently, and nothing is unpickled without being asked. Directories of `.pt` and `.bin` files
written by roach can be read too: Store("path/to/it").
"""

from __future__ import annotations

import fnmatch
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddock import files, settings, wire
from paddock.errors import NotFound, Refused, RunExists, UsageError
from paddock.record.layout import RunDirectory, find_home
from paddock.record.scan import Rows, journal_files, parse, read_journal
from paddock.track.run import Run

SUFFIXES = (".json", ".npy", ".pt", ".txt", ".bytes", ".bin")


class Store:
    def __init__(self, root: str | os.PathLike[str] | Run) -> None:
        self._run = root if isinstance(root, Run) else None
        self.path = root.path if isinstance(root, Run) else Path(root)
        if self._run is None and not self.path.exists() and "/" not in os.fspath(root):  # type: ignore[arg-type]
            self.path = find_home(settings.load().home).run(os.fspath(root)).path  # type: ignore[arg-type]
        if not self.path.is_dir():
            raise NotFound(f"There is no store in {self.path}.", hint="Store.init() makes a new one.")
        directory = RunDirectory(self.path)
        self._is_run = directory.journals.is_dir()
        self._objects = directory.files / "store" if self._is_run else self.path

    @classmethod
    def init(cls, parent: str | os.PathLike[str] | None = None, **about: Any) -> Store:
        """A new store; `parent` is the home to keep it in, the rest is what paddock.init() takes."""
        from paddock.track.start import init

        return cls(init(dir=parent, **about))

    @property
    def run_id(self) -> str:
        return self.path.name

    def save(self, obj: Any, key: str, *, overwrite: bool = False) -> Path:
        """Keep an object under a key: JSON data, text, bytes, a numpy array, or whatever torch.save takes."""
        run = self._writable()
        taken = self._file(key)
        if taken is not None and not overwrite:
            raise RunExists(f"{key!r} has been saved already, as {taken.name}.", hint="Pass overwrite=True to replace.")
        suffix, data = _encode(obj)
        target = self._objects / (_safe(key) + suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            import torch

            aside = target.with_name(f".{target.name}.tmp")
            torch.save(obj, aside)
            os.replace(aside, target)
        else:
            files.replace(target, data)
        if taken is not None and taken != target:
            taken.unlink(missing_ok=True)
        run._append({"k": "file", "path": str(target.relative_to(self.path)), "size": target.stat().st_size})
        return target

    def log(self, key: str, val: Any, step: int | None = None) -> None:
        self._writable().log({key: val}, step)

    def load(self, key: str, *, trust: bool = False) -> Any:
        """The object saved under a key, or the list of values logged under it.

        `trust=True` allows a `.pt` file to run code while it is read, as pickles do.
        """
        path = self._file(key)
        if path is not None:
            return _decode(path, trust, roach=not self._is_run)
        values = self._series(key)
        if not values:
            raise NotFound(f"There is nothing under {key!r}.", hint=f"There are: {', '.join(self.ls()) or 'none'}.")
        return values

    def ls(self, pattern: str = "*") -> list[str]:
        keys = set(self._files())
        if self._is_run:
            keys.update(name for _, names, _ in self._tables() for name in names)
        return sorted(key for key in keys if fnmatch.fnmatchcase(key, pattern))

    def __iter__(self) -> Iterator[str]:
        return iter(self.ls())

    @staticmethod
    def iter(parent: str | os.PathLike[str] | None = None) -> Iterator[tuple[str, Store]]:
        """All stores: the runs of a home, or the subdirectories of any directory."""
        root = find_home(parent or settings.load().home)
        shelf = root.runs if root.runs.is_dir() else root.path
        for entry in sorted(files.entries(shelf), key=lambda e: e.name):
            if entry.is_dir() and not entry.name.startswith("."):
                yield entry.name, Store(entry.path)

    def _writable(self) -> Run:
        if self._run is None:
            raise UsageError(
                f"The store in {self.path} is open for reading.", hint="Store.init() makes a writable one."
            )
        return self._run

    def _files(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for suffix in SUFFIXES:
            for path in self._objects.rglob("*" + suffix) if self._objects.is_dir() else ():
                if not path.name.startswith("."):
                    found.setdefault(str(path.relative_to(self._objects))[: -len(suffix)], path)
        return found

    def _file(self, key: str) -> Path | None:
        # By the exact names a key can have: `loss` must be found beside `loss.ema`.
        for suffix in SUFFIXES:
            path = self._objects / (_safe(key) + suffix)
            if path.is_file():
                return path
        return None

    def _tables(self) -> Iterator[tuple[float, list[str], Rows]]:
        for file in journal_files(RunDirectory(self.path).journals):
            chunk = parse(read_journal(file))
            opened = next((float(r["t"]) for r in chunk.records if r["k"] == "open"), 0.0)
            names = {r["id"]: r["names"] for r in chunk.records if r["k"] == "columns"}
            for rows in chunk.tables:
                if rows.id in names and len(rows.columns) == 2 + len(names[rows.id]):
                    yield opened, names[rows.id], rows

    def _series(self, key: str) -> list[Any]:
        points: dict[int, tuple[float, Any]] = {}
        for opened, names, rows in self._tables():
            if key in names:
                column = rows.columns[2 + names.index(key)]
                for step, ms, value in zip(*rows.columns[:2], column, strict=True):
                    when = opened + ms / 1000
                    if step not in points or points[step][0] <= when:
                        points[step] = (when, value)
        return [_number(value) for _, (_, value) in sorted(points.items())]


def _number(value: Any) -> Any:
    return float("nan") if value is None else float(value) if isinstance(value, str) else value


def _safe(key: str) -> str:
    parts = Path(key).parts
    if not parts or Path(key).is_absolute() or ".." in parts or parts[-1].startswith("."):
        raise UsageError(f"{key!r} cannot be a key.", hint="It is a relative path, without '..'.")
    return str(Path(*parts))


def _encode(obj: Any) -> tuple[str, bytes | None]:
    if isinstance(obj, str):
        return ".txt", obj.encode()
    if isinstance(obj, (bytes, bytearray)):
        return ".bytes", bytes(obj)
    if type(obj).__module__.partition(".")[0] == "numpy" and hasattr(obj, "dtype") and obj.dtype.kind != "O":
        import io

        import numpy as np

        buffer = io.BytesIO()
        np.save(buffer, obj, allow_pickle=False)
        return ".npy", buffer.getvalue()
    kept = wire.plain(obj)
    if not kept.lossy:
        return ".json", wire.dumps(kept.value)
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UsageError(
            f"A {type(obj).__name__} cannot be saved as JSON ({', '.join(kept.lossy[:3])}).",
            hint="Install torch, or save numbers, texts, lists, dicts, bytes or numpy arrays.",
        ) from None
    return ".pt", None


def _decode(path: Path, trust: bool, roach: bool) -> Any:
    if path.suffix == ".json":
        return wire.loads(path.read_bytes())
    if path.suffix == ".txt":
        return path.read_text("utf-8")
    if path.suffix == ".npy":
        import numpy as np

        return np.load(path, allow_pickle=False)
    if path.suffix == ".bin" and roach:
        data = path.read_bytes()
        whole = len(data) // 4  # a torn last value is left out
        return list(struct.unpack(f"<{whole}f", data[: whole * 4]))
    if path.suffix == ".pt":
        import torch

        try:
            return torch.load(path, map_location="cpu", weights_only=not trust)
        except Exception as error:
            if trust:
                raise
            raise Refused(
                f"{path.name} holds more than tensors, and reading it could run code ({type(error).__name__}).",
                hint="Pass trust=True if you know who wrote it.",
            ) from None
    return path.read_bytes()
