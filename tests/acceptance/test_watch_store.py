"""Checkpoints in a bucket of a real S3 server."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import bucket

s3fs = pytest.importorskip("s3fs")
pytestmark = [
    pytest.mark.skipif(not bucket.program(), reason="SeaweedFS is not installed"),
    pytest.mark.filterwarnings("ignore"),  # of its libraries
]

EVALUATOR = """
import os, zipfile

def size(path):
    print("given", path)
    if os.path.isdir(path):
        return sum(len(files) for _, _, files in os.walk(path))
    with zipfile.ZipFile(path) as file:
        return len(file.read("data"))

def url(path):
    return {"is_url": path.startswith("s3://")}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with bucket.server(tmp_path_factory.mktemp("weed")) as environment:
        yield environment


@pytest.fixture
def store(server: dict[str, str], program: Any, request: pytest.FixtureRequest) -> Any:
    """With a place for one test; the command line finds it too."""
    program.environment |= server
    (program.cwd / "metrics.py").write_text(EVALUATOR)
    found = s3fs.S3FileSystem(
        key="any", secret="any", endpoint_url=server["AWS_ENDPOINT_URL"], use_listings_cache=False, asynchronous=False
    )
    found.mkdirs("models", exist_ok=True)
    found.place = f"models/{request.node.name}"
    return found


def archive(content: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("data", content)
    return out.getvalue()


def look(program: Any, store: Any, *options: str) -> None:
    options = options or ("--evaluator", "metrics.py:size")
    found = program("watch", f"s3://{store.place}/run", "--once", "--eval-existing", "--quiet-time", "0s", *options)
    assert found.code == 0, found.err


def work(program: Any) -> None:
    found = program("worker", "evaluation", "--no-persist", "--slots", "2")
    assert found.code == 0, found.err


def results(program: Any) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in program.home.glob("watches/*/ledger/*.result")]


def test_objects_and_prefixes_are_evaluated_on_a_copy_that_is_removed(program: Any, store: Any) -> None:
    store.pipe(f"{store.place}/run/step=100.pt", archive("12345"))
    for name in ("config.json", "model.safetensors", "training_args.bin", "deep/er.json"):
        store.pipe(f"{store.place}/run/checkpoint-200/{name}", b"{}")
    look(program, store)
    assert len(list(program.home.glob("watches/*/ledger/*.json"))) == 1  # trainer_state.json is not there yet
    store.pipe(f"{store.place}/run/checkpoint-200/trainer_state.json", b'{"global_step": 200}')
    look(program, store)
    work(program)
    (run,) = program("ls", "job_type=train", "--json").json["runs"]
    assert run["name"] == "run" and run["metrics"]["eval/size/score"]["count"] == 2
    values = program("series", run["id"], "eval/size/score").out.split()[2:]
    assert values == ["100", "5", "200", "5"]
    (one, _) = program("ls", "job_type=eval", "--json").json["runs"]
    given = program("logs", one["id"]).out.split("given ")[1].split()[0]
    assert os.path.isabs(given) and not os.path.exists(given)
    assert not list(Path(program.environment["PADDOCK_CACHE"]).glob("checkpoints/*"))


def test_an_object_that_is_written_over_is_new_and_a_copy_is_not(program: Any, store: Any) -> None:
    store.pipe(f"{store.place}/run/last.pt", archive("one"))
    look(program, store)
    store.copy(f"{store.place}/run/last.pt", f"{store.place}/run/best.pt")
    look(program, store)
    work(program)
    assert [one["values"] for one in results(program)] == [{"score": 3}]
    store.pipe(f"{store.place}/run/last.pt", archive("other"))
    look(program, store)
    work(program)
    assert sorted(one["values"]["score"] for one in results(program)) == [3, 5]


def test_what_is_gone_before_its_turn_is_missed_with_the_reason(program: Any, store: Any) -> None:
    store.pipe(f"{store.place}/run/step=1.pt", archive("one"))
    store.pipe(f"{store.place}/run/step=2.pt", archive("two"))
    look(program, store)
    store.rm(f"{store.place}/run/step=1.pt")
    store.pipe(f"{store.place}/run/step=2.pt", archive("three"))
    work(program)
    found = sorted((one["state"], one["reason"]) for one in results(program))
    assert found == [
        ("missed", "it was deleted before it was evaluated"),
        ("missed", "it was written over before it was evaluated"),
    ]


def test_the_evaluator_may_have_the_url_itself(program: Any, store: Any) -> None:
    store.pipe(f"{store.place}/run/step=1.pt", archive("one"))
    look(program, store, "--evaluator", "metrics.py:url", "--no-download")
    work(program)
    assert [one["values"] for one in results(program)] == [{"is_url": True}]


def test_a_bucket_that_is_not_there_is_named(program: Any, store: Any) -> None:
    found = program("watch", "s3://no-such-bucket/run", "--once", "--evaluator", "metrics.py:size")
    assert (found.code, "s3://no-such-bucket/run cannot be listed" in found.err) == (2, True), found.err
