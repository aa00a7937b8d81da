"""Imported with the package in a process that a tracked one has started, when that one keeps its log lines: then this
one does, too, and joins the run with its first line."""

from __future__ import annotations

import logging
import os
import socket

from paddock.track.identity import RUN_ID, RUN_OWNER
from paddock.track.lines.logged import JOIN

FORWARD = "PADDOCK_FORWARD_EXCEPTION"


def join() -> None:
    owner, level = os.environ.get(RUN_OWNER), os.environ.get(JOIN, "")
    if not os.environ.get(RUN_ID) or not owner or owner == f"{socket.gethostname()}:{os.getpid()}":
        return
    from paddock.track.lines import forward, logged

    logged.install(int(level) if level.isdigit() else logging.INFO)
    if os.environ.get(FORWARD, "true").strip().lower() not in ("0", "false", "no", "off"):
        forward.install()


join()
