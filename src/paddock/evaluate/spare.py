"""An interpreter that waits for an evaluation, with the evaluator imported: `python -m paddock.evaluate.spare SPEC`.

It evaluates one checkpoint and ends, so one evaluation cannot touch another. A worker starts it ahead and says by
`paddock.queue.handover` which task it is. When a file that was imported has been edited since, or anything else does
not fit, it becomes the task's ordinary command, which imports everything anew.
"""

from __future__ import annotations

import os
import select
import shlex
import socket
import sys
from pathlib import Path
from typing import NoReturn

from paddock.evaluate import call
from paddock.evaluate.evaluators import code
from paddock.evaluate.evaluators.evaluator import load, ready
from paddock.evaluate.evaluators.sources import Sources
from paddock.queue import handover
from paddock.queue.handover import Handover
from paddock.record.filesystem import is_local
from paddock.record.layout import Home
from paddock.record.wake import Wake
from paddock.track import active, start

POLL_SECONDS = 2.0  # between two looks at the files, where the kernel does not tell that one was changed
_EARLY_BYTES = 1 << 20  # of what was printed while the evaluator was imported


def prepare(spec: str) -> list[str]:
    """Import everything, wait, and come back as the task: with the arguments of `paddock.evaluate.call`."""
    channel, early = _own_stdin(), _own_output()
    sources = Sources()
    try:
        _import(spec, sources)
    except BaseException:
        _leave(channel, 1)
    _say_ready(channel)
    task, output = _wait(channel, sources)
    arguments = _arguments(task.command)
    if not handover.wear(task) or arguments is None or sources.have_changed():
        _redirect(output)
        handover.run_instead(task)
    _pass_on(early, output)
    return arguments


def _import(spec: str, sources: Sources) -> None:
    start.rehearse()
    code.declare(spec)
    code.take(Home(Path(os.environ["PADDOCK_RUN_HOME"])))
    if not spec:
        return
    os.environ["PADDOCK_MODE"], before = "disabled", os.environ.get("PADDOCK_MODE")
    with sources.noting():
        ready[spec] = load(spec)
    if active.current() is not None:
        raise RuntimeError("the evaluator begins a run while it is imported, which has to be the evaluation's")
    if before is None:
        del os.environ["PADDOCK_MODE"]
    else:
        os.environ["PADDOCK_MODE"] = before


def _own_stdin() -> socket.socket:
    """The channel, which is our stdin; that becomes an ordinary one."""
    channel = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return channel


def _own_output() -> int:
    """What is printed before we are anybody's task is kept in memory until then."""
    memory = os.memfd_create("paddock-early-output", os.MFD_CLOEXEC)
    _redirect(memory)
    return memory


def _redirect(output: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(output, 1)
    os.dup2(output, 2)


def _pass_on(early: int, output: int) -> None:
    _redirect(output)
    said = os.pread(early, _EARLY_BYTES, 0)
    if said:
        os.write(1, said)
    os.close(early)
    os.close(output)


def _say_ready(channel: socket.socket) -> None:
    try:
        channel.send(handover.READY, socket.MSG_NOSIGNAL)
    except OSError:  # the task is here already, and the worker has nothing more to say
        pass


def _wait(channel: socket.socket, sources: Sources) -> tuple[Handover, int]:
    """Until we are a task. Who is not up to date any more, or has no worker any more, leaves."""
    paths = [Path(directory) for directory in sources.directories]
    told = all(map(is_local, paths))
    wake = Wake({str(path): (path, True) for path in paths} if told else {})
    poller = select.poll()
    poller.register(channel, select.POLLIN)
    if wake.fd >= 0:
        poller.register(wake.fd, select.POLLIN)
    watched = wake.fd
    while True:
        ready = {fd for fd, _ in poller.poll(None if wake.fd >= 0 or not paths else POLL_SECONDS * 1000)}
        if channel.fileno() in ready:
            # The wake stays open: to close it is to wait for the kernel to be done with it, which takes 10 ms and more.
            found = handover.receive(channel)
            if found is None:
                os._exit(handover.STALE)  # not 0: should we be a task by now, then it was not done
            return found
        wake.read()
        if wake.fd < 0 and watched >= 0:  # a directory is gone, or another is in its place
            poller.unregister(watched)
            watched = -1
        if sources.have_changed():
            _leave(channel, handover.STALE)


def _leave(channel: socket.socket, code: int) -> NoReturn:
    """End; a task that was sent meanwhile is done the ordinary way, which says what is wrong, if anything is."""
    found = handover.refuse(channel)
    if found is not None:
        task, output = found
        _redirect(output)
        handover.run_instead(task)
    os._exit(code)


def _arguments(command: str) -> list[str] | None:
    """Those of the evaluation, if the task's command is what we stand for: somebody may have edited it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return words[3:] if words[:3] == [sys.executable, "-m", call.MODULE] else None


if __name__ == "__main__":
    sys.argv = [call.__file__, *prepare("".join(sys.argv[1:2]))]
    sys.exit(call.run(sys.argv[1:]))
