"""What runs and hosts use of processors, memory and GPUs."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.compare.usage.metrics import chosen, possible
from paddock.compare.usage.report import POINTS, read
from paddock.monitor.api.now import window
from paddock.monitor.http.route import Call, Route
from paddock.monitor.now.picture import Host


class UsageParams(Struct, frozen=True):
    metric: Annotated[tuple[str, ...], Meta(description="cpu, memory, gpu, gpu-memory, ...; repeatable.")] = ()
    points: Annotated[int, Meta(description="Bins of the time.", ge=2, le=10_000)] = POINTS


class Mark(Struct, frozen=True):
    """A checkpoint of the script, made by so many processes."""

    time: float
    text: str
    times: int


class Used(Struct, frozen=True):
    """One process. `who` says which; `series` has the mean of each bin."""

    label: str
    who: dict[str, Any]
    began: float
    ended: float
    mean: dict[str, float]
    most: dict[str, float]
    series: dict[str, list[float]]


class Usage(Struct, frozen=True):
    """From `begin` on in bins of `width` seconds; no processes when nothing was sampled."""

    begin: float
    width: float
    damaged: int
    checkpoints: list[Mark]
    processes: list[Used]


class Hosts(Struct, frozen=True):
    hosts: tuple[Host, ...]


def usage(call: Call) -> Usage:
    call.house.fresh()
    found = call.house.find(call.path["run"])
    wanted = possible(call.params.metric)
    report = read(found.directory.path, found.entry.row.id, call.params.points, wanted)
    drawn = [metric.name for metric in chosen(call.params.metric, report.has)]
    return Usage(
        report.begin,
        report.width,
        report.damaged,
        [Mark(*mark) for mark in report.checkpoints],
        [
            Used(
                one.label,
                one.who._asdict(),
                one.began,
                one.ended,
                one.means,
                one.peaks,
                {name: one.series[name] for name in drawn},
            )
            for one in report.processes
        ],
    )


def hosts(call: Call) -> Hosts:
    return Hosts(window(call.house).look().hosts)


ROUTES = [
    Route("GET", "/api/v1/runs/{run}/usage", usage, "What a run's processes used.", UsageParams, answer=Usage),
    Route("GET", "/api/v1/hosts", hosts, "The machines that runs and workers are on, and how busy.", answer=Hosts),
]
