"""Options that take a time span: every one of them the same forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from paddock.amounts import parse_seconds
from paddock.errors import UsageError

if TYPE_CHECKING:
    _Type = click.ParamType[float]
else:  # older clicks have no types
    _Type = click.ParamType


class Span(_Type):
    """Seconds, from 90, 200ms, 1.5h, 4:00:00; at least `least` of them."""

    name = "time"

    def __init__(self, least: float = 0.0) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = parse_seconds(value)
        except UsageError as error:
            self.fail(f"{error.message} {error.hint}", param, ctx)
        if seconds < self.least:
            self.fail(f"{value} is too short: {self.least:g}s is the least.", param, ctx)
        return seconds


SPAN = Span()
