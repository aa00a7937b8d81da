"""What people and programs put beside weights when they are done, or have looked at them: no part of the content. An
evaluator that writes its report into the checkpoint's directory has not made a new checkpoint."""

from __future__ import annotations

import re

_REMARK = re.compile(
    r"(.*/)?(_?success|done|complete|committed|\.[^/]*(?<!\.metadata)"
    r"|[^/]*\.(json|jsonl|txt|md|log|csv|tsv|ya?ml|html|png|pdf|svg|lock|done|success|complete))",
    re.I,
)


def is_remark(name: str) -> bool:
    return _REMARK.fullmatch(name) is not None
