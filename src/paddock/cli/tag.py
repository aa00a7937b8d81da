"""paddock tag: add and remove tags."""

from __future__ import annotations

import click

from paddock.cli.annotate import append_to
from paddock.cli.command import Session, Verb, verb
from paddock.errors import UsageError


class TagCommand(Verb):
    """Lets -TAG stand for --remove TAG, which click would read as a heap of one-letter options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_as_option(word) for word in args])


def _as_option(word: str) -> str:
    is_tag = len(word) > 1 and word[0] == "-" and word[1] != "-" and word not in ("-q", "-h")
    return f"--remove={word[1:]}" if is_tag else word


_HELP = """Add and remove tags.

\b
  paddock tag RUN RUN +good -draft
  paddock tag 'name~^lr state=finished' +paper

What a query fits is listed, and you are asked; the answer is No unless you say yes.
"""


@verb("tag", cls=TagCommand, help=_HELP)
@click.argument("words", nargs=-1, required=True, metavar="RUN... | QUERY [+TAG] [-TAG]")
@click.option("--add", multiple=True, metavar="TAG", help="Add a tag; repeatable. The same as +TAG.")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove a tag; repeatable. The same as -TAG.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def tag(session: Session, words: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...], yes: bool) -> None:
    names = [word for word in words if not word.startswith("+")]
    added = [word[1:] for word in words if word.startswith("+")] + list(add)
    if not names:
        raise UsageError("No run was named.", hint="paddock tag RUN... +TAG -TAG")
    if (not added and not remove) or not all([*added, *remove]):
        raise UsageError("No tag was named.", hint="paddock tag RUN... +TAG -TAG")
    record = {"k": "tag", "add": added, "remove": list(remove)}
    append_to(session, names, record, lambda run: " ".join(run.tags) or "no tags", verb="Tag", yes=yes)
