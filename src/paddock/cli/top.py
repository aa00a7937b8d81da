"""paddock top: what happens now, on the whole terminal, as a table or as JSON."""

from __future__ import annotations

import sys
import time

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import JSON, Cell
from paddock.cli.queued import fitted_table
from paddock.cli.span import Span
from paddock.compare.select import parse
from paddock.compare.text import many, span
from paddock.errors import UsageError
from paddock.model import FAILED, KILLED, LOST
from paddock.monitor.now.picture import Now
from paddock.monitor.now.source import HomeSource, Source

_HELP = """What happens now: runs with their progress, tasks, workers, hosts, watches and log lines.

\b
  paddock top                          this home
  paddock top project=mnist            the runs that fit a query, as `paddock ls` takes it
  paddock top --server node1:8642      what a server sees
  paddock top --once                   one look, as a table; --json for programs

On a terminal it is a console: arrows or j and k select, enter shows all about a run, / filters, l sets the level of
log lines, tab goes to the next panel, p pauses, c cancels, a answers a question, ? is help and q leaves. In a pipe it
prints one look, or one every --interval seconds when that is given.
"""


@verb("top", help=_HELP)
@click.argument("query", nargs=-1)
@click.option("--server", metavar="ADDRESS", help="Look at what this server sees, instead of a home on this disk.")
@click.option("--once", is_flag=True, help="Look once, print it, and leave.")
@click.option("--notify", is_flag=True, help="Tell what happens, as [[notify]] in paddock.toml says, while it runs.")
@click.option("--interval", type=Span(0.1), metavar="TIME", help="Between two looks  [default: 1.0].")
def top(
    session: Session, query: tuple[str, ...], server: str | None, once: bool, notify: bool, interval: float | None
) -> None:
    from paddock.monitor.console import loop

    if notify:
        _notify(session, server)

    source = _source(session, " ".join(query), server)
    out = session.out
    if out.human and not once and loop.is_possible():
        where = server or ""
        sys.exit(loop.Console(source, interval or 1.0, where).run())
    repeated = interval is not None and not once
    try:
        while True:
            _print(session, source.look(), repeated)
            if not repeated:
                return
            out.flush()
            time.sleep(interval or 1.0)
    finally:
        source.close()


def _notify(session: Session, server: str | None) -> None:
    from paddock.monitor.notices.notifying import Notifier
    from paddock.work.notices import notify

    if server:
        raise UsageError("--notify looks at a home on this disk.", hint="`paddock serve` tells by itself what it sees.")
    made = Notifier(session.home, notify.load_all(say=session.out.note), session.source.settings, lambda text: None)
    if not made.is_wanted:
        raise UsageError(
            "There is nobody to tell.",
            hint="[[notify]] in paddock.toml names whom, of what and how.",
        )
    made.start()


def _source(session: Session, query: str, server: str | None) -> Source:
    if server:
        from paddock import address, settings
        from paddock.monitor.now.served import ServerSource
        from paddock.record.token import find_token

        parse(query, time.time())  # what is wrong with it is said here
        return ServerSource(address.parse(server), find_token(session.home), ca=settings.load().server_ca, query=query)
    from paddock.catalog.catalog import Catalog

    return HomeSource([(session.home, Catalog.open(session.home, session.source.settings))], query)


def _print(session: Session, now: Now, repeated: bool) -> None:
    out = session.out
    if out.mode == JSON:
        import msgspec

        (out.json_line if repeated else out.json)(msgspec.to_builtins(now))
        return
    for run in now.runs:
        if run.state == "running":
            out.bare(run.id)
    if not out.human:
        return
    if repeated:
        out.line(time.strftime("%H:%M:%S", time.localtime(now.time)))
    _print_runs(session, now)
    _print_tasks(session, now)
    if now.runs or now.tasks:  # else a query fits nothing, or nothing happens
        _print_workers(session, now)
        _print_hosts(session, now)
    _print_rest(session, now)


def _print_runs(session: Session, now: Now) -> None:
    from paddock.monitor.console import panels

    names = panels.shared_metrics(now.runs, 3)
    rows: list[list[Cell]] = []
    for run in now.runs:
        bar = run.bars[0] if run.bars else None
        share = "" if bar is None or bar.fraction is None else panels.progress(bar, 0)[-1][0].strip()
        if run.state in (FAILED, KILLED, LOST) and bar is not None and bar.state == "done":
            share = ""  # what was done is not what has failed
        eta = span(bar.eta) if bar is not None and bar.eta is not None else ""
        step = "" if run.step is None else str(run.step)
        values = [next((panels.figure(v.value) for v in run.values if v.metric == name), "") for name in names]
        about = run.reason + (f" {many(run.alerts, 'alert')}" if run.alerts else "")
        rows.append(
            [(run.id, "bold"), run.name, panels.state_of(run), share, eta, step, *values, run.host, about.strip()]
        )
    if not rows:
        session.out.note("No runs in the last hour.")
        return
    headers = ["id", "run", "state", "done", "eta", "step", *names, "host", "about"]
    values_at, about_at = range(6, 6 + len(names)), len(headers) - 1
    less = [about_at - 1, *reversed(values_at), 4, 5, about_at]  # the host, metrics from the last on, eta, step, why
    fitted_table(session.out, headers, rows, flexible=[1, about_at], right=[3, 4, 5, *values_at], optional=less)


def _print_tasks(session: Session, now: Now) -> None:
    from paddock.monitor.console import panels

    if not now.tasks:
        return
    rows: list[list[Cell]] = [
        [(one.id, "bold"), one.title, one.queue, (one.state, panels.STYLES.get(one.state, "")), one.why or one.worker]
        for one in now.tasks
    ]
    session.out.heading("tasks")
    fitted_table(session.out, ["id", "task", "queue", "state", "about"], rows, flexible=[1, 4])


def _print_workers(session: Session, now: Now) -> None:
    from paddock.monitor.console import panels

    if not now.workers:
        return
    rows: list[list[Cell]] = [
        [
            (one.name, "bold"),
            one.queue,
            (panels.life(one), panels.STYLES.get(one.state, "")),
            f"{one.busy}/{one.slots}",
            ",".join(one.gpus),
            ", ".join(one.tasks),
        ]
        for one in now.workers
    ]
    session.out.heading("workers")
    fitted_table(
        session.out,
        ["worker", "queue", "state", "busy", "gpus", "runs"],
        rows,
        flexible=[0, 1, 5],
        right=[3],
        optional=[1, 4, 5],
    )


def _print_hosts(session: Session, now: Now) -> None:
    from paddock.monitor.console import panels

    rows: list[list[Cell]] = [
        [
            (one.name, "bold"),
            "" if one.cpu is None else f"{one.cpu:.0%}",
            panels.memory(one.memory, one.memory_total),
            panels.gpus(one),
            panels.processes(one),
        ]
        for one in now.hosts
        if one.runs or one.workers
    ]
    if rows:
        session.out.heading("hosts")
        headers = ["host", "cpu", "memory", "gpus", "processes"]
        fitted_table(session.out, headers, rows, flexible=[0, 3, 4], right=[1, 2], optional=[4, 3])


def _print_rest(session: Session, now: Now) -> None:
    out = session.out
    for question in now.questions:
        out.line(f"{question.run_name} ({question.run}) asks: {question.prompt}")
    for alert in now.alerts:
        out.line(f"{alert.run_name} ({alert.run}) alerts: {alert.title} {alert.text}".rstrip())
    for trouble in now.troubles:
        out.note(trouble)
