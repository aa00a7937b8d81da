"""The options of a watch, declared once: for the command line, for the tables of paddock.toml, and for Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from paddock.cli.command import Verb
from paddock.cli.span import SPAN, Span
from paddock.cli.watch.rules import RULE_OPTIONS
from paddock.evaluate.origin.scan import DEFAULT_PATTERN

_EXISTING = re.compile(r"--eval[-_]existing=(true|t|1|yes|y)", re.I)
_NOT_EXISTING = re.compile(r"--no-?eval[-_]existing|--eval[-_]existing=(false|f|0|no|n)", re.I)
_NUMBER = click.IntRange(min=0)


# assayer's spellings have underscores; both are taken.
_OPTIONS = (
    click.option("--directory", multiple=True, metavar="PATH", help="The same as DIRECTORY; a glob may fit many."),
    click.option("--evaluator", multiple=True, metavar="[NAME:]FILE.py:FN", help="Or pkg.mod.fn; repeatable."),
    click.option(
        "--command", multiple=True, metavar="'[NAME:] CMD'", help="A shell command with {path}, and {out} for results."
    ),
    click.option(
        "--regex-filter", "--regex_filter", default=DEFAULT_PATTERN, show_default=True, help="On the full path."
    ),
    click.option(
        "--eval-existing", "--eval_existing", is_flag=True, help="Also what was there before the first watch."
    ),
    click.option(
        "--polling-interval",
        "--polling_interval",
        type=Span(0.001),
        default=5.0,
        show_default=True,
        metavar="TIME",
        help="Between looks at a network disk.",
    ),
    click.option(
        "--num-eval-workers",
        "--num_eval_workers",
        type=_NUMBER,
        default=5,
        show_default=True,
        help="Evaluations at once.",
    ),
    click.option("--num-watch-workers", "--num_watch_workers", type=_NUMBER, default=1, hidden=True),
    click.option("--watch-queue-name", "--watch_queue_name", default="watch", hidden=True),
    click.option(
        "-Q",
        "--queue",
        "--eval-queue-name",
        "--eval_queue_name",
        default="evaluation",
        show_default=True,
        metavar="NAME|PATH",
        help="For the evaluations.",
    ),
    click.option("--redis-host", "--redis_host", metavar="HOST", help="The queue is in the Redis there."),
    click.option("--redis-port", "--redis_port", type=click.IntRange(1, 65535), metavar="PORT", help="[6379]"),
    click.option("--no-worker", is_flag=True, help="Only submit: workers of that queue evaluate."),
    click.option("--run", help="The training run; else it is found from the directory."),
    click.option(
        "--quiet-time", type=SPAN, metavar="TIME", help="At rest for so long is complete, whatever the format needs."
    ),
    click.option(
        "--marker", multiple=True, metavar="NAME", help="Complete is what has this file: _SUCCESS, '{name}.done'."
    ),
    click.option("--complete-command", metavar="CMD", help="Complete is what this says 0 to: 'test -f {path}/DONE'."),
    click.option("--step-rule", metavar="RE", help=r"Where the step is in the path: 'it(\d+)'."),
    click.option("--no-download", is_flag=True, help="Give the evaluator the URL of what is in an object store."),
    click.option("--timeout", type=SPAN, metavar="TIME", help="End an evaluation after 10m, 2h."),
    click.option("--retries", type=_NUMBER, default=0, metavar="N", help="Evaluate again so often when it fails [0]."),
    click.option("--isolate", is_flag=True, help="A fresh process for each evaluation, none started ahead."),
    click.option("--gpus", type=_NUMBER, default=0, metavar="N", help="GPUs that an evaluation needs [0]."),
    *RULE_OPTIONS,
)


def watch_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class WatchCommand(Verb):
    """A flag of absl, which assayer has, may be `--eval_existing=true`, `=false`, and `--noeval_existing`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(context, list(_plain_flags(args)))


def _plain_flags(words: Sequence[str]) -> Iterator[str]:
    for number, word in enumerate(words):
        if word == "--":
            yield from words[number:]
            return
        if not _NOT_EXISTING.fullmatch(word):
            yield "--eval-existing" if _EXISTING.fullmatch(word) else word
