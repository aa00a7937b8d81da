"""Medians, spreads, verdicts, and the tables that show them."""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple


class Line(NamedTuple):
    """One target: what was promised, what was measured."""

    target: str
    measured: str
    ratio: float | None  # how much better than demanded: 1 is just enough; None when there is nothing to judge by

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return "not judged"
        return "PASS" if self.ratio >= 1 else "FAIL"


class Results:
    """The samples of one case: for each system a list of {quantity: number}, or the reason why there are none."""

    def __init__(self) -> None:
        self.samples: dict[str, list[dict[str, float]]] = {}
        self.missing: dict[str, str] = {}
        self.paces: list[float] = []
        self.disk_paces: list[float] = []

    def add(self, system: str, sample: dict[str, float]) -> None:
        self.samples.setdefault(system, []).append(sample)

    def values(self, system: str, quantity: str) -> list[float]:
        return [sample[quantity] for sample in self.samples.get(system, []) if quantity in sample]

    def median(self, system: str, quantity: str) -> float | None:
        values = self.values(system, quantity)
        return statistics.median(values) if values else None

    def has(self, system: str, quantity: str) -> bool:
        return bool(self.values(system, quantity))

    def quantities(self) -> list[str]:
        found: dict[str, None] = {}
        for samples in self.samples.values():
            for sample in samples:
                found.update(dict.fromkeys(sample))
        return list(found)

    def at_most(self, target: str, system: str, quantity: str, limit: float, unit: str = "") -> list[Line]:
        """The system's median must be at most `limit`."""
        value = self.median(system, quantity)
        if value is None:
            return [Line(target, f"not measured: {self.missing.get(system, 'no sample')}", 0.0)]
        return [Line(target, f"{shown(value)} {unit}".strip(), limit / value if value > 0 else float("inf"))]

    def at_least(self, target: str, system: str, quantity: str, limit: float, unit: str = "") -> list[Line]:
        """The system's median must be at least `limit`."""
        value = self.median(system, quantity)
        if value is None:
            return [Line(target, f"not measured: {self.missing.get(system, 'no sample')}", 0.0)]
        return [Line(target, f"{shown(value)} {unit}".strip(), value / limit)]

    def times_more(self, target: str, system: str, peer: str, quantity: str, factor: float) -> list[Line]:
        """The system's median must be at least the peer's times `factor`; nothing to judge without the peer."""
        ours, theirs = self.median(system, quantity), self.median(peer, quantity)
        if ours is None:
            return [Line(target, f"not measured: {self.missing.get(system, 'no sample')}", 0.0)]
        if theirs is None:
            return [Line(target, f"{peer} not measured: {self.missing.get(peer, 'no sample')}", None)]
        return [Line(target, f"{shown(ours / theirs)} x ({shown(ours)} and {shown(theirs)})", ours / theirs / factor)]

    def times_less(self, target: str, system: str, peer: str, quantity: str, factor: float) -> list[Line]:
        """The system's median must be at most the peer's divided by `factor`; nothing to judge without the peer."""
        ours, theirs = self.median(system, quantity), self.median(peer, quantity)
        if ours is None:
            return [Line(target, f"not measured: {self.missing.get(system, 'no sample')}", 0.0)]
        if theirs is None:
            return [Line(target, f"{peer} not measured: {self.missing.get(peer, 'no sample')}", None)]
        return [Line(target, f"{shown(theirs / ours)} x ({shown(ours)} and {shown(theirs)})", theirs / ours / factor)]

    def table(self) -> list[list[str]]:
        quantities = self.quantities()
        body = [["", *quantities]]
        for system in self.samples:
            cells = [cell(self.values(system, quantity)) for quantity in quantities]
            body.append([system, *cells])
        body.extend([system, f"not measured: {why}"] for system, why in self.missing.items())
        return body

    def plain(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "not_measured": self.missing,
            "paces": self.paces,
            "disk_paces": self.disk_paces,
        }


def shown(value: float) -> str:
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def cell(values: list[float]) -> str:
    """The median, and the lowest and highest of the rounds."""
    if not values:
        return ""
    if len(values) == 1 or min(values) == max(values):
        return shown(values[0])
    return f"{shown(statistics.median(values))} ({shown(min(values))}..{shown(max(values))})"


def print_table(body: list[list[str]]) -> None:
    columns = max(len(row) for row in body)
    full = [row for row in body if len(row) == columns]
    widths = [max(len(row[at]) for row in full) for at in range(columns)]
    widths[0] = max(len(row[0]) for row in body)
    for row in body:
        print("  " + "  ".join(text.ljust(widths[at]) for at, text in enumerate(row)).rstrip())


def print_lines(lines: list[tuple[str, Line]]) -> None:
    body = [["case", "target", "measured", "margin", ""]]
    for case, line in lines:
        margin = "" if line.ratio in (None, float("inf")) else f"{shown(line.ratio)} x"
        body.append([case, line.target, line.measured, margin, line.verdict])
    print_table(body)
