"""What an evaluation program wrote, as metrics: lm-eval, lighteval, inspect, HELM, or any JSON with numbers in it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paddock.evaluate.evaluators import inspectlog

_STATS = "stats.json"  # of each run of HELM
_MOST_BYTES = 256 << 20
_HELM, _INSPECT, _TASKS, _PLAIN = "helm", "inspect", "tasks", "plain"  # what a file looks like


def read(out: Path) -> dict[str, Any]:
    """The metrics of a file, or of the results below a directory; nothing when there are none. A program that writes a
    file for each of its runs or tasks has them all read, the newest of each; of other files it is the newest one."""
    first = ""
    parts: dict[str, dict[str, Any]] = {}  # by the run or task, the newest first
    for path in _files(out):
        if first == _HELM and path.name != _STATS:
            continue  # its other files are large
        try:
            # Not by `wire`: JSON has no NaN, but json.dump writes it, and the loss of what diverged is one.
            found = json.loads(_content(path))
        except (OSError, ValueError, RecursionError, zipfile.BadZipFile, KeyError, NotImplementedError):
            continue
        metrics, kind = metrics_of(found), _kind(found)
        if not metrics or (first and kind != first):
            continue
        first = kind
        parts.setdefault(_part(kind, found, path), metrics)
        if kind == _PLAIN:
            break
    if len(parts) < 2:
        return next(iter(parts.values()), {})
    found_all: dict[str, Any] = {}
    for part, metrics in parts.items():
        # The metrics of lm-eval and lighteval have the task's name already.
        prefix = "" if first == _TASKS else f"{part}/"
        found_all = {f"{prefix}{name}": value for name, value in metrics.items()} | found_all
    return found_all


def _part(kind: str, found: Any, path: Path) -> str:
    """Whose results these are, where a program writes several files."""
    if kind == _HELM:
        return path.parent.name  # it has a directory for each run
    if kind == _INSPECT:
        about = found.get("eval")
        return str(about.get("task") if isinstance(about, Mapping) else "") or path.stem
    return str(path)


def _kind(found: Any) -> str:
    if isinstance(found, list):
        return _HELM
    results = found.get("results") if isinstance(found, Mapping) else None
    if not isinstance(results, Mapping):
        return _PLAIN
    return _INSPECT if isinstance(results.get("scores"), list) else _TASKS


def _files(out: Path) -> list[Path]:
    if out.is_file():
        return [out]
    found = [p for p in out.rglob("*") if p.suffix in (".json", inspectlog.ENDING) and p.is_file()]
    # Results before samples and configs, the newest first.
    return sorted(
        (p for p in found if p.stat().st_size <= _MOST_BYTES or p.suffix == inspectlog.ENDING),
        key=lambda p: (not _is_result(p), -p.stat().st_mtime_ns),
    )


def _is_result(path: Path) -> bool:
    return "result" in path.name or path.name == _STATS or path.suffix == inspectlog.ENDING


def _content(path: Path) -> bytes:
    return inspectlog.header(path) if path.suffix == inspectlog.ENDING else path.read_bytes()


def metrics_of(found: Any) -> dict[str, Any]:
    """By what the content looks like."""
    kind = _kind(found)
    if kind == _HELM:
        return _helm(found)
    if kind == _INSPECT:
        return _inspect(found["results"]["scores"])
    if kind == _TASKS:
        return dict(_tasks(found["results"]))
    return dict(_numbers(found, "")) if isinstance(found, Mapping) else {}


def _tasks(results: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """lm-eval writes {task: {"acc,none": 0.5, "acc_stderr,none": 0.01, "sample_len": 6, ...}}, lighteval the same
    without the filter's name. Where there are filters, what has none is no metric."""
    for task, metrics in results.items():
        if not isinstance(metrics, Mapping):
            continue
        is_filtered = any("," in name for name in metrics)
        for name, value in metrics.items():
            metric, comma, filtered = name.partition(",")
            if is_filtered and not comma:
                continue
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                yield f"{task}/{metric}" + (f"/{filtered}" if filtered not in ("", "none") else ""), value


def _inspect(scores: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for score in scores:
        metrics = score.get("metrics") if isinstance(score, Mapping) else None
        for name, metric in metrics.items() if isinstance(metrics, Mapping) else ():
            value = metric.get("value") if isinstance(metric, Mapping) else metric
            if isinstance(value, (int, float)):
                found[f"{score.get('name', 'score')}/{name}"] = value
    return found


def _helm(stats: list[Any]) -> dict[str, Any]:
    """stats.json: a list of {"name": {"name", "split", "perturbation"?}, "mean"}; perturbed ones are left out."""
    found: dict[str, Any] = {}
    for stat in stats:
        name = stat.get("name") if isinstance(stat, Mapping) else None
        if isinstance(name, Mapping) and "perturbation" not in name and isinstance(stat.get("mean"), (int, float)):
            split = name.get("split")
            found[f"{split}/{name.get('name')}" if split else str(name.get("name"))] = stat["mean"]
    return found


def _numbers(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{key}/")
        elif isinstance(value, (int, float)):
            yield f"{prefix}{key}", value
