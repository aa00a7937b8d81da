"""The commands of click: each is imported when it is called."""

from __future__ import annotations

import os
from difflib import get_close_matches
from importlib import import_module

import click

from paddock.cli.main import VERBS
from paddock.version import __version__

EPILOG = """\b
Runs are named by id, by the beginning of an id, or by name.
Every verb takes --json, --quiet and --home, and has its own --help.
Completion for bash: eval "$(_PADDOCK_COMPLETE=bash_source paddock)" (also zsh_source, fish_source)."""


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in VERBS if " " not in name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = import_module(VERBS[cmd_name][0])
        command = getattr(module, cmd_name.rpartition(" ")[2])
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = " ".join(args[:2])
        if len(args) > 1 and name in VERBS:
            if os.path.isdir(args[1]) and any(word.startswith(("--evaluator", "--command")) for word in args[2:]):
                raise click.UsageError(f"`paddock {name}` is a verb; the directory is ./{args[1]}.", ctx)
            return name, self.get_command(ctx, name), args[2:]
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            near = get_close_matches(name, VERBS, 1)
            raise click.UsageError(f"There is no verb {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, about) for name, (_, about) in VERBS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, "--version", prog_name="paddock", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Paddock: one record of every experiment, from submit to the paper."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
