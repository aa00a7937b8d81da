"""Things that are logged but are no numbers: images, tables, histograms, and files that a browser or player opens."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddock import wire
from paddock.errors import MissingExtra, UsageError


class Media:
    """Something with a file, or a record of its own, in the run."""

    kind = "value"
    suffix = ""

    def write(self, path: Path) -> None:
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        return {}


class Image(Media):
    """A picture: a file's path, a PIL image, a matplotlib figure, or an array (height x width [x channels])."""

    kind = "image"

    def __init__(self, data: Any, caption: str | None = None, **_: Any) -> None:
        self.data = data
        self.caption = caption
        given = Path(data) if isinstance(data, (str, os.PathLike)) else None
        self.suffix = (given.suffix.lower() or ".png") if given else ".png"

    def write(self, path: Path) -> None:
        data = self.data
        if isinstance(data, (str, os.PathLike)):
            shutil.copyfile(data, path)
        elif callable(getattr(data, "savefig", None)):
            data.savefig(path, format="png")
        elif callable(getattr(data, "save", None)):
            data.save(path, format="PNG")
        else:
            self._write_array(path)

    def _write_array(self, path: Path) -> None:
        try:
            import numpy as np
            from PIL import Image as Pillow
        except ImportError:
            raise MissingExtra("An image given as an array", "images") from None
        detach = getattr(self.data, "detach", None)
        array = np.asarray(detach().cpu() if callable(detach) else self.data)
        if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
            array = array.transpose(1, 2, 0)  # torch keeps channels first
        if array.ndim == 3 and array.shape[2] == 1:
            array = array[:, :, 0]
        if array.ndim not in (2, 3):
            raise UsageError(f"An image has 2 or 3 dimensions, this array has {array.ndim}.")
        if array.dtype.kind == "b":
            array = array.astype(np.uint8) * 255
        elif array.dtype != np.uint8:
            array = np.nan_to_num(array.astype(np.float64))
            low, high = float(array.min(initial=0.0)), float(array.max(initial=1.0))
            if low < 0 or high > 255:
                array = (array - low) / ((high - low) or 1.0) * 255
            elif high <= 1:
                array = array * 255
            array = array.round().astype(np.uint8)
        Pillow.fromarray(array).save(path, format="PNG")

    def facts(self) -> dict[str, Any]:
        return {"caption": self.caption} if self.caption else {}


class Table(Media):
    """Rows and columns: from lists, from dicts, or from a pandas or polars frame."""

    kind = "table"
    suffix = ".json"

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        data: Iterable[Sequence[Any]] | None = None,
        rows: Iterable[Sequence[Any]] | None = None,
        dataframe: Any = None,
        allow_mixed_types: bool = True,
        log_mode: str = "IMMUTABLE",
        **_: Any,
    ) -> None:
        self.allow_mixed_types, self.log_mode = allow_mixed_types, log_mode  # wandb's; here every cell is as it is
        if dataframe is None and hasattr(data, "columns"):
            dataframe, data = data, None
        if dataframe is not None:
            self.columns = [str(name) for name in dataframe.columns]
            listed = dataframe.rows() if callable(getattr(dataframe, "rows", None)) else dataframe.values.tolist()
            self.data = [list(row) for row in listed]
            return
        given = list(data if data is not None else rows if rows is not None else [])
        if given and isinstance(given[0], Mapping):
            dicts: list[Any] = given
            self.columns = [str(c) for c in columns] if columns else list(dict.fromkeys(k for d in dicts for k in d))
            self.data = [[d.get(c) for c in self.columns] for d in dicts]
            return
        width = len(given[0]) if given else 0
        self.columns = [str(c) for c in columns] if columns is not None else [f"column {i + 1}" for i in range(width)]
        self.data = []
        for row in given:
            self.add_data(*row)

    def add_data(self, *row: Any) -> None:
        if len(row) != len(self.columns):
            raise UsageError(f"The table has {len(self.columns)} columns, this row has {len(row)}.")
        self.data.append(list(row))

    def add_column(self, name: str, data: Iterable[Any], optional: bool = False) -> None:
        cells = list(data)
        if self.columns and len(cells) != len(self.data):
            raise UsageError(f"The table has {len(self.data)} rows, this column has {len(cells)}.")
        if not self.columns:
            self.data = [[] for _ in cells]
        self.columns.append(str(name))
        for row, cell in zip(self.data, cells, strict=True):
            row.append(cell)

    def get_column(self, name: str, convert_to: str | None = None) -> Any:
        if name not in self.columns:
            raise UsageError(f"The table has no column {name!r}.", hint=f"It has: {', '.join(self.columns)}.")
        place = self.columns.index(name)
        cells = [row[place] for row in self.data]
        if convert_to is None:
            return cells
        if convert_to != "numpy":
            raise UsageError(f"convert_to={convert_to!r} is unknown.", hint="It is 'numpy', or left out.")
        import numpy as np

        return np.asarray(cells)

    def get_dataframe(self) -> Any:
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("get_dataframe()", "pandas") from None
        return pd.DataFrame(self.data, columns=self.columns)

    def write(self, path: Path) -> None:
        """As JSON; pictures and the like in cells become files beside it, which the cells name."""
        cells = [[_cell(cell, path, f"{r}-{c}") for c, cell in enumerate(row)] for r, row in enumerate(self.data)]
        path.write_bytes(wire.dumps(wire.plain({"columns": self.columns, "data": cells}).value))

    def facts(self) -> dict[str, Any]:
        return {"columns": self.columns[:200], "rows": len(self.data)}


class Histogram(Media):
    """A distribution: from values, or from (counts, edges) as numpy.histogram gives them."""

    kind = "histogram"

    def __init__(self, sequence: Any = None, np_histogram: Any = None, num_bins: int = 64) -> None:
        if np_histogram is not None:
            counts, edges = np_histogram
            self.counts, self.edges = [float(c) for c in counts], [float(e) for e in edges]
            if len(self.edges) != len(self.counts) + 1:
                raise UsageError("np_histogram is (counts, edges), with one edge more than counts.")
            return
        detach = getattr(sequence, "detach", None)
        source = detach().cpu() if callable(detach) else sequence
        ravel = getattr(source, "ravel", None)
        flat = ravel().tolist() if callable(ravel) else list(source if source is not None else ())
        values = [float(v) for v in flat]
        finite = [v for v in values if math.isfinite(v)]
        self.left_out = len(values) - len(finite)
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        width = (high - low) / num_bins or 1.0 / num_bins
        self.edges = [low + width * i for i in range(num_bins + 1)]
        self.counts = [0.0] * num_bins
        for value in finite:
            self.counts[min(int((value - low) / width), num_bins - 1)] += 1

    def facts(self) -> dict[str, Any]:
        return {"edges": self.edges, "counts": self.counts}


class FileMedia(Media):
    """What is kept as the file it is: given by its path, or as an open file."""

    kind = "media"
    type = "file"

    def __init__(self, data: Any, caption: str | None = None, suffix: str = "") -> None:
        self.data, self.caption = data, caption
        if isinstance(data, (str, os.PathLike)):
            suffix = suffix or Path(data).suffix.lower()
        elif callable(getattr(data, "read", None)):
            content = data.read()  # now: the file may be closed when it is logged
            self.data = content.encode() if isinstance(content, str) else content
            suffix = suffix or Path(str(getattr(data, "name", ""))).suffix.lower()
        self.suffix = suffix and "." + suffix.lstrip(".")

    def write(self, path: Path) -> None:
        if isinstance(self.data, bytes):
            path.write_bytes(self.data)
        elif isinstance(self.data, (str, os.PathLike)):
            shutil.copyfile(self.data, path)
        else:
            self._write_other(path)

    def _write_other(self, path: Path) -> None:
        raise UsageError(
            f"A {type(self).__name__} cannot be made from a {type(self.data).__name__} here.",
            hint="Write it to a file, and give the file's path.",
        )

    def facts(self) -> dict[str, Any]:
        return {"type": self.type} | ({"caption": self.caption} if self.caption else {})


class Html(FileMedia):
    """A page: its text, a file's path, or an open file."""

    type = "html"

    def __init__(
        self, data: Any, inject: bool = True, data_is_not_path: bool = False, caption: str | None = None
    ) -> None:
        given = data
        if isinstance(data, str) and (data_is_not_path or not _is_file(data)):
            given = data.encode()
        super().__init__(given, caption, ".html")


class Plotly(Html):
    """A plotly figure, as a page."""

    def __init__(self, val: Any, caption: str | None = None, **_: Any) -> None:
        made = getattr(val, "to_html", None)
        if not callable(made):
            raise UsageError(f"Plotly() takes a plotly figure, not a {type(val).__name__}.")
        super().__init__(made(include_plotlyjs="cdn"), data_is_not_path=True, caption=caption)


class Audio(FileMedia):
    """A sound: a file's path, an open file, or samples (frames, or frames x channels) with their sample rate."""

    type = "audio"

    def __init__(self, data_or_path: Any, sample_rate: int | None = None, caption: str | None = None, **_: Any) -> None:
        super().__init__(data_or_path, caption)
        self.sample_rate = sample_rate
        self.suffix = self.suffix or ".wav"

    def _write_other(self, path: Path) -> None:
        import wave

        if not self.sample_rate:
            raise UsageError("Sound given as samples needs a sample_rate.", hint="Audio(samples, sample_rate=44100)")
        try:
            import numpy as np
        except ImportError:
            raise UsageError("Sound given as samples needs numpy.", hint="pip install numpy") from None
        detach = getattr(self.data, "detach", None)
        samples = np.asarray(detach().cpu() if callable(detach) else self.data)
        if samples.ndim not in (1, 2) or samples.dtype.kind not in "biuf":
            raise UsageError(f"Sound is frames, or frames x channels, of numbers; this has {samples.ndim} dimensions.")
        if samples.dtype.kind == "f":
            samples = np.clip(np.nan_to_num(samples), -1, 1) * 32767
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
            file.setsampwidth(2)
            file.setframerate(int(self.sample_rate))
            file.writeframes(np.clip(samples, -32768, 32767).astype("<i2").tobytes())

    def facts(self) -> dict[str, Any]:
        return super().facts() | ({"sample_rate": int(self.sample_rate)} if self.sample_rate else {})


class Video(FileMedia):
    """A film: a file's path, or an open file with its format."""

    type = "video"

    def __init__(
        self, data_or_path: Any, caption: str | None = None, fps: int | None = None, format: str | None = None, **_: Any
    ) -> None:
        super().__init__(data_or_path, caption, format or "")


class Object3D(FileMedia):
    """A model or a cloud of points: a file's path, an open file with its type, or an array (points x 3 or more)."""

    type = "object3d"

    def __init__(self, data_or_path: Any, caption: str | None = None, file_type: str | None = None, **_: Any) -> None:
        super().__init__(data_or_path, caption, file_type or "")
        self.suffix = self.suffix or ".json"

    def _write_other(self, path: Path) -> None:
        detach = getattr(self.data, "detach", None)
        tolist = getattr(detach().cpu() if callable(detach) else self.data, "tolist", None)
        points = tolist() if callable(tolist) else self.data
        if not isinstance(points, (list, dict)):
            super()._write_other(path)
        path.write_bytes(wire.dumps(wire.plain(points).value))


class Molecule(FileMedia):
    """A molecule: a file's path, or an open file with its type."""

    type = "molecule"

    def __init__(self, data_or_path: Any, caption: str | None = None, file_type: str | None = None, **_: Any) -> None:
        super().__init__(data_or_path, caption, file_type or "")


def as_media(value: Any) -> Media | None:
    """What a figure or a data frame is kept as when it is logged as it is, or None."""
    if callable(getattr(value, "savefig", None)):
        return Image(value)
    if callable(getattr(value, "to_plotly_json", None)):
        return Plotly(value)
    if type(value).__name__ == "DataFrame" and hasattr(value, "columns"):
        return Table(dataframe=value)
    return None


def _cell(value: Any, table: Path, place: str) -> Any:
    if not isinstance(value, Media):
        return value
    if isinstance(value, Histogram):
        return value.facts()
    beside = table.with_name(f"{table.stem.lstrip('.')}-{place}{value.suffix}")
    value.write(beside)
    return {**value.facts(), "path": beside.name}


def _is_file(name: str) -> bool:
    try:
        return os.path.isfile(name)
    except ValueError:  # a page may hold a zero byte, a path cannot
        return False
