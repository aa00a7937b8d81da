"""What we ask of a cluster: lists, new objects, ends, logs and news. What the server refuses becomes a sentence of
ours, with what to do.

The configuration is kubectl's, so every way to log in works; see access.py for which of them need kubectl itself.
"""

from __future__ import annotations

import http.client
import os
import ssl
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from paddock import wire
from paddock.errors import NotFound, PaddockError, Refused, Unreachable, UsageError
from paddock.work.kubernetes import access, connection, kubectl
from paddock.work.kubernetes.connection import REQUEST_SECONDS, Answer, Connection
from paddock.work.kubernetes.spec import Spec, Version

MOST_AT_ONCE = 8  # requests
GONE_SECONDS = 0.1  # between two looks whether what was deleted is gone, at first
_GROUPS = {"Job": "/apis/batch/v1", "Pod": "/api/v1", "ConfigMap": "/api/v1", "Event": "/api/v1"}
_BROKEN = (OSError, http.client.HTTPException)

Item = TypeVar("Item")
Result = TypeVar("Result")


class Client:
    def __init__(self, context: str = "", namespace: str = "") -> None:
        self._context, self._namespace = context, namespace
        self._chosen = "", ""  # the context and the server that the configuration names

    @property
    def where(self) -> str:
        return f"k8s://{self._context}" + (f"/{self._namespace}" if self._namespace else "")

    @cached_property
    def version(self) -> Version:
        """The server's."""
        found = self._ask("GET", "/version").body
        digits = ["".join(sign for sign in str(found.get(part, "")) if sign.isdigit()) for part in ("major", "minor")]
        return int(digits[0] or 0), int(digits[1] or 0)

    def find(self, kind: str, selector: str = "") -> list[dict[str, Any]]:
        """All objects of a kind that have these labels, in one request, however many they are."""
        return self.listed(kind, selector)[0]

    def listed(self, kind: str, selector: str = "") -> tuple[list[dict[str, Any]], str]:
        """And the version of the list, from which on one can watch."""
        found = self._ask("GET", self._path(kind, labelSelector=selector)).body
        items = found.get("items") or []
        for one in items:
            one.setdefault("kind", kind)  # a list says it once for all
        return items, str(found.get("metadata", {}).get("resourceVersion", ""))

    def create(self, spec: Spec, *, dry_run: bool = False) -> str:
        """Its uid. Unknown fields are an error, where the server knows that (1.25)."""
        tested = {"dryRun": "All"} if dry_run else {}
        answer = self._try("POST", self._path(spec["kind"], fieldValidation="Strict", **tested), spec)
        if answer.reason == "AlreadyExists" and (uid := self._is_mine(spec)):
            return uid
        return str(self._good(answer).body["metadata"]["uid"])

    def _is_mine(self, spec: Spec) -> str:
        """The uid of what has its name, if we made that ourselves with a request whose answer got lost."""
        found = self._try("GET", self._path(spec["kind"], spec["metadata"]["name"])).body.get("metadata", {})
        wanted = spec["metadata"]
        same = all(
            (found.get(key) or {}).items() >= (wanted.get(key) or {}).items() for key in ("labels", "annotations")
        )
        return str(found.get("uid", "")) if same else ""

    def delete(self, kind: str, names: Sequence[str], *, wait: float = 0.0) -> None:
        """With what belongs to them. With `wait`, until they and all that is gone, or so many seconds have passed."""
        policy = "Foreground" if wait else "Background"
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}

        def end(name: str) -> tuple[str, str]:
            answer = self._try("DELETE", self._path(kind, name), body)
            if answer.status == http.client.NOT_FOUND and "namespaces" not in answer.said:
                return name, ""
            found = self._good(answer).body
            return name, str((found.get("details") or found.get("metadata") or {}).get("uid", ""))

        left = {name: uid for name, uid in self.each(end, names) if uid}
        over, pause = time.monotonic() + wait, GONE_SECONDS
        while left and time.monotonic() < over:
            time.sleep(pause)
            pause = min(pause * 1.5, 1.0)
            found = self.each(lambda name: (name, self._uid(kind, name)), tuple(left))
            left = {name: left[name] for name, uid in found if uid == left[name]}

    def _uid(self, kind: str, name: str) -> str:
        answer = self._try("GET", self._path(kind, name))
        return "" if answer.status == http.client.NOT_FOUND else str(self._good(answer).body["metadata"]["uid"])

    def each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """For all of them, several at a time: a server answers hundreds of requests a second, if it is asked."""
        if len(items) < 2:
            return [function(item) for item in items]
        _ = self._connection  # once
        with ThreadPoolExecutor(min(MOST_AT_ONCE, len(items))) as pool:
            return list(pool.map(function, items))

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """None when there is none."""
        answer = self._try("GET", self._path(kind, quote(name)))
        if answer.status == http.client.NOT_FOUND:
            return None
        found: dict[str, Any] = self._good(answer).body
        return found

    def require_namespace(self) -> None:
        """NotFound when it is not there: a list of what is in such a one is empty, as any other. Who may not ask for it
        is not told."""
        _ = self._connection  # which knows it
        answer = self._try("GET", f"/api/v1/namespaces/{quote(self._namespace)}")
        if answer.status == http.client.NOT_FOUND:
            raise self._refusal(answer)

    def logs(
        self,
        pod: str,
        *,
        follow: bool = False,
        tail: int | None = None,
        since: str = "",
        timed: bool = False,
        seconds: float | None = None,
        opened: Callable[[], Any] = lambda: None,
    ) -> Iterator[bytes]:
        """What the pod printed, as it comes; `timed` with the time before each line. Unreachable after so many seconds
        without a word. `opened` is called when the server has begun to answer."""
        some = {"follow": "true" if follow else "", "timestamps": "true" if timed else "", "sinceTime": since}
        path = self._path("Pod", f"{quote(pod)}/log", **some, tailLines="" if tail is None else str(tail))
        wait = seconds if follow else REQUEST_SECONDS
        with self._explained(), self._connection.stream(path, wait) as (status, pieces):
            if status >= 300:
                raise self._refusal(connection.answer(status, b"".join(pieces)))
            opened()
            yield from pieces

    def watch(
        self, kind: str, selector: str, version: str, seconds: float
    ) -> Generator[tuple[str, dict[str, Any]], None, None]:
        """(ADDED, MODIFIED, DELETED; the object) since that version of the list, for so long at most. It ends sooner
        when the server wants that: then one has to look again."""
        about = {"watch": "1", "resourceVersion": version, "timeoutSeconds": str(max(1, int(seconds)))}
        path = self._path(kind, labelSelector=selector, **about)
        with self._explained(), self._connection.stream(path, seconds + REQUEST_SECONDS) as (status, pieces):
            if status >= 300:
                raise self._refusal(connection.answer(status, b"".join(pieces)))
            for line in _lines(pieces):
                event = wire.loads(line)
                if event["type"] == "ERROR":  # the version is too old
                    return
                yield event["type"], event["object"]

    def rest(self, kind: str, selector: str, version: str, seconds: float) -> None:
        """Until something has changed since that version of the list, for so long at most."""
        news = self.watch(kind, selector, version, seconds)
        for _ in news:
            break
        news.close()

    # The way there

    @property
    def whereabouts(self) -> tuple[str, str, str]:
        """Context, server and namespace, as the configuration says them; nobody is asked."""
        _ = self._connection
        return self._chosen[0], self._chosen[1], self._namespace

    @cached_property
    def _connection(self) -> Connection:
        pod = access.of_pod(os.environ) if not self._context else None
        if pod is not None:
            direct, usual = pod
        else:
            config = kubectl.config(self._context)
            self._chosen = access.chosen(config)
            found, usual = access.read(config, os.environ), access.namespace(config)
            if found is None:
                self._namespace = self._namespace or usual
                self._proxy = kubectl.Proxy(self._context)
                return Connection(self._proxy.socket)
            direct = found
        self._namespace = self._namespace or usual
        with self._explained():
            return Connection(direct)

    def _path(self, kind: str, name: str = "", **query: str) -> str:
        _ = self._connection  # which knows the namespace
        asked = urlencode({key: value for key, value in query.items() if value})
        plural = f"{kind.lower()}s" + (f"/{name}" if name else "")
        return f"{_GROUPS[kind]}/namespaces/{quote(self._namespace)}/{plural}" + (f"?{asked}" if asked else "")

    def _ask(self, method: str, path: str, body: Any = None) -> Answer:
        return self._good(self._try(method, path, body))

    def _try(self, method: str, path: str, body: Any = None) -> Answer:
        with self._explained():
            return self._connection.ask(method, path, body)

    def _good(self, answer: Answer) -> Answer:
        if not answer.good:
            raise self._refusal(answer)
        return answer

    # What went wrong

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise Refused(
                f"The cluster of {self.where} shows a certificate that is not trusted ({error.verify_message}).",
                hint="Nothing was sent. `kubectl config view` shows which authority is expected.",
            ) from None
        except TimeoutError:
            raise Unreachable(
                f"The cluster of {self.where} did not answer in {REQUEST_SECONDS:.0f} s.",
                hint="`kubectl cluster-info` says more. Is the VPN on?",
            ) from None
        except _BROKEN as error:
            why = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
            raise Unreachable(
                f"No cluster answers at {self.where}: {why[0].lower()}{why[1:]}.",
                hint="Tried as kubectl's configuration says: `kubectl cluster-info` says more. Is the context right, "
                "and the VPN on?",
            ) from None

    def _refusal(self, answer: Answer) -> PaddockError:
        said = answer.said
        if answer.status == http.client.UNAUTHORIZED:
            return Refused(f"The cluster of {self.where} does not know who you are: {said}.", hint="Log in to it anew.")
        if answer.status == http.client.FORBIDDEN and "quota" in said:
            return Refused(f"Kubernetes forbids it in {self.where}: {said}.", hint="Wait, or ask for a larger quota.")
        if answer.status == http.client.FORBIDDEN:
            return Refused(
                f"Kubernetes forbids it in {self.where}: {said}.",
                hint="Who runs the cluster can allow it: get, list, create and delete of jobs, pods and configmaps "
                "(`kubectl auth can-i create jobs` asks).",
            )
        if answer.status == http.client.NOT_FOUND and "namespaces" in said:
            return NotFound(
                f"The cluster has no namespace {self._namespace!r}.", hint="`kubectl get namespaces` lists them."
            )
        if answer.status == http.client.NOT_FOUND:
            return NotFound(f"Kubernetes has none: {said}.", hint="`paddock k8s status` lists what is ours.")
        if answer.status in (400, 415, 422):
            return UsageError(f"Kubernetes does not take it: {said}.", hint="--dry-run shows what is sent.")
        return Unreachable(f"Kubernetes said: {said}.", hint="`paddock k8s events` may say more.")


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line for line in whole if line)
