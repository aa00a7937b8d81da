"""The descriptors that a forked process keeps."""

from __future__ import annotations

import fcntl
import os
import socket
import sys


def keep_only(channel: socket.socket) -> socket.socket:
    """Close all of the worker's descriptors but this and stderr. Who began without stdio may have it down there."""
    kept = fcntl.fcntl(channel.fileno(), fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    try:
        if channel.fileno() == 2 or null == 2:
            os.dup2(null, 2)
        fcntl.fcntl(2, fcntl.F_GETFD)
    except OSError:
        os.dup2(null, 2)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    os.closerange(3, kept)
    os.closerange(kept + 1, highest + 1)
    channel.detach()
    sys.stdin = sys.stdout = sys.stderr = None
    return socket.socket(fileno=kept)
