"""Running the server: sockets, uvicorn in this process, and an end that is clean."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from paddock.address import Address
from paddock.errors import UsageError
from paddock.monitor.entrance import login
from paddock.monitor.entrance.guard import Rules
from paddock.monitor.house import House
from paddock.monitor.server.app import MODULES, make_app
from paddock.monitor.server.connection import Connection
from paddock.monitor.server.listening import Listener, answering, listen, names
from paddock.record.process import is_nohup

GRACE_SECONDS = 3  # for answers that are under way when the server ends
KEEP_ALIVE_SECONDS = 30
_FILES = 65536  # descriptors, where the system allows so many: each viewer has one


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    addresses: Sequence[Address]
    advertise: Sequence[str] = ()
    certificate: Path | None = None
    key: Path | None = None
    modules: Sequence[str] = MODULES
    seconds: float = 0.0  # after which it ends by itself; 0 is never


class Serving:
    """A server that listens. `run` serves until it is told to stop, by a signal or by `stop`."""

    def __init__(self, house: House, plan: Plan) -> None:
        self.house, self.plan = house, plan
        self.listeners: list[Listener] = []
        try:
            for address in plan.addresses:
                self.listeners += listen(address)
            self._server = _Server(self._config(), house.hang_up)
        except BaseException:
            self.close()
            raise
        self.urls = answering(self.listeners, plan.advertise, plan.certificate is not None)

    def _config(self) -> uvicorn.Config:
        house, plan = self.house, self.plan
        rules = Rules(
            token=house.token,
            names=names(self.listeners, plan.advertise),
            open_reads=all(listener.loopback for listener in self.listeners),
            cookie=login.cookie_name(house.token),
            valid_cookie=lambda value: login.valid_cookie(house.token, value),
        )
        config = uvicorn.Config(
            make_app(house, rules, plan.modules),
            http=Connection,
            ws="none",
            lifespan="on",
            loop="asyncio",
            log_config=None,
            log_level="error",  # what strangers send must not fill the log
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=plan.certificate,
            ssl_keyfile=plan.key,
        )
        try:
            config.load()
        except OSError as error:  # ssl's errors are of this kind, too
            raise UsageError(
                f"The certificate cannot be used ({error.strerror or error}).",
                hint="--tls-cert and --tls-key name PEM files that belong to each other.",
            ) from None
        return config

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve. `ready` is called when requests are answered."""
        _more_files()
        try:
            asyncio.run(self._run(ready))
        finally:
            self.close()

    async def _run(self, ready: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: then there is `stop`
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if not is_nohup(number):
                    loop.add_signal_handler(number, self.stop)
        serving = asyncio.ensure_future(self._server.serve([listener.socket for listener in self.listeners]))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.005)
        if not serving.done():
            ready()
            if self.plan.seconds:
                loop.call_later(self.plan.seconds, self.stop)
        await serving

    def stop(self) -> None:
        """From any thread; a second time without waiting for anybody."""
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True

    def close(self) -> None:
        """Give the sockets back; a socket's file goes with its server."""
        for listener in self.listeners:
            listener.socket.close()
            if listener.address.path:
                with contextlib.suppress(OSError):
                    Path(listener.address.path).unlink()
        self.listeners = []


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, hang_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._hang_up = hang_up

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals are ours: uvicorn would send them to the process once more when it has ended."""
        yield

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        self._hang_up()  # those who listen to the stream of events would be waited for
        await super().shutdown(sockets)  # type: ignore[arg-type]


def _more_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
