"""Checkpoints in a bucket: of a real S3 server, and of an emulator of Google's storage."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.acceptance import bucket
from tests.waiting import until

os.environ |= bucket.GOOGLE  # before its library is imported
pytestmark = pytest.mark.filterwarnings("ignore")  # of their libraries
EVALUATOR = """
import os, zipfile

def size(path):
    print("given", path)
    if os.path.isdir(path):
        return sum(len(files) for _, _, files in os.walk(path))
    with zipfile.ZipFile(path) as file:
        return len(file.read("data"))

def url(path):
    return {"is_url": "://" in path}
"""


class Bucket(NamedTuple):
    scheme: str
    files: Any  # as fsspec has it
    place: str  # for one test

    def put(self, name: str, content: bytes) -> None:
        self.files.pipe(f"{self.place}/{name}", content)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.place}/run"


Server = tuple[str, dict[str, str]]  # the scheme, and the environment that leads there


@pytest.fixture(scope="module", params=["s3", "gs"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    scheme = request.param
    if (not bucket.program() or not find_spec("s3fs")) if scheme == "s3" else not find_spec("gcp_storage_emulator"):
        pytest.skip(f"no server of {scheme}:// is installed")
    begin = bucket.server if scheme == "s3" else bucket.google
    with begin(tmp_path_factory.mktemp(scheme)) as environment:
        yield scheme, environment


@pytest.fixture
def store(server: Server, program: Any, request: pytest.FixtureRequest) -> Bucket:
    """With a place for one test; the command line finds it too."""
    import fsspec

    scheme, environment = server
    program.environment |= environment
    (program.cwd / "metrics.py").write_text(EVALUATOR)
    options: dict[str, Any] = {"token": "anon", "endpoint_url": environment.get("STORAGE_EMULATOR_HOST")}
    if scheme == "s3":
        options = {"key": "any", "secret": "any", "endpoint_url": environment["AWS_ENDPOINT_URL"]}
    files = fsspec.filesystem(scheme, use_listings_cache=False, asynchronous=False, **options)
    if not files.exists("models"):
        files.mkdir("models")
    return Bucket(scheme, files, f"models/{request.node.originalname}")


def archive(content: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("data", content)
    return out.getvalue()


@contextmanager
def watching(program: Any, store: Bucket, *options: str) -> Iterator[subprocess.Popen[str]]:
    words = ("--eval-existing", "--quiet-time", "0s", "--polling-interval", "0.2", "--num-eval-workers", "2")
    process = program.start("watch", store.url, *words, *options)
    try:
        yield process
        assert process.poll() is None, process.communicate()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def found(program: Any, kind: str = "result") -> list[dict[str, Any]]:
    said = []
    for path in program.home.glob(f"watches/*/ledger/*.{kind}"):
        with suppress(FileNotFoundError):  # the result of what is back goes
            said.append(json.loads(path.read_bytes()))
    return said


def scores(program: Any) -> list[int]:
    return sorted(one["values"]["score"] for one in found(program))


def test_each_object_and_prefix_is_evaluated_once_it_is_complete_on_a_copy_that_is_removed(
    program: Any, store: Bucket
) -> None:
    store.put("run/step=100.pt", archive("12345"))
    for name in ("config.json", "model.safetensors", "training_args.bin", "deep/er.json", "more.json", "most.json"):
        store.put(f"run/checkpoint-200/{name}", b"{}")
    with watching(program, store, "--evaluator", "metrics.py:size"):
        until(lambda: scores(program) == [5])
        assert len(found(program, "json")) == 1  # trainer_state.json is not there yet
        store.files.copy(f"{store.place}/run/step=100.pt", f"{store.place}/run/best.pt")
        store.put("run/checkpoint-200/trainer_state.json", b'{"global_step": 200}')
        store.put("run/last.pt", archive("one"))
        until(lambda: scores(program) == [3, 5, 7])
        store.put("run/last.pt", archive("fourth"))  # it is written over, and best.pt is a copy
        until(lambda: scores(program) == [3, 5, 6, 7])
        until(lambda: len(list(program.home.glob("queues/evaluation/done/*"))) == 4)  # a copy goes after its result
    (run,) = program("ls", "job_type=train", "--json").json["runs"]
    assert run["name"] == "run" and run["metrics"]["eval/size/score"]["count"] == 4
    values = program("series", run["id"], "eval/size/score").out.split()
    assert values[values.index("100") + 1] == "5" and values[values.index("200") + 1] == "7"
    one = program("ls", "job_type=eval", "--json").json["runs"][0]
    given = program("logs", one["id"]).out.split("given ")[1].split()[0]
    assert os.path.isabs(given) and not os.path.exists(given)
    assert not list(Path(program.environment["PADDOCK_CACHE"]).glob("checkpoints/*"))


@pytest.mark.parametrize("server", ["s3"], indirect=True)  # the rest is the same code
def test_what_is_gone_before_its_turn_is_missed_and_is_evaluated_when_it_is_back(program: Any, store: Bucket) -> None:
    one = archive("one")  # the very bytes come back: an archive of a second later says so, and is another object
    store.put("run/step=1.pt", one)
    store.put("run/step=2.pt", archive("two"))
    with watching(program, store, "--evaluator", "metrics.py:url", "--no-download", "--no-worker"):
        until(lambda: len(found(program, "json")) == 2)
        store.files.rm(f"{store.place}/run/step=1.pt")
        store.put("run/step=2.pt", archive("three"))
        assert program("worker", "evaluation", "--no-persist", "--slots", "3").code == 0
        until(lambda: len(found(program, "json")) == 3)
        missed = sorted(one["reason"] for one in found(program) if one["state"] == "missed")
        assert missed == ["it was deleted before it was evaluated", "it was written over before it was evaluated"]
        store.put("run/step=1.pt", one)
        until(lambda: len(list(program.home.glob("queues/evaluation/queued/*eval-*"))) >= 1)
        until(lambda: [one["state"] for one in found(program)].count("missed") == 1)
        assert program("worker", "evaluation", "--no-persist", "--slots", "3").code == 0
    done = [one["values"] for one in found(program) if one["state"] == "done"]
    assert done == [{"is_url": True}] * 2


def test_a_bucket_that_is_not_there_is_named(program: Any, store: Bucket) -> None:
    url = f"{store.scheme}://no-such-bucket/run"
    answer = program("watch", url, "--once", "--command", "true {path}")
    assert (answer.code, f"{url} cannot be listed" in answer.err) == (2, True), answer.err
