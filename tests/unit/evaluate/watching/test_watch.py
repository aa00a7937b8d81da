"""Every checkpoint is found once, when it is complete."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from paddock.evaluate.completeness.rule import Rule
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.account import Account, Tasks
from paddock.evaluate.ledger.book import FOUND, SUBMITTED, key_of
from paddock.evaluate.ledger.entry import DONE, MISSED, SKIPPED, Result
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.policy.trainer import NOTHING_KNOWN, Trainings
from paddock.evaluate.watching.again import again
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.record.layout import Home

ACC = Evaluator("acc", {"function": "metrics.acc"})


def watcher(home: Home, queue: DirectoryQueue, out: Path, *names: str, **options: object) -> Watching:
    evaluators = tuple(Evaluator(name, {"function": f"metrics.{name}"}) for name in names) or (ACC,)
    given = {"pattern": compile_pattern(DEFAULT_PATTERN), "quiet": 0.0, **options}
    chosen = Options(evaluators=evaluators, **given)  # type: ignore[arg-type]
    return Watching(home, str(out), queue, chosen, lambda path: "train", lambda text: None, repair_seconds=0.0)


def save(path: Path, content: bytes = b"weights") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.tmp")
    with zipfile.ZipFile(aside, "w") as file:
        file.writestr("data", content + path.name.encode())
    return aside.rename(path)


@contextlib.contextmanager
def limited(what: int, number: int) -> Iterator[None]:
    before = resource.getrlimit(what)
    resource.setrlimit(what, (number, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


def tasks(queue: DirectoryQueue) -> list[str]:
    return sorted(queue.read(place).task.name for place in queue.list().places)


def rounds(watching: Watching, number: int = 2) -> None:
    for _ in range(number):  # the first look sees it, the next one sees that it rests
        watching.look()


def test_a_new_checkpoint_is_submitted_once(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "step=100.pt")
    save(out / "deep" / "er" / "step=200.pt")
    rounds(watching, 5)
    assert tasks(queue) == ["acc step=100.pt", "acc step=200.pt"]
    (first, second) = sorted((queue.read(p).task for p in queue.list().places), key=lambda task: task.name)
    assert (first.config["step"], second.config["step"], first.parent) == (100, 200, "train")


def test_what_was_there_before_is_passed_over_unless_it_is_asked_for(
    home: Home, queue: DirectoryQueue, out: Path, tmp_path: Path
) -> None:
    save(out / "step=1.pt")
    watching = watcher(home, queue, out)
    rounds(watching)
    assert tasks(queue) == []
    (key,) = watching.ledger.known()[0]
    result = watching.ledger.result(key)
    assert result is not None and result.state == SKIPPED
    save(tmp_path / "other" / "step=2.pt")
    rounds(watcher(home, queue, tmp_path / "other", existing=True))
    assert tasks(queue) == ["acc step=2.pt"]
    for _ in range(2):  # it is asked for later
        watching.ledger.forget_passed_over(["acc"])
        rounds(watcher(home, queue, out))
    assert tasks(queue) == ["acc step=1.pt", "acc step=2.pt"]


def test_what_was_there_before_is_passed_over_too_where_a_command_says_what_is_complete(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    save(out / "step=1.pt"), save(out / "step=2.pt").rename(out / "open=2.pt")
    watching = watcher(home, queue, out, complete=Rule(command="case {path} in *step*) ;; *) false ;; esac"))
    rounds(watching)
    assert tasks(queue) == []
    (key,) = watching.ledger.known()[0]
    found = watching.ledger.finding(key)
    assert found is not None and found.path == str(out / "step=1.pt")


def test_however_many_were_there_before_they_are_one_file(home: Home, queue: DirectoryQueue, out: Path) -> None:
    for number in range(120):
        save(out / f"step={number}.pt")
    watching = watcher(home, queue, out, "acc", "loss")
    rounds(watching)
    assert len(watching.ledger.known()[0]) == 240 and watching.ledger.names() == set()
    assert len(list((watching.ledger.path / "before").iterdir())) == 2
    again = watcher(home, queue, out, "acc", "loss")
    rounds(again)
    assert {one.state for one in Account(again.ledger).read(Tasks({}, True))} == {SKIPPED}
    assert tasks(queue) == []


def test_what_came_after_the_first_watch_began_is_evaluated_although_another_begins_with_it_there(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    """As two that are started at once: the other one lists the directory a moment later."""
    save(out / "step=1.pt")
    first, second = watcher(home, queue, out), watcher(home, queue, out)
    first.look()
    save(out / "step=2.pt")
    rounds(second, 3)
    rounds(first, 3)
    assert tasks(queue) == ["acc step=2.pt"]


def test_one_that_was_passed_over_and_is_wanted_has_the_result_of_its_evaluation(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    save(out / "step=1.pt"), save(out / "step=2.pt")
    watching = watcher(home, queue, out)
    rounds(watching)
    wanted = next(one for one in watching.ledger.passed.read().values() if one.step == 1)
    assert again(watching, wanted)
    assert watching.ledger.result(wanted.key) is None
    watching.ledger.put_result(wanted.key, Result(state=DONE, values={"acc": 0.5}))
    states = {one.finding.step: one.state for one in Account(watching.ledger).read(Tasks({}, True))}
    assert states == {1: DONE, 2: SKIPPED}


def test_more_than_a_process_may_open_are_entered(home: Home, queue: DirectoryQueue, out: Path) -> None:
    for step in range(120):
        save(out / f"step={step}.pt")
    watching = watcher(home, queue, out)
    with limited(resource.RLIMIT_NOFILE, max(map(int, os.listdir("/proc/self/fd"))) + 80):
        rounds(watching)
    assert len(watching.ledger.known()[0]) == 120 and tasks(queue) == []


def test_a_watcher_that_starts_again_finds_what_came_meanwhile(home: Home, queue: DirectoryQueue, out: Path) -> None:
    rounds(watcher(home, queue, out))
    save(out / "step=1.pt")
    for _ in range(3):
        rounds(watcher(home, queue, out))
    assert tasks(queue) == ["acc step=1.pt"]


def test_two_watchers_and_two_evaluators_submit_each_pair_once(home: Home, queue: DirectoryQueue, out: Path) -> None:
    one, two = (watcher(home, queue, out, "acc", "loss") for _ in range(2))
    rounds(one), rounds(two)
    save(out / "step=1.pt")
    for _ in range(3):
        one.look(), two.look()
    assert tasks(queue) == ["acc step=1.pt", "loss step=1.pt"]


def test_a_file_that_is_written_over_is_new_and_a_link_is_not(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "last.pt", b"one")
    rounds(watching)
    os.link(out / "last.pt", out / "best.pt")
    os.symlink(out / "last.pt", out / "same.pt")
    rounds(watching)
    assert tasks(queue) == ["acc last.pt"]
    save(out / "last.pt", b"two")
    rounds(watching)
    assert tasks(queue) == ["acc last.pt", "acc last.pt"]


def test_half_a_file_is_not_submitted_and_its_whole_is(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    data = save(out / "step=1.pt").read_bytes()
    (out / "step=1.pt").write_bytes(data[: len(data) // 2])
    rounds(watching, 4)
    assert tasks(queue) == []
    (out / "step=1.pt").write_bytes(data)
    rounds(watching)
    assert tasks(queue) == ["acc step=1.pt"]


def test_weights_that_do_not_fit_the_usual_filter_are_named_once(home: Home, queue: DirectoryQueue, out: Path) -> None:
    said: list[str] = []
    save(out / "checkpoint-1" / "model.safetensors")  # part of one
    watching = replace(watcher(home, queue, out), say=said.append)
    rounds(watching)
    assert said == []
    save(out / "step=1.safetensors"), save(out / "step=2.safetensors")
    rounds(watching, 4)
    assert [text.partition(" does not fit --regex-filter")[1:] != ("", "") for text in said] == [True]
    said.clear()
    rounds(replace(watcher(home, queue, out, pattern=compile_pattern(r"\.pt$")), say=said.append))  # that is meant
    assert said == []


def test_what_a_trainer_leaves_beside_its_checkpoints_does_not_swallow_them(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    """As `trainer.save_model()` and `save_state()` do at the end, in the directory that holds checkpoint-N."""
    said: list[str] = []
    for held in ("checkpoint-{}", "step_{}", "epoch_{}"):
        run = out / held.format("run")
        watching = replace(watcher(home, queue, out), say=said.append)
        rounds(watching)
        for step in (1, 2):
            path = run / held.format(step)
            save(path / "pytorch_model.bin", str(run).encode() + b"%d" % step)
            (path / "config.json").write_text("{}")
            (path / "trainer_state.json").write_text(f'{{"global_step": {step}}}')
            if step == 1:
                rounds(watching)
        watching.look()  # the second one has been seen, and has yet to rest
        save(run / "pytorch_model.bin", b"the last")
        (run / "config.json").write_text("{}")
        (run / "trainer_state.json").write_text('{"global_step": 2}')
        rounds(watching)
        rounds(watcher(home, queue, out))
        expected = [f"acc {held.format(step)}" for step in (1, 2)]
        assert [name for name in tasks(queue) if name in expected or "run" in name] == expected
    assert not any("missed" in text for text in said)


def test_a_directory_in_which_checkpoints_begin_to_lie_is_not_waited_for(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out, quiet=3600.0)
    rounds(watching)
    save(out / "run" / "pytorch_model.bin")
    (out / "run" / "config.json").write_text("{}")
    rounds(watching)
    assert watching.unsettled == 1
    (out / "run" / "checkpoint-1").mkdir()
    rounds(watching, 3)
    assert watching.unsettled == 0
    assert not [name for name in watching.ledger.names() if name.endswith(".result")]


def test_a_directory_that_is_seen_half_deleted_is_missed_all_the_same(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out, quiet=3600.0)
    rounds(watching)
    path = out / "checkpoint-500"
    save(path / "pytorch_model.bin"), save(path / "optimizer.pt")
    (path / "trainer_state.json").write_text('{"global_step": 500}')
    rounds(watching)
    for name in ("trainer_state.json", "optimizer.pt", "pytorch_model.bin"):
        (path / name).unlink()
        rounds(watching, 3)
    path.rmdir()
    rounds(watching)
    (name,) = [name for name in watching.ledger.names() if name.endswith(".result")]
    result = watching.ledger.result(name.removesuffix(".result"))
    assert result is not None and result.state == MISSED


def test_one_that_is_deleted_before_it_has_rested_is_missed(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out, quiet=3600.0)
    rounds(watching)
    save(out / "step=1.pt")
    rounds(watching)
    (out / "step=1.pt").unlink()
    rounds(watching)
    (name,) = [name for name in watching.ledger.names() if name.endswith(".result")]
    result = watching.ledger.result(name.removesuffix(".result"))
    assert result is not None and result.state == MISSED
    assert tasks(queue) == []


def test_the_content_outlives_the_name(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    data = save(out / "step=1.pt").read_bytes()
    rounds(watching)
    (out / "step=1.pt").unlink()
    rounds(watching)
    (name,) = [name for name in watching.ledger.names() if name.endswith(".json")]
    finding = watching.ledger.finding(name.removesuffix(".json"))
    assert finding is not None and Path(finding.pin).read_bytes() == data
    assert tasks(queue) == ["acc step=1.pt"]


def test_an_entry_whose_watcher_died_before_submitting_is_submitted_by_the_next(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "step=1.pt")
    rounds(watching)
    (place,) = queue.list().places
    for name in watching.ledger.names():
        if name.endswith(SUBMITTED):
            (watching.ledger.directory / name).unlink()
    queue.file(place).unlink()  # as if it had never come so far
    (key,) = watching.ledger.known()[0]
    finding = watching.ledger.finding(key)
    assert finding is not None
    watching.ledger.begin_anew(msgspec.structs.replace(finding, by="on another machine"))
    rounds(watcher(home, queue, out), 3)
    assert tasks(queue) == ["acc step=1.pt"]


def test_a_task_that_was_cancelled_stays_cancelled(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "step=1.pt")
    rounds(watching)
    (place,) = queue.list().places
    queue.file(place).unlink()
    rounds(watcher(home, queue, out), 3)
    assert tasks(queue) == []


def test_a_directory_that_went_away_loses_and_repeats_nothing(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "step=1.pt")
    rounds(watching)
    away = out.rename(out.with_name("unmounted"))
    rounds(watching)
    away.rename(out)
    save(out / "step=2.pt")
    rounds(watching)
    assert tasks(queue) == ["acc step=1.pt", "acc step=2.pt"]


def test_directories_of_a_trainer_are_one_checkpoint_each(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    path = out / "checkpoint-500"
    save(path / "pytorch_model.bin")
    rounds(watching)
    assert tasks(queue) == []
    save(path / "optimizer.pt")
    (path / "trainer_state.json").write_text('{"global_step": 500}')
    rounds(watching)
    assert tasks(queue) == ["acc checkpoint-500"]


def test_two_homes_that_watch_one_directory_keep_it_each_for_itself(
    home: Home, queue: DirectoryQueue, out: Path, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other-home")
    other.prepare()
    theirs = find_queue("evaluation", other)
    theirs.prepare()
    watchers = watcher(home, queue, out), watcher(other, theirs, out)
    for one in watchers:
        rounds(one)
    save(out / "step=1.pt")
    for one in watchers:
        rounds(one)
    assert len(list(out.glob(".paddock-pins/*/step=1.pt"))) == 2


def test_a_queue_that_somebody_removed_is_made_again(home: Home, queue: DirectoryQueue, out: Path) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    shutil.rmtree(queue.path)
    save(out / "step=1.pt")
    rounds(watching)
    assert tasks(queue) == ["acc step=1.pt"]


def test_equal_checkpoints_of_two_trainings_are_two_and_copies_beside_them_are_none(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "seed0" / "step_0" / "a.pt")
    save(out / "seed1" / "step_0" / "a.pt")
    rounds(watching, 3)
    assert len(tasks(queue)) == 2
    shutil.copy(out / "seed0/step_0/a.pt", out / "seed0/best.pt")  # of the same training
    (out / "best.pt").symlink_to("seed1/step_0/a.pt")  # leads to a known one
    (out / "latest").symlink_to("seed1")
    alias = out.parent / "alias"
    alias.symlink_to(out)
    rounds(watching, 3)
    rounds(watcher(home, queue, alias), 3)
    assert len(tasks(queue)) == 2


def test_what_was_entered_before_trainings_were_told_apart_is_not_evaluated_again(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "seed0" / "a.pt")
    rounds(watching, 3)
    ((key,), _) = watching.ledger.known()
    finding = watching.ledger.finding(key)
    assert finding is not None
    old = key_of(f"{watching.ledger.path.name}\0acc", finding.fingerprint)
    for end in (FOUND, SUBMITTED):
        (watching.ledger.directory / (key + end)).rename(watching.ledger.directory / (old + end))
    save(out / "seed1" / "a.pt")
    rounds(watcher(home, queue, out), 3)
    assert len(tasks(queue)) == 2  # seed0 before, seed1 now


def places(watching: Watching) -> list[tuple[str, int | None, int | None]]:
    found = [watching.ledger.finding(key) for key in watching.ledger.known()[0]]
    return sorted((os.path.basename(one.path), one.step, one.place) for one in found if one)


def test_what_has_no_step_is_numbered_in_the_order_in_which_it_was_written(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    for age, name in enumerate(("c.pt", "b.pt", "a.pt")):
        os.utime(save(out / name), (age + 1, age + 1))
    save(out / "other" / "x.pt")
    rounds(watching, 3)
    save(out / "step=7.pt")
    rounds(watching, 3)
    again = watcher(home, queue, out)
    save(out / "last.pt")
    rounds(again, 3)
    assert places(again) == [
        ("a.pt", None, 3),
        ("b.pt", None, 2),
        ("c.pt", None, 1),
        ("last.pt", None, 5),
        ("step=7.pt", 7, None),
        ("x.pt", None, 1),
    ]


def test_what_has_no_step_is_where_the_training_was_when_it_was_written(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    trainings = Trainings(*NOTHING_KNOWN[:3], lambda run, moment: 40 if (run, moment) == ("train", 5.0) else None)
    watching = replace(watcher(home, queue, out), trainings=trainings)
    rounds(watching)
    os.utime(save(out / "a.pt"), (5, 5))
    os.utime(save(out / "b.pt"), (6, 6))
    rounds(watching, 3)
    assert places(watching) == [("a.pt", None, 40), ("b.pt", None, 2)]


def test_a_disk_that_refuses_is_said_once_and_nothing_is_lost_or_doubled(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    said: list[str] = []
    watching = replace(watcher(home, queue, out), say=said.append)
    rounds(watching)
    save(out / "step=1.pt")
    save(out / "step=2.pt")
    with limited(resource.RLIMIT_FSIZE, 0):  # as a full disk: no byte can be written
        dues = [watching.look(), watching.look(set(), set(), set()), watching.look(set(), set(), set())]
    assert None not in dues
    assert len(said) == 1
    assert str(out) in said[0]
    assert (tasks(queue), watching.ledger.known()[0]) == ([], set())
    rounds(watching, 3)
    assert tasks(queue) == ["acc step=1.pt", "acc step=2.pt"]


def test_what_the_queue_did_not_take_is_submitted_when_it_does(home: Home, queue: DirectoryQueue, out: Path) -> None:
    said: list[str] = []
    watching = replace(watcher(home, queue, out), say=said.append)
    rounds(watching)
    save(out / "step=1.pt")
    aside = queue.path / ".submit"
    aside.rename(queue.path / "away")
    aside.write_text("no directory")
    rounds(watching, 3)
    assert len(watching.ledger.known()[1]) == 1  # entered, and not submitted
    assert ["cannot be dealt with" in text for text in said] == [True]
    aside.unlink()
    (queue.path / "away").rename(aside)
    rounds(watching, 3)
    assert tasks(queue) == ["acc step=1.pt"]
    assert watching.ledger.known()[1] == set()


def test_what_was_missed_is_evaluated_when_it_comes_back_and_by_one_watcher_only(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    first, second = watcher(home, queue, out), watcher(home, queue, out)
    rounds(first)
    rounds(second)
    for turn in range(2):  # each time
        save(out / "step=1.pt")
        rounds(first, 3)
        (place,) = queue.list().places
        key = place.id.removeprefix("eval-")
        assert first.ledger.result(key) is None and place.state == "queued", turn
        queue.move(place, place._replace(state="done"))
        first.ledger.put_result(key, Result(state=MISSED, reason=f"it was deleted ({turn})"))
        (out / "step=1.pt").unlink()
        rounds(first, 3)
        rounds(second, 3)
        assert [place.state for place in queue.list().places] == ["done"]
    save(out / "step=1.pt")
    for _ in range(3):
        first.look()
        second.look()
    assert [place.state for place in queue.list().places] == ["queued"]


def test_a_copy_among_the_best_is_no_other_checkpoint_and_two_trainings_are_two(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    watching = watcher(home, queue, out)
    rounds(watching)
    save(out / "a" / "step=1.pt")
    rounds(watching, 3)
    for copy in ("a/best/step=1.pt", "a/best_model/again.pt", "b/step=1.pt", "a/kept/step=1.pt"):
        (out / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(out / "a" / "step=1.pt", out / copy)
    rounds(watching, 3)
    # Of one training that is recorded a copy anywhere below it is known; here all are of the run "train".
    assert tasks(queue) == ["acc step=1.pt"] * 2
    found = [watching.ledger.finding(place.id.removeprefix("eval-")) for place in queue.list().places]
    assert {Path(one.path).relative_to(out).parts[0] for one in found if one} == {"a", "b"}
