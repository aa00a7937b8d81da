"""Artifacts: versioned sets of files, found again by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import paddock
from paddock.errors import NotFound


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.bin"
    path.write_bytes(b"one")
    return path


def log(path: Path, *aliases: str, **about: str) -> tuple[paddock.Run, paddock.Artifact]:
    with paddock.init() as run:
        return run, run.log_artifact(path, name="net", aliases=aliases, **about)


def used(which: str) -> bytes:
    with paddock.init() as run:
        return Path(run.use_artifact(which).file()).read_bytes()


def test_what_was_removed_with_its_run_is_said_to_be_gone(model: Path) -> None:
    first, _ = log(model)
    model.write_bytes(b"two")
    second, _ = log(model)
    shutil.rmtree(first.path)
    assert used("net") == b"two"
    with pytest.raises(NotFound, match=rf"net:v0 are gone: the run {first.id} .* Still there: v1"):
        used("net:v0")
    shutil.rmtree(second.path)
    with pytest.raises(NotFound, match=r"net:v1 are gone.*No other version is left"):
        used("net")


def test_equal_content_is_the_same_version_and_stored_once(read, model: Path) -> None:
    first, one = log(model, "best")
    model.write_bytes(b"two")
    log(model)
    model.write_bytes(b"one")
    second, again = log(model, "final")
    assert (again.version, again.digest) == ("v0", one.digest)
    assert Path(again.file()).samefile(one.file()) and again.path != one.path
    record = read(second.path).records["artifact"][0]
    assert (record["version"], record["run"], record["aliases"]) == ("v0", second.id, ["final"])
    assert used("net:best") == used("net:final") == used("net:latest") == b"one"
    shutil.rmtree(first.path)
    assert used("net:v0") == b"one"  # the other run keeps it
    assert log(model)[1].version == "v0"


def test_an_alias_is_where_it_was_put_last(model: Path) -> None:
    for content in (b"one", b"two", b"one"):
        model.write_bytes(content)
        log(model, "best")
    assert used("net:best") == b"one"
    model.write_bytes(b"two")
    log(model)
    assert used("net:best") == b"one" and used("net") == b"two"
    model.write_bytes(b"six")
    assert log(model, "best")[1].version == "v2"
    assert used("net:best") == used("net") == b"six"


def test_the_same_run_logs_the_same_twice_without_another_copy(model: Path) -> None:
    with paddock.init() as run:
        paths = {run.log_artifact(model, name="net").path for _ in range(3)}
    assert len(paths) == 1


def test_another_type_size_or_name_is_another_version(model: Path, tmp_path: Path) -> None:
    log(model)
    assert log(model, type="dataset")[1].version == "v1"
    model.write_bytes(b"none")
    assert log(model)[1].version == "v2"
    other = tmp_path / "other.bin"
    other.write_bytes(b"none")
    assert log(other)[1].version == "v3"


def test_references_are_part_of_the_content() -> None:
    versions = []
    for uri in ("s3://a/b", "s3://a/b", "s3://a/c"):
        artifact = paddock.Artifact("data")
        artifact.add_reference(uri, "b")
        with paddock.init() as run:
            versions.append(run.log_artifact(artifact).version)
    assert versions == ["v0", "v0", "v1"]


def test_a_version_that_is_gone_is_stored_anew(model: Path) -> None:
    first, _ = log(model)
    shutil.rmtree(first.path)
    assert log(model)[1].version == "v1"
    assert used("net") == b"one"
