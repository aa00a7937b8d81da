"""Which step of the training a checkpoint is of: from its name, or from a rule of the user's. Pure."""

from __future__ import annotations

import re

from paddock.errors import UsageError

# By how surely they mean a step. In a name the last one that fits counts.
_COUNT = r"0*(\d+(?:(?:\.\d+)?[kmb](?![a-z\d]))?)"  # step_10k, tokens_1.5B
_SIZE = r"(?!\d|(?:\.\d+)?[%s](?![a-z\d])|-of-\d)"  # of a model, and of how many shards it is one: no step
_SURE = (
    re.compile(rf"(?:steps?|iteration|iter|itr|updates?|batch)[-_=. ]?{_COUNT}", re.I),
    re.compile(rf"(?:samples|tokens)[-_=. ]?{_COUNT}", re.I),  # step1000-tokens4B is of step 1000
    re.compile(rf"(?:checkpoint|ckpt|chkpt|snapshot)[-_=. ]0*(\d+(?:(?:\.\d+)?[km](?![a-z\d]))?){_SIZE % 'b'}", re.I),
    re.compile(rf"(?:model|weights)[-_=. ]0*(\d+(?:k(?![a-z\d]))?){_SIZE % 'bm'}", re.I),
    re.compile(r"(?:epoch|ep)[-_=. ]?0*(\d+)", re.I),
)
_LIKELY = (  # in the file's own name only: the 7 of run-7/last.pt is no step
    re.compile(r"^0*(\d+)(?:\.[a-z]\w*)?$", re.I),
    re.compile(r"(?<!-of)[-_=.]0*(\d+)(?:\.[a-z]\w*)?$", re.I),
)
MOST = 2**63 - 1
_TIMES = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000}


def step_of(path: str, rule: re.Pattern[str] | None = None) -> int | None:
    """None when nothing in the name says it."""
    if rule is not None:
        match = rule.search(path)
        text = next((group for group in match.groups() if group), "") if match else ""
        return _number(text)
    parts = [part for part in path.split("/") if part][-2:]
    for part, patterns in zip(reversed(parts), (_SURE + _LIKELY, _SURE), strict=False):
        for pattern in patterns:
            found = pattern.findall(part)
            if found and (step := _number(found[-1])) is not None:
                return step
    return None


def compile_rule(text: str) -> re.Pattern[str]:
    try:
        rule = re.compile(text)
    except re.error as error:
        raise UsageError(f"The step rule {text!r} cannot be read: {error}.", hint=r"Such as 'step_(\d+)'.") from None
    if rule.groups < 1:
        raise UsageError(f"The step rule {text!r} has no group.", hint=r"Put the number in brackets: 'step_(\d+)'.")
    return rule


def _number(text: str) -> int | None:
    times = _TIMES.get(text[-1:].lower(), 1)
    whole, _, part = (text if times == 1 else text[:-1]).partition(".")
    if not (whole + part).isdigit() or times % 10 ** len(part):
        return None
    step = int(whole + part) * times // 10 ** len(part)
    return step if step <= MOST else None
