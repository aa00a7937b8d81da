"""A series with the helpers that a notebook wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddock.compare import frames
from paddock.model import Series


class Curve(Series, frozen=True):
    """One metric of one run: `steps`, `values`, `times`; iterates over (step, value)."""

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return iter(zip(self.steps, self.values, strict=True))

    def __repr__(self) -> str:
        ends = f", steps {self.steps[0]} to {self.steps[-1]}" if self.steps else ""
        return f"<Series {self.metric!r} of {self.run}: {len(self):,} points{ends}>"

    def to_numpy(self) -> tuple[Any, Any]:
        """(steps, values) as arrays of int64 and float64 (int64 when every value was a whole number)."""
        return frames.to_numpy(self.steps), frames.to_numpy(self.values)

    def df(self, prefer: str | None = None) -> Any:
        """A data frame with the columns step, value, time."""
        return frames.frame({"step": self.steps, "value": self.values, "time": self.times}, prefer)

    def to_pandas(self) -> Any:
        return self.df("pandas")

    def to_polars(self) -> Any:
        return self.df("polars")


def curve(series: Series) -> Curve:
    return Curve(series.run, series.metric, series.steps, series.values, series.times, series.tags)
