"""`paddock`: the verbs, imported only when they are called, and what happens when one fails."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, NoReturn

# verb: (module, one line of help). The help of `paddock` itself is printed from here, without importing any of them.
VERBS: dict[str, tuple[str, str]] = {
    "submit": ("paddock.cli.submit", "Put a command, or a sweep of them, into a queue."),
    "worker": ("paddock.cli.worker", "Take tasks from queues and run them here."),
    "task": ("paddock.cli.task", "Run a task that was handed over as a file: for engines."),
    "scale": ("paddock.cli.scale", "Keep as many workers on an engine as a queue needs."),
    "status": ("paddock.cli.status", "What runs, what waits and why, in the queues."),
    "cancel": ("paddock.cli.cancel", "Take tasks out of a queue; end those that run."),
    "pause": ("paddock.cli.pause", "Hold tasks; stop those that run."),
    "resume": ("paddock.cli.resume", "Let paused tasks go on."),
    "retry": ("paddock.cli.retry", "Run failed tasks again."),
    "rerun": ("paddock.cli.rerun", "Run tasks again that are done."),
    "priority": ("paddock.cli.priority", "Which waiting tasks go first."),
    "move": ("paddock.cli.move", "Move tasks to another queue."),
    "wait": ("paddock.cli.wait", "Wait until tasks are over."),
    "workers": ("paddock.cli.workers", "Who works on the queues, and on what; --stop ends one."),
    "clean": ("paddock.cli.clean", "Remove old task files and leftovers from a queue, after asking."),
    "top": ("paddock.cli.top", "What happens now: runs, tasks, workers, hosts and log lines, live."),
    "watch": ("paddock.cli.watch.watch", "Evaluate every checkpoint of a directory, once, when it is complete."),
    "watch ls": ("paddock.cli.watch.ls", "The watches, who keeps them, and how their evaluations stand."),
    "watch show": ("paddock.cli.watch.show", "Every checkpoint of a watch, and what became of it."),
    "watch stop": ("paddock.cli.watch.stop", "End the watching of a directory."),
    "watch rescan": ("paddock.cli.watch.rescan", "Look at a watched directory again; evaluate anew what has failed."),
    "shutdown": ("paddock.cli.shutdown", "End all that watches have started, after asking."),
    "k8s": ("paddock.cli.k8s.k8s", "What is ours on Kubernetes: its verbs."),
    "k8s run": ("paddock.cli.k8s.run", "Run a command in a pod, once, and show what it prints."),
    "k8s status": ("paddock.cli.k8s.status", "The Jobs and pods of ours, and what they wait for."),
    "k8s logs": ("paddock.cli.k8s.logs", "What a pod printed; -f follows it."),
    "k8s events": ("paddock.cli.k8s.events", "Why something waits, in the cluster's own words."),
    "k8s wait": ("paddock.cli.k8s.wait", "Wait until Jobs and pods are over."),
    "k8s cancel": ("paddock.cli.k8s.cancel", "End Jobs and pods of ours."),
    "serve": ("paddock.cli.serve", "The board and the API of a home, and a place for clients to send to."),
    "run": ("paddock.cli.run", "Run a script and record it."),
    "ls": ("paddock.cli.ls", "List runs."),
    "show": ("paddock.cli.show", "Everything about one run."),
    "logs": ("paddock.cli.logs", "What a run printed; -f follows it."),
    "questions": ("paddock.cli.questions", "What running processes ask and wait for."),
    "answer": ("paddock.cli.answer", "Answer what a run asks."),
    "series": ("paddock.cli.series", "A metric over its steps."),
    "usage": ("paddock.cli.usage", "What a run's processes used over time: CPU, memory, GPU."),
    "compare": ("paddock.cli.compare", "Mean, std and n over seeds, grouped by config."),
    "diff": ("paddock.cli.diff", "What differs between runs: config, code, packages."),
    "query": ("paddock.cli.query", "Read-only SQL over the catalog."),
    "export": ("paddock.cli.export", "Runs and points as Parquet, CSV or JSON lines."),
    "tag": ("paddock.cli.tag", "Add and remove tags."),
    "note": ("paddock.cli.note", "Write a note on a run."),
    "star": ("paddock.cli.star", "Mark a run as a good one."),
    "bug": ("paddock.cli.bug", "Mark a run as a broken one."),
    "reproduce": ("paddock.cli.reproduce", "Restore a run's code and its command."),
    "rm": ("paddock.cli.rm", "Remove runs, after asking."),
    "gc": ("paddock.cli.gc", "Free space: pack ended runs, drop unused code, empty the trash."),
    "sync": ("paddock.cli.sync", "Send runs to a server: what it does not have yet."),
    "doctor": ("paddock.cli.doctor", "What works on this machine, and what to install for the rest."),
}


def __getattr__(name: str) -> Any:
    """`cli` is for who wants the commands themselves: click is not imported before."""
    if name == "cli":
        from paddock.cli.verbs import cli

        return cli
    raise AttributeError(name)


def main(arguments: list[str] | None = None) -> NoReturn:
    given = sys.argv[1:] if arguments is None else arguments
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: `paddock ls >&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    if arguments is None and len(given) == 2 and given[0] == "task" and not given[1].startswith("-"):
        from paddock.cli.handed import main as run

        run(given[1:])  # as engines call it: their task waits for our imports, and needs no verbs
    try:
        from paddock.cli.verbs import cli

        code = cli.main(given, prog_name="paddock", standalone_mode=False)
    except Exception as error:
        from paddock.cli.failure import report

        code = report(error, _wants_json(given))
    except KeyboardInterrupt:
        code = 130
    _let_go_of_stdout()
    sys.exit(code if isinstance(code, int) else 0)


def _let_go_of_stdout() -> None:
    """What a full disk refuses now it refuses again while Python exits, which then exits with a code of its own."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_json(arguments: list[str]) -> bool:
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in before


if __name__ == "__main__":
    main()
