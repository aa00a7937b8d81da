"""A run from init() to finish()."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

import paddock
from paddock import wire
from paddock.catalog.catalog import Catalog
from paddock.errors import RunExists, RunNotFound, UsageError


def test_facts_are_written_once_and_whole(read, home) -> None:
    run = paddock.init(
        project="digits", name="first", group="g", job_type="train", tags=["a", "b"], notes="try", config={"lr": 0.1}
    )
    facts = read(run.path).facts
    assert run.path == home.runs / run.id
    assert {k: facts[k] for k in ("project", "name", "group", "job_type", "tags", "notes", "config", "id")} == {
        "project": "digits",
        "name": "first",
        "group": "g",
        "job_type": "train",
        "tags": ["a", "b"],
        "notes": "try",
        "config": {"lr": 0.1},
        "id": run.id,
    }
    assert facts["command"] and facts["host"]["name"] and facts["environment"]["packages"]["pytest"]


@dataclasses.dataclass
class Settings:
    lr: float = 0.1
    layers: tuple[int, ...] = (1, 2)


@pytest.mark.parametrize(
    "config", [{"lr": 0.1, "layers": [1, 2]}, argparse.Namespace(lr=0.1, layers=[1, 2]), Settings()]
)
def test_configs_of_every_make(read, config: object) -> None:
    run = paddock.init(config=config)
    assert read(run.path).facts["config"] == {"lr": 0.1, "layers": [1, 2]}


def test_a_config_that_cannot_be_serialised_is_kept_as_far_as_it_can(read, capsys) -> None:
    run = paddock.init(config={"lr": 0.1, "fn": lambda x: x, "nested": {"o": object()}})
    config = read(run.path).facts["config"]
    assert config["lr"] == 0.1
    assert "function" in config["fn"]
    assert "fn, nested.o" in capsys.readouterr().err


def test_config_and_summary_changes_are_recorded(read) -> None:
    run = paddock.init(config={"lr": 0.1})
    run.config.epochs = 3
    run.config.update({"lr": 0.2}, allow_val_change=True)
    run.summary["best"] = float("nan")
    run.log({"loss": 0.5})
    run.log({"loss": 0.25})
    found = read(run.path)
    assert [r["set"] for r in found.records["config"]] == [{"epochs": 3}, {"lr": 0.2}]
    assert found.records["summary"][0]["set"] == {"best": {"$float": "nan"}}
    assert dict(run.config) == {"lr": 0.2, "epochs": 3}
    assert run.summary["loss"] == 0.25
    assert run.summary.get("nothing") is None


def test_a_second_init_returns_the_run_and_reinit_begins_another() -> None:
    first = paddock.init()
    assert paddock.init() is first
    second = paddock.init(reinit=True)
    assert second.id != first.id


def test_runs_one_after_the_other_in_a_process_are_different_runs() -> None:
    ids = set()
    for _ in range(3):
        with paddock.init() as run:
            ids.add(run.id)
    assert len(ids) == 3


def test_an_id_that_is_taken_is_refused_unless_resumed(read) -> None:
    with paddock.init(id="mine") as run:
        run.log({"a": 1})
        run.log({"a": 2})
    with pytest.raises(RunExists, match="resume='allow'"):
        paddock.init(id="mine")
    with paddock.init(id="mine", resume="allow") as again:
        assert again.resumed and again.attempt == 2
        again.log({"a": 3})
    found = read(run.path)
    assert sorted(found.points["a"]) == [(0, 1), (1, 2), (2, 3)]
    assert [r["attempt"] for r in found.records["open"]] in ([1, 2], [2, 1])


def test_resume_must_needs_a_run() -> None:
    with pytest.raises(RunNotFound, match="no run 'none'"):
        paddock.init(id="none", resume="must")
    with pytest.raises(UsageError, match="needs the id"):
        paddock.init(resume="must")
    with pytest.raises(UsageError, match="allow, must, never, auto"):
        paddock.init(resume="sometimes")


@pytest.mark.parametrize("bad", ["../x", "a/b", "", ".hidden", "x" * 200, "a b"])
def test_an_id_that_is_no_name_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="cannot be a run's id"):
        paddock.init(id=bad)


def test_disabled_mode_writes_nothing_and_every_call_works(home, tmp_path) -> None:
    run = paddock.init(mode="disabled", config={"lr": 1})
    run.log({"a": 1})
    run.log_metric("a", 1, tags={"x": 1})
    run.config.lr = 2
    run.mark("x")
    run.alert("x")
    run.define_metric("a", goal="min")
    run.log_text("t", "x")
    run.finish()
    assert list(home.runs.iterdir()) == []
    assert run.config.lr == 2


def test_media_lie_in_files_and_are_recorded(read) -> None:
    run = paddock.init()
    run.log({"picture": paddock.Image(np.zeros((8, 8, 3), np.uint8), caption="black"), "loss": 1.0}, step=3)
    run.log_image("chan/first", np.random.default_rng(0).random((3, 8, 8)))
    run.log_table("scores", columns=["a", "b"], data=[[1, 2], [3, float("nan")]])
    run.log({"weights": paddock.Histogram([1, 2, 3, float("nan")])})
    found = read(run.path)
    image = found.records["image"][0]
    assert image["caption"] == "black" and image["step"] == 3
    assert (run.path / image["path"]).read_bytes().startswith(b"\x89PNG")
    assert (run.path / found.records["table"][0]["path"]).read_bytes().startswith(b'{"columns":["a","b"]')
    assert sum(found.records["histogram"][0]["counts"]) == 3


def test_files_are_saved_by_name_pattern_and_directory(read, capsys, tmp_path: Path) -> None:
    work = tmp_path / "a dir"
    (work / "sub").mkdir(parents=True)
    (work / "x.txt").write_text("x")
    (work / "sub" / "y.txt").write_text("y")
    run = paddock.init()
    run.save(work / "x.txt")
    run.save(f"{work}/**/*.txt", base_path=work)
    assert run.save("nothing*.txt") == []
    assert "no file 'nothing*.txt'" in capsys.readouterr().err
    assert (run.path / "files" / "x.txt").read_text() == "x"
    assert (run.path / "files" / "sub" / "y.txt").read_text() == "y"
    assert {r["path"] for r in read(run.path).records["file"]} == {"files/x.txt", "files/sub/y.txt"}


def test_artifacts_get_versions_and_are_found_by_alias(read, tmp_path: Path) -> None:
    model = tmp_path / "model.bin"
    with paddock.init() as first:
        model.write_bytes(b"one")
        assert first.log_artifact(model, name="model", type="model", aliases=["best"]).version == "v0"
        model.write_bytes(b"two")
        assert first.log_artifact(model, name="model", type="model").version == "v1"
    with paddock.init() as second:
        assert Path(second.use_artifact("model:latest").file()).read_bytes() == b"two"
        assert Path(second.use_artifact("model:best").file()).read_bytes() == b"one"
        with pytest.raises(paddock.PaddockError, match="no version or alias 'v7'"):
            second.use_artifact("model:v7")
    assert {(u["version"], u["run"]) for u in read(second.path).records["use"]} == {("v1", first.id), ("v0", first.id)}


def test_marks_alerts_metrics_and_timings_are_recorded(read) -> None:
    run = paddock.init()
    run.log({"a": 1})
    run.mark("warm", {"lr": 1})
    run.alert("Loss rose", "to 3", level="WARN")
    run.define_metric("val/acc", step_metric="epoch", goal="maximize")
    run.log_runtime("forward", 0.1, 0.01, 10)
    run.log_info({"state.progress": 0.5})
    with pytest.raises(UsageError, match="'min' or 'max'"):
        run.define_metric("x", goal="up")
    found = read(run.path).records
    assert (found["mark"][0]["step"], found["mark"][0]["data"]) == (1, {"lr": 1})
    assert found["alert"][0]["level"] == "warn"
    assert (found["metric"][0]["goal"], found["metric"][0]["x"]) == ("max", "epoch")
    assert found["runtime"][0]["instances"] == 10
    assert found["info"][0]["set"] == {"state.progress": 0.5}


def test_output_is_kept_as_it_was_printed(capsys) -> None:
    run = paddock.init()
    print("to stdout \x1b[31mred\x1b[0m ü")
    run.finish()
    print("after")
    text = (run.path / "output" / "1.log").read_text()
    assert "to stdout \x1b[31mred\x1b[0m ü\n" in text
    assert "after" not in text


def test_half_a_character_that_is_printed_is_kept_escaped(read) -> None:
    run = paddock.init()
    print("half \ud800 of it", file=sys.stderr)
    run.finish()
    assert "half \\ud800 of it\n" in (run.path / "output" / "1.log").read_text()
    assert "dropped" not in read(run.path).records


def test_the_end_is_recorded_with_the_exception(read) -> None:
    with pytest.raises(ZeroDivisionError), paddock.init() as run:
        _ = 1 / 0
    end = read(run.path).records["end"][0]
    assert (end["code"], end["reason"]) == (1, "exception")
    assert end["exception"]["type"] == "ZeroDivisionError"
    assert "1 / 0" in end["exception"]["traceback"]


def test_a_resumed_run_knows_what_was_set_before() -> None:
    with paddock.init(id="known", config={"lr": 1}, tags=["a"]) as run:
        run.config.lr = 2
        run.tags = ["a", "b"]
        run.notes = "first"
        run.summary["best"] = 5
    with paddock.init(id="known", resume="must", config={"lr": 2, "new": 3}) as again:
        assert dict(again.config) == {"lr": 2, "new": 3}
        assert again.tags == ("a", "b")
        assert again.notes == "first"
        assert again.summary["best"] == 5


def test_where_the_last_attempt_runs_is_known_whoever_began_the_run(home, monkeypatch) -> None:
    for place in ("here", "there"):
        monkeypatch.setenv("PLACE", place)
        paddock.init(id="moved", resume="allow").finish()
    with Catalog.open(home) as catalog:
        catalog.refresh()
        assert catalog.facts("moved")["environment"]["variables"]["PLACE"] == "there"
    assert wire.loads(home.run("moved").facts.read_bytes())["environment"]["variables"]["PLACE"] == "here"


def test_what_a_later_attempt_set_counts_whatever_its_clock_said(monkeypatch) -> None:
    for attempt, now in enumerate([5000.0, 3000.0, 4000.0], 1):  # the second one's host is behind
        monkeypatch.setattr("paddock.record.journal.time", lambda now=now: now)
        with paddock.init(id="clocks", resume="allow") as run:
            if attempt == 3:
                assert (run.config.lr, run.summary["best"], run.notes) == (2, 2, "attempt 2")
                break
            run.config.update({"lr": attempt}, allow_val_change=True)
            run.summary["best"] = attempt
            run.notes = f"attempt {attempt}"


def test_names_that_no_encoding_holds_do_not_raise(read) -> None:
    run = paddock.init()
    run.mark("bad \udcff", {"x": object()})
    run.log({"odd \udcff": 1.0, "fine": 2.0})
    run.log_text("t", "text \udcff")
    assert read(run.path).values("fine") == [2.0]


def test_secrets_in_a_config_stay_in_the_process(read) -> None:
    run = paddock.init(config={"lr": 1, "api_key": "hunter2", "model": {"hf_token": "x", "eos_token": "</s>"}})
    run.config.update({"password": "hunter3"})
    found = read(run.path)
    hidden = "<redacted>"
    assert found.facts["config"] == {"lr": 1, "api_key": hidden, "model": {"hf_token": hidden, "eos_token": "</s>"}}
    assert found.records["config"][0]["set"] == {"password": "<redacted>"}
    assert run.config.api_key == "hunter2"


def test_settings_are_honoured_where_they_mean_something(read, home, tmp_path, capsys) -> None:
    said = paddock.Settings(run_id="s1", run_name="first", project="digits", quiet=True, console="off", init_timeout=9)
    with paddock.init(name="mine", settings=said) as run:
        print("not kept")
    assert (run.id, run.name, run.project) == ("s1", "mine", "digits")
    assert not (run.path / "output").exists() and "s1" not in capsys.readouterr().err
    with paddock.init(settings={"run_tags": ["a"], "root_dir": tmp_path / "other", "silent": True}) as run:
        run.log({"bad": object()})
    assert run.path.parent == tmp_path / "other" / "runs" and run.tags == ("a",)
    assert capsys.readouterr().err == ""
    assert read(run.path).records["dropped"][-1]["counts"] == {"unserialisable": 1}
    with paddock.init(settings=paddock.Settings(mode="disabled")) as run:
        assert run.disabled
    assert paddock.init(mode="offline", settings=paddock.Settings(mode="disabled")).disabled is False


def test_of_real_wandb_settings_only_what_was_set_counts(home) -> None:
    class Theirs:
        model_fields_set = {"project"}
        project, mode, root_dir = "digits", "disabled", "/nowhere"

    run = paddock.init(settings=Theirs())
    assert (run.project, run.disabled, run.path.parent) == ("digits", False, home.runs)


def test_models_are_artifacts_also_without_naming_the_run(read, tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"one")
    run = paddock.init()
    paddock.log_model(tmp_path / "model.bin", name="net")
    assert Path(paddock.use_model("net:latest")).read_bytes() == b"one"
    paddock.link_model(tmp_path / "model.bin", "registry/net", name="net")
    paddock.mark_preempting()
    found = read(run.path).records
    assert found["artifact"][0]["type"] == "model"
    assert [mark["name"] for mark in found["mark"]] == ["link", "preempting"]


@pytest.mark.parametrize("address", ["no:such:thing", "http://here/?q", "gpu7:0", "a b"])
def test_a_mistake_in_the_address_is_said_before_there_is_a_run(home, address: str) -> None:
    with pytest.raises(UsageError, match=r"address|port"):
        paddock.init(address=address)
    assert list(home.runs.iterdir()) == [] and paddock.run is None


def test_a_mistake_in_the_address_of_a_server_of_its_own_is_said_before_there_is_a_run(home) -> None:
    with pytest.raises(UsageError, match="address"):
        paddock.init(serve="a b")
    assert list(home.runs.iterdir()) == [] and paddock.run is None
