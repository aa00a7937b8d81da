"""The rules, carried out on a real queue, a real ledger and real files."""

from __future__ import annotations

import os
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddock import wire
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import DONE, FAILED, SKIPPED, Finding, Result
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.policy import trainer
from paddock.evaluate.policy.rules import Rules, StopWhen
from paddock.evaluate.policy.trainer import NOTHING_KNOWN, Trainings
from paddock.evaluate.watching import steward
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.evaluate.winners import crown, deletion
from paddock.model import FINISHED, RUNNING, RunRow
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.lifecycle import QUEUED, STATES, Place, Token, ended, order
from paddock.queue.order import withdrawal
from paddock.record import stop
from paddock.record.layout import Home
from paddock.record.process import me
from tests.waiting import until

ACC = Rules(metric="acc", goal="max")


class Stage:
    """A watched directory, and a worker made of renames."""

    def __init__(self, home: Home, out: Path) -> None:
        self.home, self.out, self.said = home, out, []  # type: ignore[var-annotated]
        self.queue = find_queue("evaluation", home)
        self.queue.prepare()
        self.trainings: Trainings = NOTHING_KNOWN
        self.ledger = Ledger.of(home, str(out))
        self._watches: list[Watching] = []

    def watch(self, rules: Rules, *names: str) -> Watching:
        evaluators = tuple(Evaluator(name, {"function": f"m.{name}"}) for name in names or ("top",))
        options = Options(compile_pattern(DEFAULT_PATTERN), evaluators, existing=True, quiet=0.0, rules=rules)
        found = Watching(
            self.home, str(self.out), self.queue, options, lambda path: "train", self.said.append, self.trainings, 0.0
        )
        self._watches.append(found)
        found.attend()
        return found

    def close(self) -> None:
        for watching in self._watches:
            watching.close()

    def save(self, step: int, name: str = "step={}.pt") -> Path:
        path = self.out / name.format(step)
        aside = path.with_name(".aside")
        with zipfile.ZipFile(aside, "w") as file:
            file.writestr("data", f"weights {step}")
        return aside.rename(path)

    def places(self) -> list[Place]:
        return order(place for place in self.queue.list((QUEUED,)).places if place.token is None)

    def waiting(self) -> list[int]:
        """The steps, in the order in which they will be taken."""
        return [self.queue.read(place).task.config["step"] for place in self.places()]

    def finding(self, place: Place) -> Finding:
        found = self.ledger.finding(place.id.removeprefix("eval-"))
        assert found is not None
        return found

    def evaluate(self, score: Callable[[int], float]) -> None:
        for place in self.places():
            finding = self.finding(place)
            claimed = self.queue.claim(place, Token("w", 1))
            assert claimed is not None and finding.step is not None
            self.ledger.put_result(finding.key, Result(state=DONE, values={"acc": score(finding.step)}))
            self.queue.move(claimed, ended(claimed, "done"))

    def train(self, watching: Watching, scores: dict[int, float]) -> None:
        """Save and evaluate one after the other."""
        for step, value in scores.items():
            self.save(step)
            rounds(watching)
            self.evaluate(lambda step, value=value: value)  # type: ignore[misc]
            watching.attend()

    def skipped(self) -> dict[int, str]:
        found = {}
        for name in self.ledger.names():
            key = name.partition(".")[0]
            result, finding = self.ledger.result(key), self.ledger.finding(key)
            if result is not None and finding is not None and result.state == SKIPPED:
                found[finding.step or 0] = result.reason
        return found

    def left(self) -> list[str]:
        return sorted(name for name in os.listdir(self.out) if not name.startswith("."))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steward, "ASK_SECONDS", 0.0)


@pytest.fixture
def stage(home: Home, tmp_path: Path) -> Any:
    out = tmp_path / "out"
    out.mkdir()
    found = Stage(home, out)
    yield found
    found.close()


def rounds(watching: Watching) -> None:
    watching.look(), watching.look(), watching.attend()


# What is evaluated


def test_each_third_is_queued_also_when_the_watcher_starts_again(stage: Stage) -> None:
    for step in range(1, 8):
        stage.save(step)
        rounds(stage.watch(Rules(every=3)))
    assert sorted(stage.waiting()) == [3, 6]
    assert set(stage.skipped()) == {1, 2, 4, 5, 7}
    assert all(why.startswith("every") for why in stage.skipped().values())
    assert not list(stage.out.glob(".paddock-pins/*/step=1.pt"))


def test_the_last_one_is_evaluated_when_the_training_is_over(stage: Stage) -> None:
    watching = stage.watch(Rules(every=3, done_file="DONE"))
    for step in (1, 2, 3, 4):
        stage.save(step)
        rounds(watching)
    stage.evaluate(lambda step: 0.0)
    assert stage.waiting() == []
    (stage.out / "DONE").touch()
    watching.attend()
    assert stage.waiting() == [4]
    rounds(stage.watch(Rules(every=3, done_file="DONE")))
    assert stage.waiting() == [4]


def test_the_newest_goes_first_whenever_it_came(stage: Stage) -> None:
    watching = stage.watch(Rules(newest_first=True))
    for step in (2, 5, 3):
        stage.save(step)
    rounds(watching)
    assert stage.waiting() == [5, 3, 2]
    for step in (6, 1, 7):
        stage.save(step)
        rounds(watching)
    rounds(stage.watch(Rules(newest_first=True)))
    assert stage.waiting() == [7, 6, 5, 3, 2, 1]


def test_one_whose_watcher_died_before_it_could_submit_it_has_its_place_in_the_order(stage: Stage) -> None:
    watching = stage.watch(Rules(newest_first=True))
    for step in (1, 2, 3):
        stage.save(step)
    rounds(watching)
    (place,) = [place for place in stage.places() if stage.finding(place).step == 2]
    dead = msgspec.structs.replace(stage.finding(place), by=str(me()._replace(pid=4194305)))
    (stage.ledger.directory / f"{dead.key}.json").write_bytes(wire.encode(dead))
    stage.queue.file(place).unlink()
    (stage.ledger.directory / f"{dead.key}.submitted").unlink()
    again = stage.watch(Rules(newest_first=True))
    rounds(again), rounds(again)
    assert stage.waiting() == [3, 2, 1]


def test_older_ones_give_way_and_say_so(stage: Stage) -> None:
    watching = stage.watch(Rules(max_pending=2))
    for step in (1, 2, 3, 4):
        stage.save(step)
        rounds(watching)
    assert sorted(stage.waiting()) == [3, 4]
    assert {step: why.partition(":")[0] for step, why in stage.skipped().items()} == {1: "coalesced", 2: "coalesced"}
    pins = [path.name for path in stage.out.glob(".paddock-pins/*/*")]
    assert sorted(pins) == ["step=3.pt", "step=4.pt"]


def test_what_runs_is_not_touched_and_does_not_count(stage: Stage) -> None:
    watching = stage.watch(Rules(max_pending=1))
    stage.save(1)
    rounds(watching)
    (place,) = stage.places()
    claimed = stage.queue.claim(place, Token("w", 1))
    for step in (2, 3):
        stage.save(step)
        rounds(watching)
    assert claimed is not None and stage.queue.file(claimed).exists()
    assert stage.waiting() == [3] and set(stage.skipped()) == {2}


def test_a_worker_that_was_faster_keeps_its_task(stage: Stage) -> None:
    rounds(stage.watch(Rules(max_pending=1)))
    stage.save(1)
    rounds(stage.watch(Rules(max_pending=1)))
    (place,) = stage.places()
    claimed = stage.queue.claim(place, Token("w", 1))
    assert not withdrawal.withdraw(stage.queue, place)  # as the watcher, which has seen it wait, would
    assert claimed is not None and stage.queue.file(claimed).exists()


class Rush(DirectoryQueue):
    """A queue whose worker takes all that waits just after somebody has looked at it for the so-manieth time."""

    looks = 0

    def list(self, states: Any = STATES) -> Any:
        found = super().list(states)
        self.looks -= tuple(states) == (QUEUED,)
        if self.looks == 0:
            for place in found.places:
                self.claim(place, Token("w", 1))
        return found


@pytest.mark.parametrize("looks", [1, 2])
def test_what_is_taken_while_the_watcher_decides_is_evaluated(stage: Stage, looks: int) -> None:
    stage.queue = rush = Rush(stage.queue.path)
    watching = stage.watch(Rules(max_pending=1))
    stage.save(1)
    rounds(watching)
    rush.looks = looks
    stage.save(2)
    rounds(watching)
    assert rush.looks <= 0 and stage.skipped() == {}
    assert 1 in [stage.finding(place).step for place in rush.list(("active",)).places]


def test_whoever_is_faster_each_is_either_evaluated_or_passed_over(stage: Stage) -> None:
    """Workers claim what waits while the watcher takes it back."""
    watching = stage.watch(Rules(max_pending=1))
    rounds(watching)
    ran: list[int] = []
    over = threading.Event()

    def work(number: int) -> None:
        while not over.is_set() or stage.places():
            for place in stage.places():
                claimed = stage.queue.claim(place, Token(f"w{number}", 1))
                if claimed is not None:
                    finding = stage.finding(place)
                    ran.append(finding.step or 0)
                    stage.ledger.put_result(finding.key, Result(state=DONE, values={"acc": 1.0}))
                    stage.queue.move(claimed, ended(claimed, "done"))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for worker in workers:
        worker.start()
    for step in range(1, 60):
        stage.save(step)
        if step % 3 != 1:  # several at once, too
            rounds(watching)
    over.set()
    for worker in workers:
        worker.join()
    assert len(ran) == len(set(ran)) and 59 in ran
    assert set(ran) | set(stage.skipped()) == set(range(1, 60))
    assert not set(ran) & set(stage.skipped())
    assert list(withdrawal.withdrawn(stage.queue)) == []


def test_a_watcher_that_died_after_taking_a_task_back_is_finished_by_the_next(stage: Stage) -> None:
    rules = Rules(max_pending=1)
    stage.save(1)
    rounds(stage.watch(rules))
    (place,) = stage.places()
    assert withdrawal.withdraw(stage.queue, place)
    stage.watch(rules)
    assert stage.skipped()[1].startswith("coalesced")
    assert list(withdrawal.withdrawn(stage.queue)) == []


# The best


def test_the_best_is_linked_and_nothing_is_deleted_unless_asked(stage: Stage) -> None:
    watching = stage.watch(Rules(metric="acc", goal="max", keep_best=1))
    stage.train(watching, {1: 0.5, 2: 0.9, 3: 0.1})
    assert os.readlink(stage.out / "best") == "step=2.pt"
    assert stage.left() == ["best", "step=1.pt", "step=2.pt", "step=3.pt"]
    assert [text for text in stage.said if text.startswith("best")][-1].startswith("best acc = 0.9: ")


def test_somebody_elses_best_stays_as_it_is(stage: Stage) -> None:
    (stage.out / "best").write_text("mine")
    stage.train(stage.watch(Rules(metric="acc", goal="max", keep_best=1)), {1: 0.5})
    assert (stage.out / "best").read_text() == "mine"
    assert any("somebody else's" in text for text in stage.said)


DELETING = Rules(metric="acc", goal="max", keep_best=2, delete_others=True)


def test_the_others_are_deleted_but_never_the_last(stage: Stage) -> None:
    watching = stage.watch(DELETING)
    stage.train(watching, {1: 0.5, 2: 0.9, 3: 0.8, 4: 0.1})
    assert stage.left() == ["best", "step=2.pt", "step=3.pt", "step=4.pt"]
    stage.train(watching, {5: 0.2})
    assert stage.left() == ["best", "step=2.pt", "step=3.pt", "step=5.pt"]
    assert sum(text.startswith("deleted") for text in stage.said) == 2
    assert len(list(stage.ledger.directory.glob("*.deleted"))) == 2


def test_a_dry_run_says_it_and_does_nothing(stage: Stage) -> None:
    stage.train(stage.watch(Rules(**{**vars(DELETING), "dry_run": True})), {1: 0.5, 2: 0.9, 3: 0.8, 4: 0.1})
    assert stage.left() == ["step=1.pt", "step=2.pt", "step=3.pt", "step=4.pt"]
    assert [text for text in stage.said if text.startswith("would")] == [
        f"would delete {stage.out}/step=1.pt: acc = 0.5 is not among the best 2"
    ]


def test_what_another_evaluator_has_yet_to_read_stays(stage: Stage) -> None:
    watching = stage.watch(Rules(**{**vars(DELETING), "metric": "top/acc", "keep_best": 1}), "top", "slow")
    for step in (1, 2, 3):
        stage.save(step)
    rounds(watching)
    for place in stage.places():
        if stage.finding(place).evaluator == "top":
            stage.ledger.put_result(stage.finding(place).key, Result(state=DONE, values={"acc": 0.1}))
    watching.attend()
    assert stage.left() == ["best", "step=1.pt", "step=2.pt", "step=3.pt"]
    stage.evaluate(lambda step: step / 10)
    watching.attend()
    assert stage.left() == ["best", "step=3.pt"]


def test_what_one_evaluator_failed_on_stays(stage: Stage) -> None:
    watching = stage.watch(Rules(**{**vars(DELETING), "metric": "top/acc", "keep_best": 1}), "top", "other")
    for step in (1, 2, 3):
        stage.save(step)
    rounds(watching)
    for place in stage.places():
        finding = stage.finding(place)
        bad = finding.evaluator == "other" and finding.step == 1
        result = Result(state=FAILED) if bad else Result(state=DONE, values={"acc": (finding.step or 0) / 10})
        stage.ledger.put_result(finding.key, result)
    watching.attend()
    assert stage.left() == ["best", "step=1.pt", "step=3.pt"]


def test_what_another_watch_has_yet_to_evaluate_stays(stage: Stage) -> None:
    watching, other = stage.watch(Rules(**{**vars(DELETING), "keep_best": 1})), stage.watch(ACC, "slow")
    for step in (1, 2, 3):
        stage.save(step)
    rounds(watching), rounds(other)
    for place in stage.places():
        finding = stage.finding(place)
        if finding.evaluator == "top" or finding.step == 1:
            stage.ledger.put_result(finding.key, Result(state=DONE, values={"acc": (finding.step or 0) / 10}))
    watching.attend()
    assert stage.left() == ["best", "step=2.pt", "step=3.pt"]


def test_what_lies_outside_is_not_deleted_by_way_of_links(stage: Stage, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    watching = stage.watch(Rules(**{**vars(DELETING), "keep_best": 1}))
    one, *below = [stage.save(step).rename(outside / f"step={step}.pt") for step in (1, 7, 8, 9)]
    one = one.rename(tmp_path / "step=1.pt")
    (stage.out / "step=1.pt").symlink_to(one)
    (stage.out / "deep").symlink_to(outside)
    rounds(watching)
    stage.evaluate(lambda step: 1 / step if step > 1 else 0.01)
    stage.train(watching, {2: 0.2, 3: 0.9, 4: 0.5})
    assert all(path.exists() for path in (one, *below)) and (stage.out / "step=1.pt").is_symlink()
    assert "step=2.pt" not in stage.left()
    assert any(text.startswith("kept") and "not in the watched directory itself" in text for text in stage.said)


def test_a_file_that_was_changed_since_is_not_deleted(stage: Stage) -> None:
    stage.train(stage.watch(ACC), {1: 0.1, 2: 0.2, 3: 0.5, 4: 0.4})
    (stage.out / "step=1.pt").write_bytes(b"it goes on")
    stage.watch(Rules(**{**vars(DELETING), "keep_best": 1}))
    assert stage.left() == ["best", "step=1.pt", "step=3.pt", "step=4.pt"]


def test_one_that_a_link_leads_to_stays(stage: Stage) -> None:
    watching = stage.watch(Rules(**{**vars(DELETING), "keep_best": 1}))
    stage.train(watching, {1: 0.1})
    (stage.out / "resume").symlink_to("step=1.pt")
    stage.train(watching, {2: 0.9, 3: 0.8})
    assert "step=1.pt" in stage.left()
    assert any("a link leads to it" in text for text in stage.said)


def test_a_link_whose_watcher_died_before_it_had_its_name_keeps_nothing(stage: Stage) -> None:
    rules = Rules(**{**vars(DELETING), "keep_best": 1})
    stage.train(stage.watch(rules), {1: 0.1})
    (stage.out / ".best.0a1b2c3d").symlink_to("step=1.pt")
    (stage.out / ".best.mine").symlink_to("step=3.pt")
    stage.train(stage.watch(rules), {2: 0.9, 3: 0.8})
    assert stage.left() == ["best", "step=2.pt", "step=3.pt"]
    assert [path.name for path in stage.out.glob(".best.*")] == [".best.mine"]


def test_a_directory_goes_as_a_whole_and_what_it_links_to_stays(stage: Stage, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("data")
    watching = stage.watch(Rules(**{**vars(DELETING), "keep_best": 1}))
    for step, value in ((1, 0.1), (2, 0.9), (3, 0.5)):
        path = stage.out / f"checkpoint-{step}"
        path.mkdir()
        (path / "data").symlink_to(precious)
        stage.save(step, f"checkpoint-{step}/pytorch_model.bin")
        stage.save(step, f"checkpoint-{step}/optimizer.pt")
        (path / "trainer_state.json").write_text(f'{{"global_step": {step}}}')
        rounds(watching)
        stage.evaluate(lambda step, value=value: value)  # type: ignore[misc]
        watching.attend()
    assert stage.left() == ["best", "checkpoint-2", "checkpoint-3"]
    assert precious.read_text() == "data"
    assert not [name for name in os.listdir(stage.out) if name.startswith(".paddock-deleted")]


def test_a_deletion_that_a_watcher_died_in_is_finished(stage: Stage) -> None:
    rules = Rules(**{**vars(DELETING), "keep_best": 1})
    stage.train(stage.watch(ACC), {1: 0.1, 2: 0.9, 3: 0.5})
    (key,) = [name.partition(".")[0] for name in stage.ledger.names() if _is(stage, name, 1)]
    (stage.ledger.path / "deleting").mkdir()
    (stage.ledger.path / "deleting" / key).write_text("{}")
    hidden = stage.out / f".paddock-deleted-{key}"
    hidden.mkdir()
    (hidden / "half").touch()
    (stage.out / "step=1.pt").unlink()
    stage.watch(rules)
    assert not hidden.exists() and (stage.ledger.directory / f"{key}.deleted").exists()
    assert os.listdir(stage.ledger.path / "deleting") == []


def test_a_deletion_that_had_not_begun_is_decided_anew(stage: Stage) -> None:
    stage.train(stage.watch(ACC), {1: 0.1, 2: 0.9})
    (key,) = [name.partition(".")[0] for name in stage.ledger.names() if _is(stage, name, 2)]
    (stage.ledger.path / "deleting").mkdir()
    (stage.ledger.path / "deleting" / key).write_text("{}")
    assert list(deletion.finish(stage.ledger, str(stage.out))) == []
    assert stage.left() == ["step=1.pt", "step=2.pt"] and os.listdir(stage.ledger.path / "deleting") == []


def _is(stage: Stage, name: str, step: int) -> bool:
    finding = stage.ledger.finding(name.removesuffix(".json")) if name.endswith(".json") else None
    return finding is not None and finding.step == step


def test_a_metric_that_no_score_has_is_named_once_with_those_that_there_are(stage: Stage) -> None:
    watching = stage.watch(Rules(metric="eval/acuracy", goal="max", keep_best=1))
    stage.train(watching, {1: 0.5, 2: 0.4})
    told = [text for text in stage.said if "--metric" in text]
    assert told == ["--metric eval/acuracy is not among the scores that came: eval/top/acc"]
    assert not (stage.out / "best").exists()


# The command for the best


def test_the_command_is_run_once_for_each_best_whoever_watches(stage: Stage) -> None:
    log = stage.out / "log.txt"
    rules = Rules(metric="acc", goal="max", on_best=f"echo {{step}} {{value}} {{metric}} {{run}} >> {log}")
    for step, value in ((1, 0.5), (2, 0.4), (3, 0.9)):
        watching = stage.watch(rules)
        stage.train(watching, {step: value})
        watching.close()
    stage.watch(rules).close()
    assert log.read_text().splitlines() == ["1 0.5 acc train", "3 0.9 acc train"]


def test_a_command_that_fails_is_told_and_stops_nothing(stage: Stage) -> None:
    watching = stage.watch(Rules(metric="acc", goal="max", on_best="echo no space left >&2; exit 3"))
    stage.train(watching, {1: 0.5})
    watching.close()
    assert any("failed with 3: no space left" in text for text in stage.said)


def test_a_command_that_was_killed_with_its_watcher_is_run_again(stage: Stage) -> None:
    log = stage.out / "log.txt"
    rules = Rules(metric="acc", goal="max", on_best=f"echo {{step}} >> {log}")
    stage.train(stage.watch(ACC), {1: 0.5})
    (key,) = {name.partition(".")[0] for name in stage.ledger.names()}
    watching = stage.watch(rules)
    until(lambda: log.exists() and list(stage.ledger.path.glob("bests/*/*.ended")))
    (ended_file,) = stage.ledger.path.glob("bests/*/*.ended")
    (begun,) = stage.ledger.path.glob("bests/*/*.begun")
    watching.close()
    ended_file.unlink()  # as if the machine had gone down in the middle of it
    assert key in begun.name
    stage.watch(rules).close()
    assert log.read_text().splitlines() == ["1", "1"]


# The end


def test_it_is_over_when_the_training_is_and_all_is_evaluated(stage: Stage) -> None:
    watching = stage.watch(Rules(stop_when=StopWhen(training_done=True), done_file="DONE"))
    stage.save(1)
    rounds(watching)
    (stage.out / "DONE").touch()
    for _ in range(5):
        watching.attend()
    assert not watching.over and stage.waiting() == [1]
    stage.save(2)  # in the last moment, and nobody has told us
    stage.evaluate(lambda step: 0.0)
    for _ in range(5):
        watching.attend()
    assert not watching.over
    rounds(watching)
    assert stage.waiting() == [2]
    stage.evaluate(lambda step: 0.0)
    for _ in range(5):
        watching.attend()
    assert watching.over == "the training is over"


def _row(state: str) -> RunRow:
    return RunRow(id="train", name="train", project="p", state=state, created=0.0)


def test_a_run_that_ends_while_we_watch_ends_it_and_an_earlier_one_only_after_a_while(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = {"now": FINISHED}
    stage.trainings = Trainings(lambda directory: "train", lambda run: _row(states["now"]), NOTHING_KNOWN.goal)
    rules = Rules(stop_when=StopWhen(training_done=True))

    def ends(watching: Watching) -> bool:
        for _ in range(5):
            watching.attend()
        return bool(watching.over)

    watching = stage.watch(rules)
    rounds(watching)
    assert not ends(watching)
    states["now"] = RUNNING
    watching = stage.watch(rules)
    rounds(watching)
    assert not ends(watching)
    states["now"] = FINISHED
    assert ends(watching)
    monkeypatch.setattr(trainer, "GRACE_SECONDS", 0.0)
    watching = stage.watch(rules)
    assert ends(watching)


def test_it_is_over_when_nothing_came_for_long_and_nothing_waits(stage: Stage) -> None:
    watching = stage.watch(Rules(stop_when=StopWhen(idle=0.05)))
    stage.save(1)
    rounds(watching)
    time.sleep(0.1)
    for _ in range(5):
        watching.attend()
    assert not watching.over
    stage.evaluate(lambda step: 0.0)
    for _ in range(5):
        watching.attend()
    assert "nothing new" in watching.over


# The trainer


def test_a_trainer_without_paddock_finds_the_stop_file_once_it_stalls(stage: Stage) -> None:
    watching = stage.watch(Rules(metric="acc", goal="max", patience=2, stop_file="STOP"))
    stage.train(watching, {1: 0.5, 2: 0.4})
    assert not (stage.out / "STOP").exists()
    stage.train(watching, {3: 0.5})
    assert "not better than 0.5 (step 1) in 2 evaluations" in (stage.out / "STOP").read_text()
    (stage.out / "STOP").unlink()
    watching.attend()
    rounds(stage.watch(Rules(metric="acc", goal="max", patience=2, stop_file="STOP")))
    assert not (stage.out / "STOP").exists()  # the trainer has seen it
    stage.train(watching, {4: 0.1})
    assert (stage.out / "STOP").exists()


def test_a_recorded_trainer_is_asked_in_its_run_while_it_runs(stage: Stage) -> None:
    stage.home.run("train").path.mkdir(parents=True)
    states = {"now": FINISHED}
    stage.trainings = Trainings(lambda directory: "train", lambda run: _row(states["now"]), NOTHING_KNOWN.goal)
    watching = stage.watch(Rules(metric="acc", goal="max", patience=1))
    stage.train(watching, {1: 0.5, 2: 0.4})
    assert stop.asked(stage.home.run("train")) is None
    states["now"] = RUNNING
    stage.train(watching, {3: 0.3})
    asked = stop.asked(stage.home.run("train"))
    assert asked is not None and asked.attempt == 1 and "acc was not better" in asked.why


def test_a_disk_that_refuses_stops_no_watch_and_is_tried_again(stage: Stage) -> None:
    watching = stage.watch(Rules(metric="acc", goal="max", on_best=f"echo {{step}} >> {stage.out}/log.txt"))
    (stage.ledger.path / "bests").write_text("in the way")
    stage.train(watching, {1: 0.5})
    assert sum("cannot be done now" in text for text in stage.said) == 1
    (stage.ledger.path / "bests").unlink()
    watching.attend()
    watching.close()
    assert (stage.out / "log.txt").read_text() == "1\n"


def test_the_goal_is_what_the_training_run_has_defined(stage: Stage) -> None:
    goals = {"eval/top/acc": "min"}
    row = RunRow(id="train", name="t", project="p", state=RUNNING, created=0.0, goals=goals)
    stage.trainings = Trainings(lambda directory: "train", lambda run: row, NOTHING_KNOWN.goal)
    stage.train(stage.watch(Rules(metric="acc", keep_best=1)), {1: 0.5, 2: 0.1, 3: 0.9})
    assert os.readlink(stage.out / "best") == "step=2.pt"
    assert crown.goal_of(stage.ledger, "acc", "") == "min"  # so that others can say which is the best
    assert crown.goal_of(stage.ledger, "loss", "") == ""
