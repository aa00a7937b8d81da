"""`run.config` and `run.summary`: dicts with attributes, whose every change is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any


class Settable(MutableMapping[str, Any]):
    def __init__(self, values: dict[str, Any], changed: Callable[[dict[str, Any]], None]) -> None:
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_changed", changed)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"{key!r} has been recorded and stays; set it to None instead")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are: {', '.join(self) or 'none yet'}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, *args: Any, allow_val_change: bool | None = None, **more: Any) -> None:
        """Set several values; written as one record. `allow_val_change` is accepted for wandb's sake: every change
        is allowed, and every change is on record."""
        given = args[0] if args else {}
        values = {**(dict(vars(given)) if _has_only_attributes(given) else dict(given)), **more}
        self._values.update(values)
        self._changed(values)

    def setdefaults(self, values: Mapping[str, Any]) -> None:
        self.update({key: value for key, value in values.items() if key not in self._values})

    def as_dict(self) -> dict[str, Any]:
        return dict(self._values)

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __repr__(self) -> str:
        return repr(dict(self))


def _has_only_attributes(value: Any) -> bool:
    return hasattr(value, "__dict__") and not hasattr(value, "keys") and not hasattr(value, "__iter__")


class Summary(Settable):
    """What was set by hand, and beneath it the last value of every metric this process logged."""

    def __init__(
        self,
        values: dict[str, Any],
        changed: Callable[[dict[str, Any]], None],
        last: Callable[[], dict[str, Any]],
    ) -> None:
        super().__init__(values, changed)
        object.__setattr__(self, "_last", last)

    def _merged(self) -> dict[str, Any]:
        return {**self._last(), **self._values}

    def __getitem__(self, key: str) -> Any:
        return self._values[key] if key in self._values else self._last()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._merged())

    def __len__(self) -> int:
        return len(self._merged())
