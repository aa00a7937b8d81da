"""Points as one long table in a file: run, name, metric, step, time, value, rank, attempt, tags.

Written in stretches, so that memory does not grow with the number of points.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import secrets
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from paddock import wire
from paddock.compare.fields import text_of
from paddock.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from paddock.catalog.series import Batch

COLUMNS = ("run", "name", "metric", "step", "time", "value", "rank", "attempt", "tags")
FORMATS = ("parquet", "csv", "jsonl")
_STRETCH = 1 << 18  # points in a row group

Names = Mapping[str, str]  # run id -> run name


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write aside, which takes its name when everything has been written, and never before."""
    if not path.parent.is_dir():
        raise UsageError(f"There is no directory {path.parent}.", hint="Make it first, or name another one.")
    if path.is_dir():
        raise UsageError(f"{path} is a directory.", hint="Name a file in it.")
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        yield aside
        descriptor = os.open(aside, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(aside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)


def write_points(path: Path, format: str, batches: Iterable[Batch], names: Names) -> int:
    """Write every point; returns how many there were."""
    with whole_file(path) as aside:
        if format == "parquet":
            return _parquet_writer()(aside, batches, names)
        with open(aside, "wb") as file:
            return write_text(file, format, batches, names)


def write_text(file: BinaryIO, format: str, batches: Iterable[Batch], names: Names) -> int:
    if format == "csv":
        file.write((",".join(COLUMNS) + "\n").encode())
    lines = _csv_lines if format == "csv" else _json_lines
    count = 0
    for batch in batches:
        file.write("".join(lines(batch, names.get(batch.run, ""))).encode("utf-8", "backslashreplace"))
        count += len(batch.steps)
    return count


def _csv_lines(batch: Batch, name: str) -> list[str]:
    before = _csv_cells(batch.run, name, batch.metric)
    after = _csv_cells(batch.rank, batch.attempt, _tags(batch))
    rows = zip(batch.steps, batch.times, batch.values, strict=True)
    return [f"{before},{step},{moment!r},{value!r},{after}\n" for step, moment, value in rows]


def _csv_cells(*values: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def _json_lines(batch: Batch, name: str) -> list[str]:
    head = wire.dumps({"run": batch.run, "name": name, "metric": batch.metric}).decode()[:-1]
    tail = wire.dumps({"rank": batch.rank, "attempt": batch.attempt, "tags": batch.tags or {}}).decode()[1:]
    rows = zip(batch.steps, batch.times, batch.values, strict=True)
    return [
        f'{head},"step":{step},"time":{moment!r},"value":{_json_number(value)},{tail}\n' for step, moment, value in rows
    ]


def _json_number(value: float) -> str:
    text = repr(value)
    return {"nan": "null", "inf": '"inf"', "-inf": '"-inf"'}.get(text, text)


def _tags(batch: Batch) -> str:
    return wire.dumps(batch.tags).decode() if batch.tags else ""


def _parquet_writer() -> Callable[[Path, Iterable[Batch], Names], int]:
    if find_spec("pyarrow") is not None:
        return _by_pyarrow
    if find_spec("polars") is not None:
        return _by_polars
    raise MissingExtra("Parquet", "parquet")


class _Stretch:
    """The columns of some batches: numbers end to end, words by their place in a list of the words met."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.n = 0
        self.steps, self.times, self.values = array("q"), array("d"), array("d")
        self.words: dict[str, dict[str, int]] = {key: {} for key in ("run", "name", "metric", "tags")}
        self.places = {key: array("i") for key in self.words}
        self.rank, self.attempt = array("i"), array("i")

    def add(self, batch: Batch) -> None:
        n = len(batch.steps)
        self.n += n
        self.steps += batch.steps
        self.times += batch.times
        self.values += batch.values if batch.values.typecode == "d" else array("d", batch.values)
        said = {"run": batch.run, "name": self.names.get(batch.run, ""), "metric": batch.metric, "tags": _tags(batch)}
        for key, word in said.items():
            words = self.words[key]
            self.places[key] += array("i", [words.setdefault(word, len(words))]) * n
        self.rank += array("i", [batch.rank]) * n
        self.attempt += array("i", [batch.attempt]) * n


def _stretches(batches: Iterable[Batch], names: Names) -> Iterator[_Stretch]:
    stretch = _Stretch(names)
    for batch in batches:
        stretch.add(batch)
        if stretch.n >= _STRETCH:
            yield stretch
            stretch = _Stretch(names)
    if stretch.n:
        yield stretch


def _by_pyarrow(path: Path, batches: Iterable[Batch], names: Names) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    word = pa.dictionary(pa.int32(), pa.string())
    types = {"step": pa.int64(), "time": pa.float64(), "value": pa.float64(), "rank": pa.int32(), "attempt": pa.int32()}
    schema = pa.schema([(name, types.get(name, word)) for name in COLUMNS])
    count = 0
    # Steps and times hardly repeat: a dictionary of them costs time and saves nothing.
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=["run", "name", "metric", "tags"]) as writer:
        for stretch in _stretches(batches, names):
            numbers = {
                "step": stretch.steps,
                "time": stretch.times,
                "value": stretch.values,
                "rank": stretch.rank,
                "attempt": stretch.attempt,
            }
            columns = []
            for name in COLUMNS:
                if name in numbers:
                    columns.append(pa.Array.from_buffers(types[name], stretch.n, [None, pa.py_buffer(numbers[name])]))
                else:
                    places = pa.Array.from_buffers(pa.int32(), stretch.n, [None, pa.py_buffer(stretch.places[name])])
                    columns.append(pa.DictionaryArray.from_arrays(places, pa.array(list(stretch.words[name]))))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            count += stretch.n
    return count


def _by_polars(path: Path, batches: Iterable[Batch], names: Names) -> int:
    """polars writes whole files only: each stretch becomes one, and they are streamed into the last."""
    import tempfile

    import polars as pl

    count = 0
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.parts.") as folder:
        parts: list[str] = []
        for stretch in _stretches(batches, names):
            words = {
                key: pl.Series(list(found), dtype=pl.String).gather(list(stretch.places[key]))
                for key, found in stretch.words.items()
            }
            numbers = {
                "step": pl.Series(stretch.steps, dtype=pl.Int64),
                "time": pl.Series(stretch.times, dtype=pl.Float64),
                "value": pl.Series(stretch.values, dtype=pl.Float64),
                "rank": pl.Series(stretch.rank, dtype=pl.Int32),
                "attempt": pl.Series(stretch.attempt, dtype=pl.Int32),
            }
            parts.append(f"{folder}/{len(parts)}.parquet")
            pl.DataFrame({name: (words | numbers)[name] for name in COLUMNS}).write_parquet(parts[-1])
            count += stretch.n
        if parts:
            pl.scan_parquet(parts).sink_parquet(path)
        else:
            empty = {"step": pl.Int64, "time": pl.Float64, "value": pl.Float64, "rank": pl.Int32, "attempt": pl.Int32}
            pl.DataFrame(schema={name: empty.get(name, pl.String) for name in COLUMNS}).write_parquet(path)
    return count


def write_frame(path: Path, columns: Mapping[str, list[Any]]) -> None:
    """A small table (one row a run) as Parquet; a column of mixed types becomes text."""
    simple = {name: one_type(values) for name, values in columns.items()}
    with whole_file(path) as aside:
        if find_spec("pyarrow") is not None:
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table({name: pa.array(values) for name, values in simple.items()}), aside)
        elif find_spec("polars") is not None:
            import polars as pl

            pl.DataFrame(simple, strict=False).write_parquet(aside)
        else:
            raise MissingExtra("Parquet", "parquet")


def one_type(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and len(kinds) == 2:
        return [None if value is None else float(value) for value in values]
    if len(kinds) > 1 or kinds & {list, tuple, dict}:
        return [None if value is None else text_of(value) for value in values]
    return values
