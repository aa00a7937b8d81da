"""A connection to Redis; what goes wrong with it is a sentence."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from paddock import settings
from paddock.errors import MissingExtra, PaddockError, Refused, Unreachable, UsageError
from paddock.queue.redis.address import Address

TIMEOUT_SECONDS = 5.0
_RUNNING = "Is it running, and is this its address? One that speaks TLS is rediss://."
_IN_PIPELINE = re.compile(r"^Command # \d+ \(.*?\) of pipeline caused error: ", re.S)  # which is ours, not the user's


def connect(address: Address, patience: float = TIMEOUT_SECONDS) -> Any:
    """Nothing is said to the server yet. `patience`: seconds to wait for an answer."""
    redis = _library(address)
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    _require_files(address)
    password = address.password or settings.load().redis_password
    try:
        made = redis.Redis.from_url(
            address.server,
            **({"password": password} if password else {}),
            socket_timeout=patience,
            socket_connect_timeout=patience,
            client_name="paddock",
            # A connection that the server closed while nobody used it is made anew. What timed out is not said again:
            # it may have been heard.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.exceptions.ConnectionError,)),
        )
        made.connection_pool.make_connection()  # it says nothing to the server, but knows what a URL may say
    except (ValueError, TypeError) as error:
        why = f"{error}".rstrip(".").replace("AbstractConnection.__init__()", "the connection")
        raise UsageError(f"{address.shown} cannot be used: {why}.", hint="See to what follows the `?`.") from None
    return made


def _require_files(address: Address) -> None:
    """Certificates and keys; the library would say of a missing one that there is no Redis."""
    for key, value in parse_qsl(urlsplit(address.server).query):
        if key in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile") and not os.access(value, os.R_OK):
            raise UsageError(f"{value}, the {key} of {address.shown}, cannot be read.", hint="Is that its path?")


def _library(address: Address) -> Any:
    try:
        import redis
    except ImportError:
        raise MissingExtra(address.shown, "redis") from None
    return redis


def changes(connection: Any) -> Any:
    """The script that makes every change."""
    here = Path(__file__).parent
    return connection.register_script("".join((here / name).read_text() for name in ("line.lua", "queue.lua")))


@contextlib.contextmanager
def sentences(address: Address) -> Iterator[None]:
    """Whatever Redis or the network says becomes an error of ours."""
    redis = _library(address)
    try:
        yield
    except (redis.exceptions.RedisError, OSError) as error:
        raise _sentence(error, address.server, redis.exceptions) from None


def _sentence(error: Exception, where: str, kinds: Any) -> PaddockError:
    said = _IN_PIPELINE.sub("", str(error)).rstrip(".")
    if isinstance(error, kinds.AuthenticationError) or any(word in said for word in ("NOAUTH", "WRONGPASS", "AUTH ")):
        why = "it wants a password" if "HELLO" in said else said
        return Refused(
            f"{where} does not let us in ({why}).", hint="Set PADDOCK_REDIS_PASSWORD, and the user in the URL."
        )
    if "CERTIFICATE" in said:
        hint = "Who signed it is named by the URL: rediss://...?ssl_ca_certs=FILE."
        if "mismatch" in said:
            hint = "Name the server in the URL as its certificate does."
        return Unreachable(f"The certificate of {where} is not one that we trust ({said}).", hint=hint)
    if isinstance(error, (kinds.ConnectionError, kinds.TimeoutError, OSError)):
        tls = "does it speak TLS there (redis:// is without)?"
        hint = f"Is it running, is this its address, and {tls}" if where.startswith("rediss:") else _RUNNING
        return Unreachable(f"There is no Redis at {where} ({said}).", hint=hint)
    if isinstance(error, kinds.NoPermissionError):
        return Refused(f"{where} does not allow that ({said}).", hint="See to the rights of its user.")
    if isinstance(error, kinds.ReadOnlyError):
        return Refused(f"{where} is a replica, and takes no changes.", hint="Name the primary.")
    if isinstance(error, kinds.OutOfMemoryError):
        return Refused(
            f"{where} has no memory left, and takes nothing new ({said}).",
            hint="`paddock clean` removes what is over; or see to its `maxmemory`.",
        )
    if "DB index" in said:
        return Refused(f"{where} has no such database ({said}).", hint="Most have 0 to 15: redis://HOST:6379/0.")
    if isinstance(error, kinds.ResponseError):
        return Refused(f"{where} refuses: {said}.", hint="Its own log may say more.")
    return Unreachable(f"{where} cannot be used ({said}).", hint="Is a Redis there?")
