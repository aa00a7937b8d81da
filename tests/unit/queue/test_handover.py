"""A task that was handed over arrives, whatever the two said to each other at that moment."""

from __future__ import annotations

import os
import socket

import pytest

from paddock.queue import handover
from paddock.queue.handover import READY, Handover

TASK = Handover("task~worker.1", "true", "/", {"A": "b"})


@pytest.mark.parametrize("said", [b"", READY])
def test_a_task_arrives_although_its_worker_has_closed_and_not_heard_that_we_are_ready(said: bytes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        with ours:
            if said:
                theirs.send(said)
            assert handover.send(ours, TASK, 2)
        found = handover.receive(theirs)
        assert found is not None and found[0] == TASK
        os.close(found[1])
        assert handover.receive(theirs) is None
