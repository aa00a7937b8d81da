"""The [[watch]] tables of paddock.toml: the options of `paddock watch` by their long names."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Any

import click

from paddock import settings
from paddock.errors import UsageError

# Of the command line alone: they say how to watch now, not what.
_NOT_HERE = frozenset(("once", "detach", "plain", "until_eof", "as_json", "quiet", "home"))


def from_tables(command: click.Command) -> list[dict[str, Any]]:
    """The values of the options for each table; none when there is no table. From now on this process works in the
    directory of paddock.toml, so that a relative path means the same wherever it was started."""
    found, path = settings.tables("watch")
    if found:
        os.chdir(os.path.dirname(path))
    return [_given(command, table, f"{path}: [[watch]] number {number}") for number, table in enumerate(found, 1)]


def _given(command: click.Command, table: dict[str, Any], where: str) -> dict[str, Any]:
    options = {
        name.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name not in _NOT_HERE
        for name in option.opts
        if name.startswith("--") and "_" not in name
    }
    words: list[str] = []
    for key, value in table.items():
        name = key.replace("_", "-")
        option = options.get(name)
        if option is None:
            near = get_close_matches(name, options, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(sorted(options))}."
            raise UsageError(f"{where} has {key!r}, which is no option of a watch.", hint=hint)
        words += _words(option, name, value, where)
    try:
        given = command.make_context("watch", words).params
    except click.UsageError as error:
        raise UsageError(f"{where}: {error.format_message()}") from None
    return {name: value for name, value in given.items() if name not in _NOT_HERE}


def _words(option: click.Option, name: str, value: Any, where: str) -> list[str]:
    """As they would be typed."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{where} sets {name} to {value!r}.", hint="It takes true or false.")
        return [f"--{name}"] if value else []
    several = value if isinstance(value, list) else [value]
    if not option.multiple and isinstance(value, list):
        raise UsageError(f"{where} sets {name} to a list.", hint="It takes one value.")
    for one in several:
        if isinstance(one, bool) or not isinstance(one, (str, int, float)):
            raise UsageError(f"{where} sets {name} to {one!r}.", hint="It takes a text or a number.")
    return [f"--{name}={one}" for one in several]
