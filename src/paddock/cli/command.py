"""What every verb shares: --json, --quiet, --home, and a session that knows the home and prints."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from paddock.cli.failure import BROKEN_PIPE
from paddock.cli.output import HUMAN, JSON, QUIET, Output
from paddock.compare.source import Source, source
from paddock.errors import HomeError
from paddock.record.layout import Home

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(frozen=True)
class Session:
    """One call of a verb."""

    out: Output
    home_option: str | None

    @cached_property
    def source(self) -> Source:
        found = source(self.home_option)
        if self.home_option and not found.home.path.is_dir():
            raise HomeError(
                f"There is no home at {found.home.path}.", hint="Check --home; runs are kept in <home>/runs/."
            )
        return found

    @property
    def home(self) -> Home:
        return self.source.home

    @contextmanager
    def catalog(self) -> Iterator[Catalog]:
        """The catalog, brought up to date."""
        with self.source.catalog() as catalog:
            catalog.refresh()
            yield catalog


class Verb(click.Command):
    """Its mistakes of usage are its own: click takes an option without its value for one of the group's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


def verb(
    name: str, *, several_homes: bool = False, **attributes: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function of (session, its own options) the verb `name`. With `several_homes` --home can be repeated, and
    the function gets all of them as `homes`."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def call(*, as_json: bool, quiet: bool, home: Any, **options: Any) -> None:
            if several_homes:
                options["homes"], home = home, next(iter(home), None)
            session = Session(Output(JSON if as_json else QUIET if quiet else HUMAN), home)
            try:
                function(session, **options)
                session.out.flush()
            except BrokenPipeError:
                _leave_quietly()

        # the parameters of the verb itself were collected by click's decorators on `function`
        call.__click_params__ = list(getattr(function, "__click_params__", []))  # type: ignore[attr-defined]
        for option in (
            click.option(
                "--home",
                type=click.Path(),
                multiple=several_homes,
                help=f"The home that holds the runs{'; repeatable' if several_homes else ''} [PADDOCK_HOME].",
            ),
            click.option("-q", "--quiet", is_flag=True, help="Print the essential only: ids, or nothing."),
            click.option("--json", "as_json", is_flag=True, help="Print JSON; errors too, on stderr."),
        ):
            call = option(call)
        call.__click_params__ = _own_first(call.__click_params__)  # type: ignore[attr-defined]
        settings = {**CONTEXT, **attributes.pop("context_settings", {})}
        make: Callable[[Any], click.Command] = click.command(
            name, context_settings=settings, **{"cls": Verb, **attributes}
        )
        return make(call)

    return decorate


def _own_first(parameters: list[click.Parameter]) -> list[click.Parameter]:
    """Show a verb's own options before the shared ones; click turns the collected list round."""
    shared = [p for p in parameters if p.name in ("as_json", "quiet", "home")]
    return shared + [p for p in parameters if p not in shared]


def _leave_quietly() -> None:
    """The reader has seen enough (`| head`). Point stdout elsewhere, or Python complains while it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(BROKEN_PIPE)
