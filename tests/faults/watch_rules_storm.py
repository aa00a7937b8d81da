"""The same storm over a watch with rules: what gives way, what is deleted, and whom it tells, must be right as well.

python -m tests.faults.watch_rules_storm --checkpoints 150 --kills 30
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import DONE, SKIPPED, Result
from paddock.evaluate.origin.look import PINS
from paddock.evaluate.origin.pin import unpin
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.policy.rules import Rules
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.queue.lifecycle import QUEUED, Token, ended
from paddock.queue.order.withdrawal import withdrawn
from tests.faults.watch_storm import Storm, save
from tests.waiting import until

KEEP = 3


class RulesStorm(Storm):
    def watching(self) -> Watching:
        told = shlex.quote(str(self.directory / "told"))
        rules = Rules(
            newest_first=True,
            max_pending=2,
            metric="acc",
            goal="max",
            keep_best=KEEP,
            delete_others=True,
            on_best=f"echo {{step}} >> {told}",
        )
        acc = Evaluator("top", {"function": f"{self.directory}/metrics.py:acc"})
        options = Options(compile_pattern(DEFAULT_PATTERN), (acc,), quiet=0.05, rules=rules)
        return Watching(self.home, str(self.out), self.queue, options, lambda path: self.run, lambda text: None)

    def train(self, count: int, keep: int, rate: float) -> None:
        scores = list(range(count))
        random.Random(1).shuffle(scores)
        for number, score in enumerate(scores):
            save(self.out / f"step={number}.pt", str(score), in_place=False)
            time.sleep(1 / rate)

    def evaluate(self) -> None:
        """As a worker would, in some milliseconds."""
        ledger, me = Ledger.of(self.home, str(self.out)), Token(f"hand-{os.getpid()}", 1)
        while True:
            for place in sorted(self.queue.list([QUEUED]).places, key=lambda place: -place.priority):
                mine = self.queue.claim(place, me)
                finding = ledger.finding(place.id.removeprefix("eval-"))
                if mine is None or finding is None:
                    continue
                with zipfile.ZipFile(finding.pin) as file:
                    score = int(file.read("data"))
                with open(self.log, "a") as log:
                    log.write(f"{finding.step}\n")
                time.sleep(0.02)
                ledger.put_result(finding.key, Result(state=DONE, values={"acc": score}, ended=time.time()))
                unpin(finding.pin)
                self.queue.move(mine, ended(mine, "done"))
            time.sleep(0.005)

    def faults(self, count: int) -> list[str]:
        """What is not as it should be."""
        watching = self.watching()
        until(lambda: watching.attend() or watching.look() is None)
        watching.attend()
        watching.close()
        states, scores = self._states()
        runs = collections.Counter(int(line) for line in self.log.read_text().splitlines())
        done = {step for step, state in states.items() if state == DONE}
        best = sorted(scores, key=lambda step: -scores[step])
        stay = {*best[:KEEP], *(states.keys() - done), count - 1, self._found_last()}
        left = {int(path.stem.partition("=")[2]) for path in self.out.glob("step=*.pt")}
        told = [int(line) for line in (self.directory / "told").read_text().splitlines()]
        hidden = [name for name in os.listdir(self.out) if name.startswith(".") and name != PINS]
        pins = list((self.out / PINS).iterdir()) if (self.out / PINS).is_dir() else []
        claims = {
            "each is evaluated or passed over": set(states) == set(range(count)),
            "and nothing else": set(states.values()) <= {DONE, SKIPPED},
            "what was passed over was not evaluated": set(runs) == done,
            "none twice": max(runs.values()) == 1,
            "the last one is evaluated": count - 1 in done,
            "some were passed over": len(done) < count,
            "what may go is gone and all else is there": left == stay,
            "the best is linked": os.readlink(self.out / "best") == f"step={best[0]}.pt",
            "each best was told once": len(told) == len(set(told)) and told[-1] == best[0],
            "nothing is left behind": not hidden and not pins and not list(withdrawn(self.queue)),
        }
        return [claim for claim, holds in claims.items() if not holds]

    def _found_last(self) -> int:
        """A training may go on from it, whatever its step."""
        ledger = Ledger.of(self.home, str(self.out))
        found = [finding for key in ledger.known()[0] if (finding := ledger.finding(key)) is not None]
        return max((one.found, one.step or 0) for one in found)[1]

    def _states(self) -> tuple[dict[int, str], dict[int, int]]:
        ledger = Ledger.of(self.home, str(self.out))
        states, scores = {}, {}
        for key in ledger.known()[0]:
            finding, result = ledger.finding(key), ledger.result(key)
            if finding is not None and finding.step is not None:
                states[finding.step] = result.state if result is not None else "pending"
                if result is not None and result.state == DONE:
                    scores[finding.step] = int(result.values["acc"])
        return states, scores


def storm(directory: Path, checkpoints: int, kills: int, rate: float, seed: int) -> list[str]:
    one = RulesStorm(directory, seed)
    try:
        one.fork(one.evaluate, "evaluate")
        trainer = one.fork(lambda: one.train(checkpoints, 0, rate), "train")
        watcher = one.fork(one.watch, "watch")
        for _ in range(kills):
            time.sleep(one.chance.random() * 2 * checkpoints / rate / max(kills, 1))
            one.kill(watcher)
            watcher = one.fork(one.watch, "watch")
        until(lambda: os.waitpid(trainer, os.WNOHANG)[0], 600, pause=0.05)
        del one.forks[trainer]
        until(lambda: len(one._states()[0]) == checkpoints and "pending" not in one._states()[0].values(), pause=0.1)
        until(lambda: not one.left)
        one.kill(watcher)
        errors = (directory / "errors").read_text() if (directory / "errors").exists() else ""
        assert "Traceback" not in errors, errors[-3000:]
        return one.faults(checkpoints)
    finally:
        one.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=int, default=150)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rate", type=float, default=50.0, help="checkpoints a second")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paddock-rules-storm-"))
    faults = storm(directory, **vars(given))
    print(json.dumps({"faults": faults, "seed": given.seed}))
    if faults:
        sys.exit(f"The histories are in {directory}.")
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()
