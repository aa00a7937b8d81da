"""What a Job is told besides its task: from paddock.toml, the engine's URL and the task, each over the one before.

    k8s://context/namespace?image=registry/train:1&home=shared-home:/home/paddock&select=disk=ssd

Several of a kind are separated by commas. Every wrong word is a sentence; nothing has been sent yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, NamedTuple

from paddock.amounts import parse_seconds
from paddock.errors import UsageError
from paddock.work.kubernetes.names import is_key, is_label, is_name

WEEK_SECONDS = 604_800
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_PULLS = ("Always", "IfNotPresent", "Never")


class Mount(NamedTuple):
    """A claim by its name, or room of a size."""

    source: str  # a claim; a size, "" for any
    path: str
    read_only: bool = False
    storage_class: str = ""


class Toleration(NamedTuple):
    key: str
    value: str | None = None
    effect: str = ""


class Secret(NamedTuple):
    variable: str  # "" takes all of them, under their own names
    name: str
    key: str = ""


@dataclass(frozen=True)
class Options:
    image: str = ""
    pull: str = ""  # Always, IfNotPresent, Never
    pull_secret: str = ""
    program: str = "paddock"  # in the image
    home: Mount | None = None  # a claim that holds the home; without one the task itself is handed over
    server: str = ""  # PADDOCK_SERVER
    token: Secret | None = None  # PADDOCK_TOKEN
    code_store: str = ""
    accelerator: str = "nvidia.com/gpu"
    select: tuple[tuple[str, str], ...] = ()
    tolerate: tuple[Toleration, ...] = ()
    volumes: tuple[Mount, ...] = ()  # claims
    scratch: tuple[Mount, ...] = ()  # room on the node, empty at the beginning
    claim: tuple[Mount, ...] = ()  # claims that live as long as the pod
    secrets: tuple[Secret, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    kueue: str = ""  # a LocalQueue
    account: str = ""
    priority_class: str = ""
    user: tuple[int, ...] = ()  # uid, or uid and gid
    host_network: bool = False
    time: int = 0  # seconds that a Job may take; 0 is no limit
    ttl: int = WEEK_SECONDS  # seconds that an ended Job is kept
    context: str = ""
    namespace: str = ""


def merge(*layers: Mapping[str, Any]) -> Options:
    """The later one wins, word by word."""
    said: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            key = key.replace("-", "_")
            if key not in _READ:
                near = get_close_matches(key, _READ, 1)
                raise UsageError(
                    f"Kubernetes is told {key!r}, which it does not know.",
                    hint=(f"Did you mean {near[0]!r}? " if near else "") + f"Known are: {', '.join(sorted(_READ))}.",
                )
            said[key] = value
    return Options(**{key: _READ[key](key, value) for key, value in said.items()})


def _wrong(key: str, value: Any, wanted: str) -> UsageError:
    return UsageError(f"{key}={value!r} cannot be told to Kubernetes.", hint=f"It takes {wanted}.")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or any(not sign.isprintable() for sign in value):
        raise _wrong(key, value, "a text of one line")
    return value.strip()


def _name(key: str, value: Any) -> str:
    text = _text(key, value)
    if text and not is_name(text):
        raise _wrong(key, value, "a name of small letters, digits, '-' and '.'")
    return text


def _image(key: str, value: Any) -> str:
    text = _text(key, value)
    if not text or re.search(r"\s", text):
        raise _wrong(key, value, "the name of an image, such as registry/train:1")
    return text


def _pull(key: str, value: Any) -> str:
    known = {one.lower(): one for one in _PULLS}
    if _text(key, value).lower() not in known:
        raise _wrong(key, value, " or ".join(_PULLS))
    return known[_text(key, value).lower()]


def _resource(key: str, value: Any) -> str:
    if not is_key(_text(key, value)):
        raise _wrong(key, value, "the name of a resource, such as nvidia.com/gpu or amd.com/gpu")
    return _text(key, value)


def _seconds(key: str, value: Any) -> int:
    if isinstance(value, bool):
        raise _wrong(key, value, "a time such as 4h")
    return int(parse_seconds(value))


def _flag(key: str, value: Any) -> bool:
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if str(value).lower() not in known:
        raise _wrong(key, value, "true or false")
    return known[str(value).lower()]


def _parts(key: str, value: Any) -> list[str]:
    """a,b,c or a list of them."""
    if isinstance(value, (list, tuple)):
        return [_text(key, one) for one in value]
    return [part for one in _text(key, value).split(",") if (part := one.strip())]


def _pairs(key: str, value: Any) -> list[tuple[str, str]]:
    """a=1,b=2 or a table."""
    if isinstance(value, Mapping):
        return [(str(name), _text(key, str(one))) for name, one in value.items()]
    found = [part.partition("=") for part in _parts(key, value)]
    if any(not equals for _, equals, _ in found):
        raise _wrong(key, value, "KEY=VALUE, several with commas between them")
    return [(name.strip(), text.strip()) for name, _, text in found]


def _select(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    found = _pairs(key, value)
    if not all(is_key(name) and is_label(text) for name, text in found):
        raise _wrong(key, value, "labels of nodes, such as disk=ssd,zone=a")
    return tuple(found)


def _tolerate(key: str, value: Any) -> tuple[Toleration, ...]:
    found = []
    for part in _parts(key, value):
        words, _, effect = part.partition(":")
        name, equals, text = words.partition("=")
        if not is_key(name) or not is_label(text) or effect not in ("", *_EFFECTS):
            raise _wrong(key, value, f"KEY, KEY=VALUE or KEY=VALUE:EFFECT; effects are {', '.join(_EFFECTS)}")
        found.append(Toleration(name, text if equals else None, effect))
    return tuple(found)


def _path(key: str, path: str, value: Any) -> str:
    if not path.startswith("/") or ":" in path or path == "/":
        raise _wrong(key, value, "a directory in the pod that begins with a slash")
    return path.rstrip("/")


def _claim_at(key: str, part: str, value: Any) -> Mount:
    name, _, rest = part.partition(":")
    path, _, mode = rest.partition(":")
    if not is_name(name) or not path or mode not in ("", "ro", "rw"):
        raise _wrong(key, value, "CLAIM:/PATH or CLAIM:/PATH:ro, where CLAIM is a PersistentVolumeClaim")
    return Mount(name, _path(key, path, value), mode == "ro")


def _home(key: str, value: Any) -> Mount | None:
    return _claim_at(key, _text(key, value), value) if value else None


def _volumes(key: str, value: Any) -> tuple[Mount, ...]:
    return tuple(_claim_at(key, part, value) for part in _parts(key, value))


def _room(key: str, value: Any) -> tuple[Mount, ...]:
    """/path, /path:50Gi, /path:50Gi:storage-class."""
    found = []
    for part in _parts(key, value):
        path, _, rest = part.partition(":")
        size, _, storage = rest.partition(":")
        if ((size or key == "claim") and not _QUANTITY.fullmatch(size)) or (storage and not is_name(storage)):
            raise _wrong(key, value, "/PATH:50Gi" if key == "claim" else "/PATH or /PATH:50Gi")
        if storage and key == "scratch":
            raise _wrong(key, value, "/PATH or /PATH:50Gi; a storage class is claim's")
        found.append(Mount(size, _path(key, path, value), False, storage))
    return tuple(found)


def _reference(key: str, text: str, value: Any) -> Secret:
    name, slash, entry = text.partition("/")
    if not is_name(name) or (slash and not re.fullmatch(r"[A-Za-z0-9._-]+", entry)):
        raise _wrong(key, value, "NAME/KEY of a Secret")
    return Secret("", name, entry)


def _token(key: str, value: Any) -> Secret | None:
    found = _reference(key, _text(key, value), value)
    if not found.key:
        raise _wrong(key, value, "NAME/KEY of a Secret")
    return found._replace(variable="PADDOCK_TOKEN")


def _secrets(key: str, value: Any) -> tuple[Secret, ...]:
    """VARIABLE=secret/key, or the name of a Secret whose keys are variables."""
    parts = [f"{k}={v}" for k, v in value.items()] if isinstance(value, Mapping) else _parts(key, value)
    found = []
    for part in parts:
        variable, equals, where = part.partition("=")
        if not equals:
            found.append(_reference(key, part, value))
        elif not _VARIABLE.fullmatch(variable) or "/" not in where:
            raise _wrong(key, value, "VARIABLE=SECRET/KEY, or SECRET for all of its keys")
        else:
            found.append(_reference(key, where, value)._replace(variable=variable))
    if any(one.key and not one.variable for one in found):
        raise _wrong(key, value, "VARIABLE=SECRET/KEY, or SECRET for all of its keys")
    return tuple(found)


def _env(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    found = _pairs(key, value)
    if not all(_VARIABLE.fullmatch(name) for name, _ in found):
        raise _wrong(key, value, "NAME=VALUE, several with commas between them")
    return tuple(found)


def _user(key: str, value: Any) -> tuple[int, ...]:
    parts = str(value).split(":")
    if not (1 <= len(parts) <= 2 and all(part.isdigit() for part in parts)):
        raise _wrong(key, value, "a user's number, or user and group: 1000:1000")
    return tuple(map(int, parts))


_READ: dict[str, Callable[[str, Any], Any]] = {
    "image": _image,
    "pull": _pull,
    "pull_secret": _name,
    "program": _text,
    "home": _home,
    "server": _text,
    "token": _token,
    "code_store": _text,
    "accelerator": _resource,
    "select": _select,
    "tolerate": _tolerate,
    "volumes": _volumes,
    "scratch": _room,
    "claim": _room,
    "secrets": _secrets,
    "env": _env,
    "kueue": _name,
    "account": _name,
    "priority_class": _name,
    "user": _user,
    "host_network": _flag,
    "time": _seconds,
    "ttl": _seconds,
    "context": _text,
    "namespace": _name,
}
assert set(_READ) == {field.name for field in fields(Options)}
