"""tqdm that counts as progress of the run: the bar is drawn as tqdm draws it, and by a plain line where that is not
installed.

    from paddock import tqdm

    for batch in tqdm(loader, desc="epoch 1"):
        ...

What is written is what tqdm shows, as often as it does, so that a loop costs what it costs with tqdm.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from paddock.track.progress.progress import Progress

if TYPE_CHECKING:
    _Base = Any
else:
    _Base = object


class _Counting(_Base):  # type: ignore[misc]
    """Goes before a class of tqdm's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._progress: Progress | None = None
        self._left = False
        super().__init__(*args, **kwargs)
        if self.disable and kwargs.get("disable"):
            return  # switched off by hand; `None` only means that there is no terminal to draw on
        unit = getattr(self, "unit", None) or kwargs.get("unit")
        said = kwargs.get("desc") or (args[1] if len(args) > 1 else "")
        self._progress = Progress.new(self.total, str(said or ""), None if unit in (None, "it") else str(unit))
        self._count()

    def __iter__(self) -> Iterator[Any]:
        items = self._uncounted() if self.disable and self._progress is not None else super().__iter__()
        try:
            for item in items:  # noqa: UP028  `yield from` would end them first, and we would not know why
                yield item
        except GeneratorExit:  # by a break, or by an exception: nobody tells which
            self._left = True
            items.close()
            raise

    def _uncounted(self) -> Generator[Any]:
        """For a bar that is not drawn, and so not counted by tqdm itself."""
        try:
            for item in self.iterable:
                yield item
                self.n += 1
                self._count()
        finally:
            self.close()

    def update(self, n: float | None = 1) -> Any:
        shown = super().update(n)
        if self._progress is not None:
            if self.disable:
                self.n += n
            self._count()
        return shown

    def refresh(self, *args: Any, **kwargs: Any) -> Any:
        found = super().refresh(*args, **kwargs)
        if self._progress is not None:
            self._progress.msg = str(getattr(self, "desc", "") or "").removesuffix(": ")
            self._count()
        return found

    def reset(self, total: float | None = None) -> None:
        super().reset(total)
        if self._progress is not None:
            self._count()

    def close(self) -> None:
        self._end(failed=False)
        super().close()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(failed=kind is not None)
        super().__exit__(kind, value, trace)

    def _count(self) -> None:
        progress = self._progress
        if progress is None or progress.state != "running":
            return
        if progress.total != self.total:
            progress.total = self.total
        if progress.done != self.n:
            progress.update(self.n)

    def _end(self, *, failed: bool) -> None:
        progress = getattr(self, "_progress", None)  # close() is called by __del__, too, after an __init__ that failed
        if progress is not None and progress.state == "running":
            self._count()
            if self._left and not failed:
                progress._leave()
            else:
                progress.close(failed=failed)


def _base(variant: str) -> type[Any]:
    try:
        module = __import__(f"tqdm.{variant}", fromlist=["tqdm"])
    except ImportError:
        from paddock.track.progress.plainbar import PlainBar

        return PlainBar
    found: type[Any] = module.tqdm
    return found


class tqdm(_Counting, _base("std")):  # type: ignore[misc]
    """As `tqdm.tqdm`. Also stands for its module: `tqdm.tqdm`, `tqdm.trange` and `tqdm.auto` are there."""


def trange(*args: Any, **kwargs: Any) -> tqdm:
    return tqdm(range(*args), **kwargs)


class _Auto(ModuleType):
    """`from paddock.tqdm.auto import tqdm`: drawn by the notebook where there is one. Made when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("tqdm", "trange"):
            raise AttributeError(f"module 'paddock.tqdm.auto' has no attribute {name!r}")
        made = type("tqdm", (_Counting, _base("auto")), {"__module__": "paddock.tqdm.auto"})
        self.tqdm, self.trange = made, lambda *args, **kwargs: made(range(*args), **kwargs)
        return vars(self)[name]


def as_module() -> type[tqdm]:
    """The class in the place of the module `paddock.tqdm`, so that all spellings of tqdm work."""
    auto = _Auto("paddock.tqdm.auto")
    sys.modules["paddock.tqdm.auto"] = auto
    tqdm.tqdm, tqdm.trange, tqdm.auto = tqdm, staticmethod(trange), auto
    return tqdm
