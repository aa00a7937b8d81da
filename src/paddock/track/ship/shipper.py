"""The thread that sends a run to a server while it is written. It reads what is on the disk and keeps nothing: a server
that is away costs nothing but the sending, which goes on where it was.

Of the processes on one machine that write a run one sends for all, the one that holds the lock beside it. When that one
ends, another takes over.
"""

from __future__ import annotations

import fcntl
import os
import random
import threading
import time
from typing import TYPE_CHECKING

from paddock.address import Address
from paddock.errors import PaddockError, Refused
from paddock.record.layout import Home, RunDirectory
from paddock.track import notice
from paddock.track.ship.step import Step

if TYPE_CHECKING:
    from paddock.track.ship.carrier import Carrier

LOOK_SECONDS = 0.2  # between two looks, and two parcels
_TURN_SECONDS = 2.0  # between two looks whether the one that sends is still there
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds, while the server is away
_DENIED_PAUSE = 60.0  # seconds after it said no: the token may be mended
_LAST_TRIES, _LAST_PAUSE = 3, 0.25  # at the end, before those who wait are told that the server is away
_COST = 20  # a look that costs much is taken less often: a twentieth of a processor at most
_HURRY = 1 << 20  # bytes that are left when there is no pause between two parcels
LOCK = ".ship.lock"


class Shipper:
    def __init__(
        self,
        home: Home,
        directory: RunDirectory,
        address: Address,
        token: str,
        ca: str = "",
        *,
        quiet: float | None = None,
        patient: bool = False,
    ) -> None:
        """`quiet` as a Carrier takes it. `patient`: the server may still be starting when we are at our end."""
        self._home, self._directory, self._address = home, directory, address
        self._token, self._ca, self._quiet, self._patient = token, ca, quiet, patient
        self._pid = os.getpid()
        self._lock = -1
        self._over = threading.Event()  # the run has ended: send the rest
        self._told = threading.Event()  # whoever waits for the end need not wait any more
        self._arrived = False  # the server has everything, or somebody else sends it
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="paddock-shipper", daemon=True)
        self._thread.start()

    def finish(self, seconds: float) -> None:
        """Send the rest, but do not wait longer than this; say what is left."""
        if os.getpid() != self._pid or self._thread is threading.current_thread():
            return
        self._over.set()
        self._told.wait(seconds)
        if self._arrived:
            return
        self._told.set()
        run = self._directory.id
        notice.say(f"not all of {run} has reached the server; `paddock sync {run}` sends the rest")

    def _run(self) -> None:
        try:
            while not self._take_turn():
                if self._over.is_set():
                    break  # the one that sends goes on with what we wrote
                self._over.wait(_TURN_SECONDS)
            else:
                self._send()
        except Exception as error:  # a training must not hear of this but by a sentence
            self._trouble = f"{type(error).__name__}: {error}"
            notice.say_once("shipper", f"the run is not sent any more ({self._trouble})")
        else:
            self._arrived = True
        finally:
            self._told.set()
            if self._lock >= 0:
                os.close(self._lock)

    def _take_turn(self) -> bool:
        """Whether this process is the one that sends. A POSIX lock is not inherited by a fork, and dies with us."""
        try:
            if self._lock < 0:
                path = self._directory.path / LOCK
                self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # no locks here, or a full disk: sending twice does no harm
            return True
        return True

    def _send(self) -> None:
        from paddock.track.ship.carrier import Carrier
        from paddock.track.ship.connection import Connection

        connection = Connection(self._address, self._token, ca=self._ca)
        carrier = Carrier(self._home, connection, notice.say_once, quiet=self._quiet)
        carrier.add(self._directory.id)
        try:
            while not self._over.is_set():
                step = self._step(carrier, final=False)
                if carrier.same_home or carrier.refused:
                    return
                if not (step.busy and step.left > _HURRY):
                    self._over.wait(max(LOOK_SECONDS, step.wait, _COST * carrier.look_seconds))
            step = self._step(carrier, final=True)
            while step.busy and not carrier.refused:
                # What others write from now on is theirs to send: they take their turn when we are gone.
                step = self._step(carrier, final=True, look=False)
        finally:
            connection.close()

    def _step(self, carrier: Carrier, *, final: bool, look: bool = True) -> Step:
        """One round, which is tried until the server takes it; a round that is not the last ends with the run."""
        pause, tries = _FIRST_PAUSE, 0
        while True:
            hint = ""
            try:
                step = carrier.step(final=final, look=look)
                if not step.trouble:
                    self._trouble = ""
                    return step
                self._trouble = f"The server at {self._address.url} cannot take the run now: {step.trouble}."
            except PaddockError as error:
                self._trouble, hint = error.message, error.hint if isinstance(error, Refused) else ""
                pause = _DENIED_PAUSE if isinstance(error, Refused) else pause
            notice.say_once(
                f"server {self._trouble}",
                f"{self._trouble} {hint} The run is kept in {self._directory.path}, and sent later.".replace("  ", " "),
            )
            tries += 1
            if final and tries >= _LAST_TRIES and not self._patient:
                self._told.set()  # nobody waits for a server that is away; should the process live on, so do we
            if not final:
                self._over.wait(pause * random.uniform(0.5, 1.0))
                if self._over.is_set():
                    return Step()
            else:
                time.sleep(pause * random.uniform(0.5, 1.0) if self._told.is_set() else _LAST_PAUSE)
            pause = min(pause * 2, max(pause, _LONGEST_PAUSE))
