"""What a watch was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paddock.evaluate.completeness.rule import BY_FORMAT, Rule
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.policy.rules import PLAIN, Rules


@dataclass(frozen=True)
class Options:
    pattern: re.Pattern[str]
    evaluators: tuple[Evaluator, ...]
    existing: bool = False  # evaluate what was there before the watch began
    recursive: bool = True
    quiet: float | None = None  # seconds, instead of what each format needs
    complete: Rule = BY_FORMAT  # the user's own, instead of what the format shows
    step_rule: re.Pattern[str] | None = None
    download: bool = True  # what lies in an object store
    timeout: float = 0.0
    retries: int = 0
    gpus: int = 0
    isolate: bool = False  # start a fresh process for each evaluation, none ahead
    rules: Rules = PLAIN
