"""A directory that is a checkpoint itself is not watched: what lies in it are the parts of one."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from paddock.errors import UsageError
from paddock.evaluate.formats.choice import formats_of
from paddock.evaluate.origin.look import look

_NAME = re.compile(r"checkpoint-\d+|iter_\d+|global_step\d+")
_STAR = re.compile(r"\*+|\?|\[[^]]*\]")


def check(text: str, fitting: Sequence[str]) -> None:
    """`text` is a path or a pattern as it was written, `fitting` what is there of it. Somebody's own directory may be
    called so, too: then its content tells."""
    place, name = os.path.split(text.rstrip("/"))
    found = [path for path in fitting if _NAME.fullmatch(os.path.basename(path.rstrip("/")))]
    if any(map(_is_one, found)):
        are = f"{text} is a checkpoint itself." if text in fitting else f"What fits {text} are checkpoints themselves."
    elif not fitting and name != _STAR.sub("0", name) and _NAME.fullmatch(_STAR.sub("0", name)):
        are = f"What will fit {text} are checkpoints themselves."
    else:
        return
    hint = f"Watch the directory that holds them: paddock watch {shlex.quote(place or '.')}."
    raise UsageError(are, hint=hint)


def _is_one(path: str) -> bool:
    here = look(path)
    return here is not None and bool(formats_of(here))
