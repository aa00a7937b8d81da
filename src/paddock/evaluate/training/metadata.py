"""The step that a checkpoint says itself that it is of: in a trainer's state, in the metadata of safetensors, or among
the first things of a pickle, whose codes are read as codes: nothing is ever unpickled."""

from __future__ import annotations

import pickletools
import re
from collections.abc import Mapping
from typing import Any

from paddock import wire
from paddock.evaluate.completeness import marker
from paddock.evaluate.formats import archive
from paddock.evaluate.formats.huggingface import STATE
from paddock.evaluate.origin.look import Look
from paddock.evaluate.training.steps import step_of

KEYS = ("global_step", "step", "iteration", "num_updates", "completed_steps", "epoch")  # by how surely they mean it
_STATE = re.compile(r"(.*_)?(state|metadata|meta|progress|training_args)\.json")
_FRONT = 256 << 10  # bytes of a pickle: what counts steps comes before the weights, or is not looked for
_MOST_HEADER = 1 << 20
_TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "UNICODE")
_MEMOS = ("BINPUT", "LONG_BINPUT", "MEMOIZE", "PUT")
_NUMBERS = ("BININT", "BININT1", "BININT2", "LONG1", "INT")


def step_for(look: Look, rule: re.Pattern[str] | None = None) -> int | None:
    """As `checkpoint_done` says, or by the user's rule; else what a trainer's state says, what the name says, what is
    inside, in this order."""
    if (said := marker.read(look)) is not None and said.step is not None:
        return said.step
    if rule is None and STATE in look.files and (step := _of_json(look, STATE)) is not None:
        return step
    step = step_of(look.path, rule)
    return step if step is not None or rule is not None else step_inside(look)


def step_inside(look: Look) -> int | None:
    if look.is_directory:
        names = sorted((name for name in look.files if _STATE.fullmatch(name)), key=lambda name: name.count("/"))
        found = [_of_json(look, name) for name in names]
        return next((step for step in found if step is not None), None)
    if look.name.endswith(".safetensors"):
        return _of_safetensors(look)
    return _of_pickle(_pickle(look)) if archive.is_archive(look, "") else None


def _of_json(look: Look, name: str) -> int | None:
    try:
        return _choose(wire.decode(look.read(name, 0, 64 << 20)))
    except (wire.DecodeError, UnicodeDecodeError):
        return None


def _of_safetensors(look: Look) -> int | None:
    length = int.from_bytes(look.read("", 0, 8), "little")
    try:
        return _choose(wire.decode(look.read("", 8, min(length, _MOST_HEADER))).get("__metadata__"))
    except (wire.DecodeError, UnicodeDecodeError, AttributeError):
        return None


def _pickle(look: Look) -> bytes:
    """The beginning of data.pkl, which torch.save puts first into its archive, uncompressed."""
    head = look.read("", 0, _FRONT)
    if len(head) < 30 or int.from_bytes(head[8:10], "little"):
        return b""
    names, extra = (int.from_bytes(head[at : at + 2], "little") for at in (26, 28))
    return head[30 + names + extra :] if head[30 : 30 + names].endswith(b"data.pkl") else b""


def _of_pickle(data: bytes) -> int | None:
    """A key and then a number: as a dict is written."""
    found: dict[str, int] = {}
    key = ""
    try:
        for code, argument, _ in pickletools.genops(data):
            if code.name in _TEXTS:
                key = str(argument)
            elif code.name in _NUMBERS and key in KEYS and isinstance(argument, int):
                found.setdefault(key, argument)
            if code.name not in _MEMOS and code.name not in _TEXTS:
                key = ""
            if KEYS[0] in found:
                break
    except Exception:  # it is cut off, or no pickle: whatever a parser of foreign bytes raises
        pass
    return _choose(found)


def _choose(values: Any) -> int | None:
    for key in KEYS if isinstance(values, Mapping) else ():
        value = values.get(key)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
            return value
    return None
