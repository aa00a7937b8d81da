"""A bar of progress as text: for a column, a line and a drawing."""

from __future__ import annotations

from paddock.compare.text import clean, number, span
from paddock.model import RUNNING, Progress

_EIGHTHS = " ▏▎▍▌▋▊▉"


def short(bar: Progress) -> str:
    """For a column: 45% 3m20s, 45 batch, failed 45%."""
    word = "" if bar.state in (RUNNING, "done") else bar.state
    left = span(bar.eta) if bar.state == RUNNING and bar.eta is not None else ""
    return " ".join(filter(None, (word, percent(bar) or amount(bar), left)))


def percent(bar: Progress) -> str:
    """Whole percents, rounded down: what shows 100 is over."""
    return "" if bar.fraction is None else f"{int(bar.fraction * 100 + 1e-9)}%"


def amount(bar: Progress) -> str:
    """45/100 batch."""
    of = "" if bar.total is None else f"/{number(bar.total)}"
    return f"{number(bar.done)}{of}{' ' + clean(bar.unit) if bar.unit else ''}"


def pace(bar: Progress) -> str:
    """12.5/s, or the time that one takes when that is longer."""
    if not bar.rate:
        return ""
    return per_second(bar.rate) if bar.rate >= 1 else f"{span(1 / bar.rate)} each"


def per_second(rate: float) -> str:
    return f"{rate:.3g}/s" if rate < 999.5 else f"{rate:,.0f}/s"


def title(bar: Progress) -> str:
    return clean(" ".join(bar.msg)) or "progress"


def drawn(bar: Progress, width: int) -> str:
    """As wide as said. Of work without a total nothing can be drawn."""
    if bar.fraction is None:
        return "·" * width
    eighths = int(bar.fraction * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width, "░")[:width]
