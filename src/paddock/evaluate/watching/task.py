"""The task that evaluates a checkpoint."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

from paddock import wire
from paddock.evaluate import call
from paddock.evaluate.evaluators import evaluator
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.watching.options import Options


def task_for(finding: Finding, ledger: Ledger, options: Options) -> dict[str, Any]:
    """As submit_all() takes it."""
    command = [sys.executable, "-m", call.MODULE, str(ledger.path), finding.key]
    ahead = "" if options.isolate else evaluator.warm(Evaluator(finding.evaluator, finding.call))
    return {
        "cmd": shlex.join(command),
        "warm": ahead,
        "id": finding.task,
        "name": wire.text(f"{finding.evaluator} {os.path.basename(finding.path)}"),
        "parent": finding.run,
        "config": {"checkpoint": wire.text(finding.path), "step": finding.step, "evaluator": finding.evaluator},
        "facts": {"job_type": "eval", "here": [str(ledger.path)]},  # a worker that has no such disk leaves it to others
        "gpus": options.gpus,
        "timeout": options.timeout,
        "retries": options.retries,
        "snapshot": False,
    }
