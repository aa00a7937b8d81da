"""Things that are logged but are no numbers: images, tables, histograms."""

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
    ) -> None:
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

    def write(self, path: Path) -> None:
        path.write_bytes(wire.dumps(wire.plain({"columns": self.columns, "data": self.data}).value))

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
