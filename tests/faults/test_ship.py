"""Runs on their way to a server: whatever dies, is cut, slow or full in between, each byte arrives once."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.address import Address
from paddock.catalog.catalog import Catalog
from paddock.errors import PaddockError, Unreachable
from paddock.record.layout import Home
from paddock.record.process import exists
from paddock.track.ship import parcel
from paddock.track.ship.connection import Connection
from paddock.track.ship.parcel import Header, Part
from tests.faults.harbour import TOKEN, Harbour, Line, differences, environment, files_of, harbour, is_prefix
from tests.waiting import DEADLINE, until

# Logs, prints and saves until it is told to end. Its journal is what the server must have in the end.
CLIENT = """
import os, sys, time
import paddock
number, stop, pace = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
run = paddock.init(id=f"c{number}", config={"number": number})
step = 0
while not os.path.exists(stop):
    run.log({"loss": step * 0.5, "step": step}, step=step)
    if step % 100 == 0:
        print("step", step)
        run.log({"text": "x" * 3000})
    if step % 400 == 0:
        with open(run.dir + f"/saved{step}.bin", "wb") as file:
            file.write(os.urandom(100_000))
    step += 1
    time.sleep(pace)
"""


@pytest.fixture
def there(tmp_path: Path) -> Home:
    return Home(tmp_path / "server")


@pytest.fixture
def clients(tmp_path: Path, home: Home) -> Iterator[Clients]:
    found = Clients(tmp_path, home)
    yield found
    found.end(kill=True)


class Clients:
    def __init__(self, path: Path, home: Home) -> None:
        self._stop, self._home, self._script = path / "stop", home, path / "client.py"
        self._script.write_text(CLIENT)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, count: int, server: dict[str, str], pace: float = 0.005, **more: str) -> None:
        environ = environment(self._home, server, PADDOCK_SHIP_SECONDS="100", **more)
        for number in range(len(self.processes), len(self.processes) + count):
            words = [sys.executable, str(self._script), str(number), str(self._stop), str(pace)]
            self.processes.append(subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL))

    def logged(self) -> bool:
        found = [list(self._home.runs.glob(f"c{n}/journal/*.jsonl")) for n in range(len(self.processes))]
        return all(journals and journals[0].stat().st_size > 1500 for journals in found)

    def end(self, kill: bool = False) -> list[int]:
        self._stop.touch()
        for process in self.processes:
            if kill:
                process.kill()
            process.wait(timeout=DEADLINE)
        self._stop.unlink()
        return [process.returncode for process in self.processes]


class Witness:
    """A client that remembers what the server has acknowledged."""

    def __init__(self, port: int) -> None:
        self._connection = Connection(Address("127.0.0.1", port), TOKEN)
        self.acknowledged, self.data, self._stop = 0, bytearray(), False
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        chance = random.Random(1)
        while not self._stop:
            self.data += chance.randbytes(chance.randrange(1, 50_000))
            piece = bytes(self.data[self.acknowledged : self.acknowledged + (1 << 20)])
            part = Part("runs/witness/journal/w.jsonl", self.acknowledged, len(piece))
            try:
                self.acknowledged = self._connection.send(Header(1, [part]), [piece]).files[0].have
            except PaddockError:
                time.sleep(0.05)

    def close(self) -> None:
        self._stop = True
        self._thread.join()
        self._connection.close()


def test_a_server_that_is_killed_again_and_again_has_every_byte_once(
    clients: Clients, home: Home, there: Home, long: bool
) -> None:
    """With --all-faults: 50 clients, 20 kills."""
    chance = random.Random(5)
    kept = there.runs / "witness" / "journal" / "w.jsonl"
    with harbour(there) as server:
        clients.start(50 if long else 5, server.environment, 0.05 if long else 0.005)
        until(clients.logged)
        witness = Witness(server.port)
        try:
            for _ in range(20 if long else 3):
                time.sleep(chance.uniform(0.1, 1.5 if long else 0.5))
                server.kill()
                acknowledged = witness.acknowledged
                size = kept.stat().st_size if kept.exists() else 0  # the first kill may come before the first byte
                assert size >= acknowledged, "what was acknowledged is there"
                assert is_prefix(home, there), "and nothing that was not sent"
                server.start()
            until(lambda: witness.acknowledged > acknowledged)
        finally:
            witness.close()
        assert set(clients.end()) == {0}
        assert differences(home, there) == []
        size = kept.stat().st_size
        assert size >= witness.acknowledged and kept.read_bytes() == witness.data[:size]


def test_a_server_that_is_not_there_yet_gets_everything_when_it_comes(
    clients: Clients, home: Home, there: Home
) -> None:
    server = Harbour(there)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server.port = taken.getsockname()[1]
    clients.start(2, server.environment)
    until(clients.logged)
    assert not list(there.runs.iterdir())
    server.start()
    try:
        until(lambda: len(list(there.runs.glob("c*/journal/*.jsonl"))) == 2)
        assert set(clients.end()) == {0}
        assert differences(home, there) == []
    finally:
        server.stop()


def test_a_line_that_is_cut_again_and_again_costs_nothing(
    clients: Clients, home: Home, there: Home, long: bool
) -> None:
    with harbour(there) as server:
        line = Line(server.port, cut=40_000)
        try:
            clients.start(3, {"PADDOCK_SERVER": f"127.0.0.1:{line.port}", "PADDOCK_TOKEN": TOKEN})
            until(lambda: line.cuts >= (60 if long else 10))
            assert is_prefix(home, there)
            line.cut = 0
            assert set(clients.end()) == {0}
        finally:
            line.close()
        assert differences(home, there) == []


def test_a_slow_line_does_not_slow_the_training(home: Home, there: Home, script) -> None:
    """A kilobyte a second: the script logs as fast as it can, and the end is waited for as long as was said."""
    with harbour(there) as server:
        line = Line(server.port, slow=1000)
        environ = environment(home, {"PADDOCK_SERVER": f"127.0.0.1:{line.port}", "PADDOCK_TOKEN": TOKEN})
        process = script(
            """
            import time
            import paddock
            run = paddock.init(id="fast")
            worst = 0.0
            for step in range(20_000):
                start = time.perf_counter()
                run.log({"loss": step, "name": 0.5})
                worst = max(worst, time.perf_counter() - start)
            start = time.perf_counter()
            run.finish()
            print(worst, time.perf_counter() - start)
            """,
            env={**environ, "PADDOCK_SHIP_SECONDS": "0.5"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = process.communicate(timeout=DEADLINE)
        line.close()
        worst, end = map(float, out.split())
        assert worst < 5 and end < 8  # with room for a busy machine: unasked, the end is waited for for 10 s
        assert b"not all of fast has reached the server; `paddock sync fast` sends the rest" in err
        assert is_prefix(home, there)
        assert sync(home, server, "fast").returncode == 0
        assert differences(home, there) == []


def sync(home: Home, server: Harbour, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paddock", "sync", *words]
    return subprocess.run(command, env=environment(home, server.environment), capture_output=True, text=True)


def test_a_full_disk_at_the_server_is_said_and_the_client_keeps_it(
    clients: Clients, home: Home, there: Home, tmp_path: Path
) -> None:
    with harbour(there) as server:
        assert server.process is not None
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        clients.start(1, server.environment)
        until(clients.logged)
        journal = there.runs / "c0" / "journal"
        until(lambda: any(path.stat().st_size == 20_000 for path in journal.glob("*")))
        refused = sync(home, server, "c0", "--json")
        assert refused.returncode == 12 and "cannot take more now: File too large" in refused.stderr
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
        assert set(clients.end()) == {0}
        assert differences(home, there) == []


def test_a_run_that_was_killed_is_sent_by_sync_and_is_lost_there_at_once(
    clients: Clients, home: Home, there: Home
) -> None:
    with harbour(there) as server:
        clients.start(1, {"PADDOCK_SERVER": "127.0.0.1:1", "PADDOCK_TOKEN": TOKEN}, PADDOCK_MODE="offline")
        until(clients.logged)
        clients.end(kill=True)
        (journal,) = home.runs.glob("c0/journal/*")
        os.utime(journal, (time.time() - 60, time.time() - 60))  # it rests for a while already
        assert sync(home, server, "--all").returncode == 0
        assert differences(home, there) == []
        with Catalog.open(there) as catalog:
            catalog.refresh()
            assert catalog.run("c0").state == "lost"


def test_a_run_at_a_server_is_alive_while_bytes_come_and_lost_soon_after(
    clients: Clients, home: Home, there: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = 6.0  # seconds: so many that a busy machine lets its beats come
    monkeypatch.setenv("PADDOCK_LOST_SECONDS", str(lost))
    with harbour(there) as server, contextlib.ExitStack() as stack:
        clients.start(1, server.environment, pace=600.0, PADDOCK_BEAT_SECONDS="0.3", PADDOCK_SYNC_SECONDS="0.1")
        catalog = stack.enter_context(Catalog.open(there))

        def state() -> str:
            catalog.refresh()
            return next((row.state for row in catalog.runs()), "")

        until(lambda: state() == "running")
        end = time.monotonic() + lost + 1
        while time.monotonic() < end:  # longer than lost_seconds: it lives by its beats
            assert state() == "running"
            time.sleep(0.1)
        clients.end(kill=True)
        until(lambda: state() == "lost")


def test_another_rank_goes_on_sending_when_the_one_that_sent_is_killed(home: Home, there: Home, script) -> None:
    source = """
        import os, time
        import paddock
        run = paddock.init(id="ranks", mode="shared")
        while True:
            run.log({"rank" + os.environ["NUMBER"]: time.time()})
            time.sleep(0.05)
    """
    with harbour(there) as server:
        first = script(source, env={**environment(home, server.environment), "NUMBER": "0"})
        until(lambda: list(there.runs.glob("ranks/journal/*")))
        second = script(source, env={**environment(home, server.environment), "NUMBER": "1"})
        until(lambda: len(list(there.runs.glob("ranks/journal/*"))) == 2)  # the first one sends for both
        first.kill()
        first.wait()
        (journal,) = [path for path in there.runs.glob("ranks/journal/*") if f"-{second.pid}-" in path.name]
        size = journal.stat().st_size
        until(lambda: journal.stat().st_size > size + 1000)


def test_a_child_that_does_not_see_the_runs_directory_writes_here_and_sends(home: Home, there: Home, script) -> None:
    with harbour(there) as server:
        parent = script(
            """
            import os, subprocess, sys
            import paddock
            run = paddock.init(id="family", config={"lr": 1})
            run.log({"parent": 1})
            child = "import paddock; paddock.log({'child': 2}); print(paddock.run.path)"
            elsewhere = {**os.environ, "PADDOCK_RUN_HOME": "/nowhere/to/be/seen", "PADDOCK_HOME": sys.argv[1]}
            print(subprocess.run([sys.executable, "-c", child], env=elsewhere, check=True))
            """,
            home.path.parent / "scratch",
            env=environment(home, server.environment),
            stdout=subprocess.DEVNULL,
        )
        assert parent.wait(timeout=DEADLINE) == 0
        journals = list((there.runs / "family" / "journal").iterdir())
        assert len(journals) == 2
        scratch = Home(home.path.parent / "scratch")
        assert not (scratch.runs / "family" / "run.json").exists()
        with Catalog.open(there) as catalog:
            catalog.refresh()
            row = catalog.run("family")
            assert row.state == "finished" and set(row.metrics) == {"parent", "child"} and row.config == {"lr": 1}


MAIN = """
    import json, os, subprocess, sys, time
    from paddock.monitor import install
    run = install(id="main", serve="127.0.0.1:0")
    child = "import paddock; paddock.log({'far': 1}); paddock.log({'far': 2})"
    elsewhere = {**os.environ, "PADDOCK_RUN_HOME": "/nowhere/to/be/seen", "PADDOCK_HOME": sys.argv[1]}
    subprocess.run([sys.executable, "-c", child], env=elsewhere, check=True)
    print(json.dumps([os.environ["PADDOCK_SERVER"], run._server._process.pid]), flush=True)
    if len(sys.argv) > 2:
        time.sleep(600)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_a_main_process_has_a_server_for_its_workers_elsewhere_which_ends_with_it(
    home: Home, script, tmp_path: Path, killed: bool
) -> None:
    words = [tmp_path / "scratch", *(["stay"] if killed else [])]
    main = script(MAIN, *words, env=environment(home, {}), stdout=subprocess.PIPE)
    url, server = json.loads(main.stdout.readline())
    assert url.startswith("http://127.0.0.1:")
    if killed:
        main.kill()
    assert main.wait(timeout=DEADLINE) == (-9 if killed else 0)
    until(lambda: not exists(server, ""))
    with Catalog.open(home) as catalog:
        catalog.refresh()
        assert catalog.run("main").metrics["far"].last == 2
    assert not list((home.path / "server").glob("private-*")), "the token went with it"


def test_forked_and_spawned_children_are_sent_by_their_parent(home: Home, there: Home, script) -> None:
    with harbour(there) as server:
        process = script(
            """
            import multiprocessing, os
            import paddock

            def work(number):
                paddock.log({f"worker{number}": number})

            if __name__ == "__main__":
                paddock.init(id="family")
                for kind in ("fork", "spawn"):
                    with multiprocessing.get_context(kind).Pool(2) as pool:
                        pool.map(work, range(4))
                        pool.close()
                        pool.join()
                paddock.log({"parent": 1})
            """,
            env=environment(home, server.environment),
        )
        assert process.wait(timeout=DEADLINE) == 0
        assert len(files_of(there.runs / "family")) >= 4
        assert differences(home, there) == []


def test_a_worker_sends_how_its_tasks_ended_also_of_those_that_know_nothing_of_it(home: Home, there: Home) -> None:
    with harbour(there) as server:
        environ = environment(home, server.environment)

        def paddock(*words: str) -> str:
            command = [sys.executable, "-m", "paddock", *words]
            return subprocess.run(
                command, env=environ, capture_output=True, text=True, timeout=DEADLINE, check=True
            ).stdout

        tracked = [sys.executable, "-c", "import paddock; paddock.init(); paddock.log({'a': 1})"]
        for name, words in {"foreign": ["sh", "-c", "echo said; exit 3"], "tracked": tracked}.items():
            paddock("submit", "--no-snapshot", "--name", name, "--", *words)
        paddock("worker", "--no-persist")
    with Catalog.open(there) as catalog:
        catalog.refresh()
        found = {row.name: row for row in catalog.runs()}
    assert found["foreign"].state == "failed" and found["foreign"].reason == "exit code 3"
    assert found["tracked"].state == "finished" and found["tracked"].metrics["a"].last == 1
    (output,) = there.run(found["foreign"].id).output.iterdir()
    assert output.read_text() == "said\n"


def test_a_frame_of_a_gigabyte_is_refused_without_being_read(there: Home) -> None:
    with harbour(there) as server, socket.create_connection(("127.0.0.1", server.port), 20) as line:
        head = [
            "POST /api/v1/ship/parcels HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Authorization: Bearer {TOKEN}",
            f"Content-Length: {1 << 30}",
        ]
        line.sendall("\r\n".join([*head, "", ""]).encode())
        answer = line.recv(65536)
        assert answer.startswith(b"HTTP/1.1 413 ") and b"connection: close" in answer.lower()
        refused = Connection(Address("127.0.0.1", server.port), TOKEN)
        with contextlib.closing(refused), pytest.raises(PaddockError, match=r"larger than|does not answer"):
            refused.send(Header(1, [Part("runs/a/journal/w.jsonl", 0, 1)]), [bytes(17 << 20)])
        assert not (there.runs / "a").exists()


def test_without_the_token_nothing_is_taken(there: Home) -> None:
    with harbour(there) as server:
        for token in ("", "wrong-wrong-wrong-wrong"):
            connection = Connection(Address("127.0.0.1", server.port), token)
            with contextlib.closing(connection), pytest.raises(PaddockError, match="needs the server's token"):
                connection.send(Header(1, [Part("runs/a/journal/w.jsonl", 0, 1)]), [b"x"])
        assert not (there.runs / "a").exists()


def test_two_hosts_and_a_line_that_goes_down_between_them(
    hosts: tuple[str, str], home: Home, there: Home, tmp_path: Path
) -> None:
    one, two = hosts
    stop, client = tmp_path / "stop", tmp_path / "client.py"
    client.write_text(CLIENT)
    with harbour(there, host="10.231.0.1", prefix=["ip", "netns", "exec", one]) as server:
        words = ["ip", "netns", "exec", two, sys.executable, str(client), "0", str(stop), "0.005"]
        environ = environment(home, server.environment, PADDOCK_SHIP_SECONDS="60")
        process = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL)
        try:
            journal = until(lambda: next(iter(there.runs.glob("c0/journal/*")), None))
            subprocess.run(["ip", "-n", two, "link", "set", "pd0", "down"], check=True)

            def rests() -> bool:
                before = journal.stat().st_size
                time.sleep(0.5)
                return journal.stat().st_size == before

            until(rests)  # what had arrived is written, and nothing comes
            size = journal.stat().st_size
            subprocess.run(["ip", "-n", two, "link", "set", "pd0", "up"], check=True)
            until(lambda: journal.stat().st_size > size)
            stop.touch()
            assert process.wait(timeout=DEADLINE) == 0
        finally:
            process.kill()
            process.wait()
    assert differences(home, there) == []


def test_an_address_that_nobody_answers_at_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match="Connection refused"):
        Connection(Address("127.0.0.1", port), TOKEN).ask([])


def test_no_bytes_surprise_the_decoders(tmp_path: Path, long: bool) -> None:
    pytest.importorskip("atheris")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    parts = [Part("runs/a/journal/w.jsonl", 3, 5, (3, 7)), Part("runs/a/files/x", 0, 0, total=0, digest="0" * 64)]
    (corpus / "parcel").write_bytes(parcel.encode(Header(1, parts), [b"hello", b""]))
    (corpus / "path").write_bytes(b"runs/a/files/%2e%2e/x")
    words = [sys.executable, "-m", "tests.faults.fuzz_parcel", f"-runs={300_000 if long else 3_000}", "-seed=1"]
    found = subprocess.run([*words, str(corpus)], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert found.returncode == 0, found.stderr[-3000:]
