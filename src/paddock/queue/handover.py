"""How a process that was started ahead is told which task it is: by one message on the socket that is its stdin.

A task may say in its `warm` line how such a process is started: a shell command that makes everything ready (imports,
mostly) and then waits. Whoever waits here can always take the task: when it is not what is needed after all, it becomes
the task's own command, in the same process and under the same guard.
"""

from __future__ import annotations

import array
import ctypes
import os
import socket
from typing import NamedTuple, NoReturn

MARKER = "PADDOCK_TASK_TOKEN"
READY = b"ready"
STALE = 75  # exit code of one that is not up to date any more, and wants to be replaced
_BYTES = 1 << 18


class Handover(NamedTuple):
    """What a process needs to know to be a task."""

    token: str  # of the task: as MARKER in the environment it says whose a process is
    command: str
    directory: str
    env: dict[str, str]


def send(channel: socket.socket, task: Handover, output: int) -> bool:
    """False when the process is gone, or will take nothing any more."""
    import json  # only who keeps warm processes hands over

    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [output]))]
    try:
        channel.sendmsg([json.dumps(task).encode()], rights, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
    except OSError:  # it ended; or its environment is too big for a message
        return False
    return True


def receive(channel: socket.socket, *, wait: bool = True) -> tuple[Handover, int] | None:
    """The task, and the descriptor its output goes to; None when there is none and, after waiting, will be none."""
    fds = array.array("i")
    flags = socket.MSG_CMSG_CLOEXEC | (0 if wait else socket.MSG_DONTWAIT)
    try:
        try:
            data, extra, _, _ = channel.recvmsg(_BYTES, socket.CMSG_SPACE(fds.itemsize), flags)
        except ConnectionResetError:
            # The worker has closed its end without reading that we are ready. That is told once, and before what it
            # had sent.
            data, extra, _, _ = channel.recvmsg(_BYTES, socket.CMSG_SPACE(fds.itemsize), flags)
    except (BlockingIOError, ConnectionResetError):
        return None
    for _, _, sent in extra:
        fds.frombytes(sent[: len(sent) - len(sent) % fds.itemsize])
    import json

    return (Handover(*json.loads(data)), fds[0]) if data and fds else None


def refuse(channel: socket.socket) -> tuple[Handover, int] | None:
    """Take nothing from now on. What was sent before that is still to be done: it comes back."""
    try:
        channel.shutdown(socket.SHUT_RD)
    except OSError:
        return None
    return receive(channel, wait=False)


def wear(task: Handover) -> bool:
    """Have this process look like the task's: in its environment, also as the system shows it to others."""
    worn = _replace_marker(task.token)
    os.environ.update(task.env)
    os.environ[MARKER] = task.token
    try:
        os.chdir(task.directory)
    except OSError:
        return False
    return worn


def run_instead(task: Handover) -> NoReturn:
    """Become the task's own command, as if nothing had been started ahead."""
    text = f'cd "$0" || exit 127\n{task.command}'
    os.execve("/bin/sh", ["/bin/sh", "-c", text, task.directory], {**os.environ, **task.env, MARKER: task.token})


def _replace_marker(token: str) -> bool:
    """The system shows the environment that a process began with: it is changed where it lies. False when the new
    token is longer than the old one."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    address = libc.getenv(MARKER.encode())
    if not address:
        return False
    room, new = len(ctypes.string_at(address)), token.encode("utf-8", "surrogateescape")
    if len(new) > room:
        return False
    ctypes.memmove(address, new.ljust(room, b"\0"), room)
    return True
