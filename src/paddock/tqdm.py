"""`from paddock import tqdm`, and the other spellings: `from paddock.tqdm import tqdm, trange`, `paddock.tqdm.auto`."""

from __future__ import annotations

import sys

from paddock.track.progress.bar import as_module, tqdm, trange

__all__ = ["tqdm", "trange"]

sys.modules[__name__] = as_module()  # type: ignore[assignment]
