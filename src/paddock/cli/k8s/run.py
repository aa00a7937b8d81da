"""paddock k8s run: a command in a pod of its own, once."""

from __future__ import annotations

import secrets
import sys
import time
from typing import Any

import click

from paddock.amounts import parse_bytes
from paddock.cli.command import Session, verb
from paddock.cli.k8s.place import Thing, look, on_option, rest, told
from paddock.cli.k8s.printing import yaml
from paddock.cli.submit import _pairs
from paddock.errors import TaskFailed, UsageError
from paddock.work.kubernetes import logs, names, spec
from paddock.work.kubernetes.client import Client

_SAY_SECONDS = 5.0  # before a pod that waits is asked why
_HELP = """Run a command in a pod, show what it prints, and remove the pod. The exit code is the command's.

\b
  paddock k8s run --image python:3.12 -- python -c 'print(1)'
  paddock k8s run --on k8s://lab/vision --gpus 1 -- nvidia-smi
  paddock k8s run --image train:1 --dry-run -- ./train.sh

Several words are a command and its arguments; one word is a shell command as it stands. Nothing is recorded: `paddock
submit --on k8s://...` is for what you want to keep.
"""


@verb("k8s run", help=_HELP, context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, metavar="[--] COMMAND...")
@on_option
@click.option("--image", help="The image [that of the URL or of [kubernetes]].")
@click.option("--gpus", type=click.IntRange(min=0), default=0, metavar="N", help="GPUs that it needs.")
@click.option("--cpus", type=click.IntRange(min=0), default=0, metavar="N", help="Processors that it needs.")
@click.option("--mem", default="0", metavar="SIZE", help="Memory that it needs, such as 8G.")
@click.option("--engine", "more", multiple=True, metavar="KEY=VALUE", help="More for Kubernetes; repeatable.")
@click.option("--name", help="The pod's name [made from the command].")
@click.option("--detach", is_flag=True, help="Do not wait: `paddock k8s logs` and `wait` find it.")
@click.option("--keep", is_flag=True, help="Leave the pod when it has ended.")
@click.option("--dry-run", is_flag=True, help="Only show what would be sent, checked by the server if there is one.")
def run(
    session: Session,
    words: tuple[str, ...],
    on: str | None,
    image: str | None,
    gpus: int,
    cpus: int,
    mem: str,
    more: tuple[str, ...],
    name: str | None,
    detach: bool,
    keep: bool,
    dry_run: bool,
) -> None:
    said: dict[str, Any] = {**_pairs(more, "--engine"), **({"image": image} if image else {})}
    options = told(on, said)
    if name is not None and not names.is_name(name, 63):
        raise UsageError(f"--name {name!r} is no name of a pod.", hint="Small letters, digits and '-'.")
    first = words[0].split()  # by what a person would call it: a shell's text need not be words that are quoted well
    if not first:
        raise UsageError("There is no command.", hint="paddock k8s run --image python:3.12 -- python -V")
    called = name or names.name("run", first[0].rpartition("/")[2] or "command", secrets.token_hex(2))
    argv = list(words) if len(words) > 1 else ["/bin/sh", "-c", words[0]]
    pod = spec.pod(argv, called, options, gpus=gpus, cpus=cpus, mem=parse_bytes(mem) if mem else 0)
    client = Client(options.context, options.namespace)
    if dry_run:
        show(session, client, [pod])
        return
    client.create(pod)
    session.out.bare(called)
    if detach:
        session.out.json({"pod": called})
        session.out.note(f"{called} is in {client.where}: `paddock k8s logs -f {called}` follows it.")
        return
    try:
        ended = _follow(session, client, called)
    except KeyboardInterrupt:
        client.delete("Pod", [called])
        raise
    if not keep:
        client.delete("Pod", [called])
    session.out.json({"pod": called, "state": ended.state, "exit": ended.exit, "about": ended.about})
    if ended.state != "done":
        session.out.note(f"{called}: {ended.about}")
        sys.exit(ended.exit if ended.exit else TaskFailed.exit_code)


def show(session: Session, client: Client, objects: list[spec.Spec]) -> None:
    """What would be sent, and what the server says of it; without a server it is shown all the same."""
    from paddock.errors import PaddockError, Unreachable

    session.out.json({"objects": objects})
    if session.out.human:
        session.out.raw("---\n".join(map(yaml, objects)))
        session.out.flush()
    try:
        client.create(objects[0], dry_run=True)
    except (Unreachable, PaddockError) as error:
        if isinstance(error, UsageError):
            raise
        session.out.note(f"Not checked by the server: {error}")


def _follow(session: Session, client: Client, called: str) -> Thing:
    """Print what it prints, and while it waits say why."""
    due, before = time.monotonic() + _SAY_SECONDS, ""
    printed = False
    while True:
        found = look(client)
        mine = next((one for one in found.things if one.name == called), None)
        if mine is None:
            raise TaskFailed(f"The pod {called} was removed by somebody else.")
        if (mine.is_over or mine.state == "running") and not printed:
            _print(session, client, called)
            printed = True
        elif mine.is_over:
            return mine
        else:
            if not printed and time.monotonic() >= due and mine.about != before:
                before = mine.about
                session.out.note(f"{called} waits: {before}")
            rest(client, found, "Pod", _SAY_SECONDS)


def _print(session: Session, client: Client, called: str) -> None:
    for data in logs.follow(client, called):
        if session.out.human:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
