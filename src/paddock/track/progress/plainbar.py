"""A bar for where tqdm is not installed: one line, drawn over and over on a terminal, and what tqdm's users call."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from types import TracebackType
from typing import Any

DRAW_SECONDS = 0.1


class PlainBar:
    def __init__(
        self,
        iterable: Iterable[Any] | None = None,
        desc: str | None = None,
        total: float | None = None,
        leave: bool | None = True,
        file: Any = None,
        disable: bool | None = False,
        unit: str = "it",
        initial: float = 0,
        **_: Any,
    ) -> None:
        self.iterable, self.desc, self.leave, self.unit, self.n = iterable, desc or "", leave, unit, initial
        self.file = file if file is not None else sys.stderr
        terminal = bool(getattr(self.file, "isatty", lambda: False)())
        self.disable = not terminal if disable is None else bool(disable)
        self.total = _length(iterable) if total is None else total
        self._postfix, self._drawn, self._started, self._closed = "", 0.0, monotonic(), False
        if not self.disable:
            self.refresh()

    def __iter__(self) -> Iterator[Any]:
        try:
            for item in self.iterable or ():
                yield item
                if not self.disable:
                    self.update(1)
        finally:
            self.close()

    def __len__(self) -> int:
        return int(self.total or 0)

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def update(self, n: float | None = 1) -> bool | None:
        if self.disable:
            return None
        self.n += n or 0
        if monotonic() - self._drawn < DRAW_SECONDS:
            return None
        self.refresh()
        return True

    def refresh(self, *_: Any, **__: Any) -> None:
        if self.disable or self._closed:
            return
        self._drawn = monotonic()
        self.file.write("\r" + str(self).ljust(60))
        self.file.flush()

    def __str__(self) -> str:
        of = f"/{self.total:g}" if self.total else ""
        share = f"{min(1.0, self.n / self.total):4.0%} " if self.total else ""
        rate = self.n / max(monotonic() - self._started, 1e-9)
        head = f"{self.desc.removesuffix(': ')}: " if self.desc else ""
        return f"{head}{share}{self.n:g}{of} [{rate:.2f}{self.unit}/s]{self._postfix}"

    def set_description(self, desc: str | None = None, refresh: bool | None = True) -> None:
        self.desc = desc or ""
        if refresh:
            self.refresh()

    set_description_str = set_description

    def set_postfix(self, ordered_dict: Any = None, refresh: bool | None = True, **values: Any) -> None:
        named = {**dict(ordered_dict or {}), **values}
        self.set_postfix_str(", ".join(f"{name}={value}" for name, value in named.items()), refresh)

    def set_postfix_str(self, s: str = "", refresh: bool | None = True) -> None:
        self._postfix = f" {s}" if s else ""
        if refresh:
            self.refresh()

    def reset(self, total: float | None = None) -> None:
        self.n, self._started = 0, monotonic()
        self.total = self.total if total is None else total
        self.refresh()

    def close(self) -> None:
        if self._closed or self.disable:
            return
        self.refresh()
        self._closed = True
        self.file.write("\n" if self.leave else "\r" + " " * 60 + "\r")
        self.file.flush()

    @classmethod
    def write(cls, s: str, file: Any = None, end: str = "\n", nolock: bool = False) -> None:
        stream = file if file is not None else sys.stdout
        stream.write(s + end)


def _length(iterable: Any) -> float | None:
    try:
        return len(iterable)
    except TypeError:
        return None
