"""What a server takes: each byte once, in its place, and nothing over anything else."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

import paddock
from paddock.errors import HomeError, Unreachable
from paddock.monitor.ingest.store import Store
from paddock.record import code, stop
from paddock.record.annotation import annotate
from paddock.record.layout import Home
from paddock.track.ship import receipt
from paddock.track.ship.carrier import Carrier, send_all
from paddock.track.ship.parcel import Answer, Ask, Brought, Header, Part
from tests.unit.monitor.ingest.conftest import Straight, same, tree

W = "runs/a/journal/w.jsonl"


def put(store: Store, at: int, data: bytes, path: str = W, **more: object) -> Answer:
    (answer,) = store.take(Header(1, [Part(path, at, len(data), **more)]), [memoryview(data)])  # type: ignore[arg-type]
    return answer


def test_bytes_are_appended_at_the_end_only(store: Store, there: Home) -> None:
    file = there.path / W
    assert put(store, 0, b"one\n") == Answer(4)
    assert put(store, 4, b"two\n") == Answer(8)
    assert put(store, 100, b"hole") == Answer(8)
    assert put(store, 0, b"one\n") == Answer(8), "sent again"
    assert put(store, 4, b"two\nthree\n") == Answer(14), "and more"
    assert put(store, 2, b"X\n") == Answer(14, conflict=True)
    assert put(store, 12, b"e\nFOUR", before=(4, crc32(b"two\n"))) == Answer(14, conflict=True)
    assert put(store, 14, b"4\n", before=(6, crc32(b"three\n"))) == Answer(16)
    assert file.read_bytes() == b"one\ntwo\nthree\n4\n"


def test_ranges_in_any_order_again_and_again_give_the_same_file(store: Store, there: Home) -> None:
    chance = random.Random(0)
    data = chance.randbytes(10_000)
    have = 0
    while have < len(data):
        at = max(0, have - chance.randrange(3000)) if chance.random() < 0.7 else chance.randrange(len(data))
        piece = data[at : at + chance.randrange(2000)]
        check = min(at, chance.randrange(100))
        have = put(store, at, piece, before=(check, crc32(data[at - check : at]))).have
    assert (there.path / W).read_bytes() == data


def test_what_the_server_says_it_has_is_what_is_on_its_disk(store: Store, there: Home) -> None:
    assert store.answer([Ask(W)]) == [Answer(0)]
    put(store, 0, b"0123456789")
    assert store.answer([Ask(W, head=(4, crc32(b"0123")))]) == [Answer(10)]
    other = store.answer([Ask(W, head=(4, crc32(b"abcd")))])
    assert other == [Answer(0, kept_as="runs/a/journal/w~1.jsonl")]
    os.truncate(there.path / W, 3)  # as a power cut may
    assert store.answer([Ask(W)]) == [Answer(3)]
    assert put(store, 10, b"x") == Answer(3)


def test_a_journal_that_the_server_has_packed_goes_on(store: Store, there: Home) -> None:
    put(store, 0, b"one\n")
    plain = there.path / W
    plain.with_suffix(".jsonl.gz").write_bytes(gzip.compress(b"one\n"))
    plain.unlink()
    assert store.answer([Ask(W, head=(4, crc32(b"one\n")))]) == [Answer(4)]
    plain.with_suffix(".jsonl.gz").write_bytes(gzip.compress(b"one\n"))
    plain.unlink()
    assert put(store, 4, b"two\n") == Answer(8)
    assert tree(there.path / "runs/a") == {"journal/w.jsonl": b"one\ntwo\n"}


def test_a_run_that_was_removed_at_the_server_is_sent_anew(store: Store, there: Home) -> None:
    put(store, 0, b"one\n")
    (there.path / W).unlink()
    (there.path / W).parent.rmdir()
    assert put(store, 4, b"two\n") == Answer(0)
    assert put(store, 0, b"one\ntwo\n") == Answer(8)


def test_a_link_at_the_server_is_not_followed(store: Store, there: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (there.runs / "a" / "files").mkdir(parents=True)
    (there.runs / "a" / "files" / "data").symlink_to(outside)
    (there.runs / "a" / "journal").symlink_to(outside)
    (there.runs / "b" / "journal").mkdir(parents=True)
    (there.runs / "b" / "journal" / "w.jsonl").symlink_to(outside / "w.jsonl")
    digest = hashlib.sha256(b"x").hexdigest()
    assert put(store, 0, b"x", "runs/a/files/data/x", total=1, digest=digest).refused
    assert put(store, 0, b"x", W).refused
    found = put(store, 0, b"x", "runs/b/journal/w.jsonl")
    assert found.refused or found.failed
    assert list(outside.iterdir()) == []


def test_two_servers_do_not_receive_into_one_home(store: Store, there: Home) -> None:
    with pytest.raises(HomeError, match="Another server"):
        Store(there)


def test_a_run_arrives_byte_by_byte(home: Home, there: Home, send: Callable[..., str], straight: Straight) -> None:
    with paddock.init(id="a", config={"lr": 0.1}) as run:
        for step in range(100):
            run.log({"loss": step})
        print("said something")
        (run.path / "files").mkdir(exist_ok=True)
        (run.path / "files" / "model.bin").write_bytes(os.urandom(5 << 20))
        (run.path / "files" / "empty").touch()
        (run.path / "files" / "a ü\udcff.txt").write_text("odd")
    assert send("a") == ""
    assert same(home, there, "a")
    assert (there.runs / "a/files/model.bin").stat().st_mtime_ns == (home.runs / "a/files/model.bin").stat().st_mtime_ns
    before = straight.parcels
    assert send("a") == "" and straight.parcels == before, "nothing is sent twice"


def test_what_was_sent_is_known_to_nobody_but_the_server(home: Home, there: Home, straight: Straight) -> None:
    paddock.init(id="a").finish()
    for _ in range(3):
        send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    assert same(home, there, "a") and straight.parcels == 2, "the facts, then the rest; later nothing"


def test_an_answer_that_got_lost_costs_nothing(home: Home, there: Home, straight: Straight) -> None:
    with paddock.init(id="a") as run:
        run.log({"loss": 1})
        (run.path / "files").mkdir()
        (run.path / "files" / "x").write_bytes(bytes(100))
        for _ in range(10):
            straight.cut = True
            with pytest.raises(ConnectionError):
                send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
            run.log({"loss": 2})
    send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    assert same(home, there, "a")


def test_code_comes_with_the_run_and_is_kept_once(
    home: Home, there: Home, straight: Straight, carrier: Carrier, send: Callable[..., str]
) -> None:
    entries = {}
    for name in ("a.py", "b.py"):
        data = name.encode() * 100
        entries[name] = {"digest": code.put_object(home, data), "mode": "644", "size": len(data)}
    digest = code.put_manifest(home, entries)
    late = code.put_manifest(home, {"a.py": entries["a.py"]})
    for run_id in ("a", "b"):
        with paddock.init(id=run_id) as run:
            run._append({"k": "code", "code": {"snapshot": digest if run_id == "a" else late}})
    assert send("a", "b") == ""
    assert tree(home.code) == tree(there.code)
    assert same(home, there, "a") and same(home, there, "b")


def test_artifacts_are_numbered_by_the_server(tmp_path: Path, there: Home, straight: Straight) -> None:
    """Two clients have each a version 0 of `model`; one is the same as the other's."""
    for number, content in enumerate((b"one", b"two", b"one")):
        home = Home(tmp_path / f"client{number}")
        home.prepare()
        file = tmp_path / "weights"
        file.write_bytes(content)
        with paddock.init(id=f"r{number}", dir=home.path, reinit=True) as run:
            run.log_artifact(file, name="model", type="model", aliases=["best"])
        for _ in range(2):
            send_all(Carrier(home, straight, print), [f"r{number}"], lambda _: None)  # type: ignore[arg-type]
    shelf = {path.name for path in (there.path / "artifacts" / "model").iterdir()}
    assert shelf == {"v0.json", "v1.json", "again0.json"}
    with paddock.init(dir=there.path) as run:
        assert (run.use_artifact("model:v0").get_path("weights")).read_bytes() == b"one"
        assert (run.use_artifact("model:v1").get_path("weights")).read_bytes() == b"two"
        assert run.use_artifact("model:best").version == "v0", "said last"


def test_somebody_elses_run_of_the_same_id_is_refused(
    tmp_path: Path, there: Home, straight: Straight, said: list[str]
) -> None:
    for number in range(2):
        home = Home(tmp_path / f"client{number}")
        paddock.init(id="best", dir=home.path).finish()
        carrier = Carrier(home, straight, lambda _, sentence: said.append(sentence))  # type: ignore[arg-type]
        send_all(carrier, ["best"], lambda _: None)
    assert same(Home(tmp_path / "client0"), there, "best")
    assert len(said) == 1 and "The server has another run 'best'" in said[0] and "stays in" in said[0]
    assert list(carrier.refused) == ["best"]


def test_ranks_that_see_no_common_disk_write_one_run(
    tmp_path: Path, there: Home, straight: Straight, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = {"WORLD_SIZE": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2"}
    for rank in "01":
        for name, value in {**launch, "RANK": rank, "SLURM_PROCID": rank}.items():
            monkeypatch.setenv(name, value)
        home = Home(tmp_path / f"host{rank}")
        with paddock.init(dir=home.path) as run:
            run.log({"loss": int(rank)})
        send_all(Carrier(home, straight, print), [run.id], lambda _: None)  # type: ignore[arg-type]
    assert len(list((there.runs / run.id / "journal").iterdir())) == 2


def test_a_journal_of_the_same_name_with_other_bytes_is_kept_beside(
    tmp_path: Path, there: Home, home: Home, straight: Straight, send: Callable[..., str], said: list[str]
) -> None:
    run = paddock.init(id="a")
    run.finish()
    (journal,) = run.path.glob("journal/*")
    name = journal.name.removesuffix(".jsonl")
    (there.runs / "a" / "journal").mkdir(parents=True)
    (there.runs / "a" / "journal" / journal.name).write_bytes(b"something else\n" * 40)
    send("a")
    assert (there.runs / "a" / "journal" / f"{name}~1.jsonl").read_bytes() == journal.read_bytes()
    assert (there.runs / "a" / "journal" / journal.name).read_bytes() == b"something else\n" * 40
    assert any(f"kept there as runs/a/journal/{name}~1.jsonl" in sentence for sentence in said)
    before = straight.parcels
    send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    assert straight.parcels == before


def test_damage_in_the_middle_of_the_servers_copy_is_noticed(home: Home, there: Home, send: Callable[..., str]) -> None:
    with paddock.init(id="a") as run:
        for step in range(500):
            run.log({"loss": step})
        send("a")
        (journal,) = (there.runs / "a" / "journal").iterdir()
        whole = journal.read_bytes()
        journal.write_bytes(whole[:-100] + bytes(100))
        run.log({"loss": 1})
    send("a")
    names = sorted(path.name for path in (there.runs / "a" / "journal").iterdir())
    assert len(names) == 2 and names[1] == names[0].replace(".jsonl", "~1.jsonl")
    (mine,) = run.path.glob("journal/*")
    assert (there.runs / "a" / "journal" / names[1]).read_bytes() == mine.read_bytes()


def test_output_that_was_truncated_is_kept_beside_what_came_before(
    home: Home, there: Home, send: Callable[..., str], straight: Straight
) -> None:
    output = home.runs / "a" / "output" / "1.log"
    output.parent.mkdir(parents=True)
    (home.runs / "a" / "journal").mkdir()
    output.write_bytes(b"line\n" * 10)
    send("a")
    output.write_bytes(b"line\n" * 2)  # the same beginning
    send("a")
    found = tree(there.runs / "a")
    assert found == {"output/1.log": b"line\n" * 10, "output/1~1.log": b"line\n" * 2}
    send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    assert tree(there.runs / "a") == found, "to another client it is the beginning of the first"


def test_a_file_that_was_replaced_is_replaced(home: Home, there: Home, send: Callable[..., str]) -> None:
    file = home.runs / "a" / "files" / "x"
    file.parent.mkdir(parents=True)
    for content in (b"one", b"two!", b"six", b"six", b""):
        file.write_bytes(content)
        send("a")
        assert (there.runs / "a" / "files" / "x").read_bytes() == content


def test_a_large_file_goes_on_where_it_was(home: Home, there: Home, straight: Straight) -> None:
    file = home.runs / "a" / "files" / "x"
    file.parent.mkdir(parents=True)
    file.write_bytes(os.urandom(9 << 20))
    straight.cut = True
    with pytest.raises(ConnectionError):
        send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    steps: list[int] = []
    send_all(Carrier(home, straight, print), ["a"], lambda step: steps.append(step.sent))  # type: ignore[arg-type]
    assert sum(steps) == 7 << 20
    assert same(home, there, "a")
    assert list((there.path / "server" / "incoming").iterdir()) == []


def test_a_line_that_lets_only_a_little_through_gets_little_parcels(
    home: Home, there: Home, straight: Straight, carrier: Carrier
) -> None:
    file = home.runs / "a" / "files" / "x"
    file.parent.mkdir(parents=True)
    file.write_bytes(os.urandom(500_000))
    straight.most, carried = 40_000, False
    carrier.add("a")
    for _ in range(100):
        with contextlib.suppress(Unreachable):
            carried = not carrier.step(final=True).busy
            if carried:
                break
    assert carried and same(home, there, "a")


def test_a_packed_journal_arrives_plain(home: Home, there: Home, send: Callable[..., str]) -> None:
    from paddock.record.pack import pack_run

    with paddock.init(id="a") as run:
        run.log({"loss": 1})
    whole = tree(home.runs / "a")
    pack_run(home.runs / "a" / "journal")
    send("a")
    assert tree(there.runs / "a") == whole


def test_a_full_disk_is_said_and_costs_nothing(
    home: Home, there: Home, straight: Straight, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file may grow by 100 bytes only, as `ulimit -f` says."""
    import resource
    import signal

    with paddock.init(id="a") as run:
        for step in range(100):
            run.log({"loss": step})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, before[1]))
    try:
        trouble = send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert trouble == "File too large"
    send_all(Carrier(home, straight, print), ["a"], lambda _: None)  # type: ignore[arg-type]
    assert same(home, there, "a")


def test_the_servers_own_home_is_not_sent_to_itself(there: Home, straight: Straight) -> None:
    paddock.init(id="a", dir=there.path).finish()
    carrier = Carrier(there, straight, print)  # type: ignore[arg-type]
    send_all(carrier, ["a"], lambda _: None)
    assert carrier.same_home and straight.parcels == 0


def test_what_people_say_at_the_server_comes_back_to_the_run(
    home: Home, there: Home, straight: Straight, send: Callable[..., str]
) -> None:
    with paddock.init(id="a") as run:
        send("a")
        writer = annotate(there.run("a"), {"k": "answer", "ask": "q1", "text": "yes"})
        stop.ask(there.run("a"), 1, "enough")
        (there.runs / "a" / "journal" / f"{writer}.jsonl").chmod(0o600)
        assert not run.should_stop()
        run.log({"loss": 1})
        send("a")
        answer = home.runs / "a" / "journal" / f"{writer}.jsonl"
        assert answer.read_bytes() == (there.runs / "a" / "journal" / answer.name).read_bytes()
        assert answer.stat().st_mode & 0o077 == 0
        assert stop.asked(home.run("a")) == stop.Stop(1, "enough")
    send("a")
    assert same(home, there, "a")


def test_a_server_can_put_nothing_but_annotations_into_a_run(home: Home) -> None:
    run = paddock.init(id="a")
    before = tree(home.runs / "a")
    for path in ("run.json", "../../x", "journal/../x.jsonl", "journal/.x.jsonl", "files/x", "journal/x.jsonl"):
        receipt.put(home.run("a"), [Brought(path, "not a journal of the kind")])
    receipt.put(home.run("a"), [Brought("stop.json", "no json")])
    assert tree(home.runs / "a") == before
    run.finish()
