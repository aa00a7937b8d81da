"""What the queues run: functions for the systems that call functions, shell commands for those that start commands."""

from __future__ import annotations

import os
import shlex
import subprocess

NOTHING = "true"  # the command that does nothing


def nothing() -> None:
    """The function that does nothing."""


def shell() -> None:
    """What a function system needs to run a command, as the others always do."""
    subprocess.run(["/bin/sh", "-c", NOTHING], check=True)


def tell(pipe: str, hold: str = "") -> None:
    """Say into a named pipe that this task has begun; and stay until a line comes out of the other one."""
    descriptor = os.open(pipe, os.O_WRONLY)
    os.write(descriptor, b"begun\n")
    os.close(descriptor)
    if hold:
        descriptor = os.open(hold, os.O_RDONLY)
        os.read(descriptor, 1)
        os.close(descriptor)


def telling(pipe: str, hold: str = "") -> str:
    """The same as a shell command; only what the shell has built in, so that no further process is started."""
    begun = f"echo $PPID > {shlex.quote(pipe)}"
    return f"{begun}; read -r line < {shlex.quote(hold)}" if hold else begun
