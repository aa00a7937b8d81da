"""paddock sync: what was written without a server gets there, once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.record.layout import Home, RunDirectory
from tests.faults.harbour import differences, harbour
from tests.served import TOKEN, Server, served
from tests.waiting import DEADLINE, until


@pytest.fixture
def there(tmp_path: Path) -> Home:
    return Home(tmp_path / "there")


@pytest.fixture
def server(there: Home) -> Iterator[Server]:
    there.prepare()
    with served(there) as found:
        yield found


@pytest.fixture
def sync(program: Any, server: Server) -> Callable[..., Any]:
    """`paddock sync` with the server set."""
    environment = {"PADDOCK_SERVER": server.url, "PADDOCK_TOKEN": TOKEN}
    return lambda *words, **env: program("sync", *words, env={**environment, **env})


def test_runs_are_sent_by_name_by_query_or_all(digits: Home, there: Home, sync: Any) -> None:
    found = sync("digits-0")
    assert (found.code, found.err) == (0, "") and found.out.endswith("of 1 run sent.\n")
    assert [path.name for path in there.runs.iterdir()] == ["aa0"]
    assert sync("digits-0").out == "The server has all of 1 run.\n"
    assert sync("lr=0.1", "state=finished", "--json").json["runs"] == 2
    assert {path.name for path in there.runs.iterdir()} == {"aa0", "aa1"}
    assert sync("--all", "--quiet").out == ""
    assert differences(digits, there) == []
    again = sync("--all", "--json").json
    assert again == {"server": again["server"], "runs": 6, "bytes": 0}


def test_what_is_wrong_is_said(digits: Home, there: Home, program: Any, sync: Any, server: Server) -> None:
    def fails(code: int, *words: str, **env: str) -> str:
        found = sync(*words, "--json", **env)
        assert found.code == code == found.error["exit_code"]
        return f"{found.error['message']} {found.error['hint']}"

    assert "Which runs?" in fails(2)
    assert "Which runs?" in fails(2, "aa0", "--all")
    assert "no server" in fails(2, "aa0", PADDOCK_SERVER="")
    assert "no address" in fails(2, "aa0", "--to", "what ever")
    assert "There is no run" in fails(3, "nobody")
    assert "No run fits" in fails(3, "lr>100")
    assert "does not answer" in fails(12, "aa0", "--to", "127.0.0.1:1")
    assert "does not answer" in fails(12, "aa0", "--to", "no-such-socket")
    assert "PADDOCK_TOKEN" in fails(9, "aa0", PADDOCK_TOKEN="a-token-that-is-another")
    assert "16 to 512" in fails(2, "aa0", PADDOCK_TOKEN="short")
    assert not list(there.runs.iterdir())
    (there.runs / "aa1").mkdir()
    (there.runs / "aa1" / "run.json").write_text('{"id":"aa1","user":"eve","created":1}')
    assert "others of the same id: aa1" in fails(6, "--all")
    assert differences(digits, there) == ["aa1"]


def test_progress_is_shown_to_people_at_a_terminal_only(digits: Home, sync: Any, server: Server, program: Any) -> None:
    import pty

    leader, follower = pty.openpty()
    environ = {**program.environment, "PADDOCK_SERVER": server.url, "PADDOCK_TOKEN": TOKEN, "TERM": "xterm"}
    words = [sys.executable, "-m", "paddock", "sync", "--all"]
    process = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=follower, cwd=program.cwd)
    os.close(follower)
    assert process.communicate(timeout=DEADLINE)[0].endswith(b"of 6 runs sent.\n") and process.returncode == 0
    shown = b""
    try:
        while piece := os.read(leader, 65536):
            shown += piece
    except OSError:
        pass
    os.close(leader)
    assert b"6/6" in shown and b"runs" in shown


def test_watch_goes_on_with_what_is_written_later(
    home: Home, there: Home, server: Server, program: Any, write: Callable[..., RunDirectory]
) -> None:
    write("aa1", points={"loss": [1.0]})
    environ = {"PADDOCK_SERVER": server.url, "PADDOCK_TOKEN": TOKEN}
    process = program.start("sync", "--all", "--watch", env=environ)
    until(lambda: (there.runs / "aa1" / "run.json").exists())
    write("aa2", points={"loss": [2.0] * 100})
    until(lambda: (there.runs / "aa2").exists() and differences(home, there) == [])
    process.send_signal(2)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 130


def test_a_run_of_paddock_run_is_whole_at_the_server_though_it_was_killed(
    home: Home, there: Home, server: Server, program: Any
) -> None:
    script = program.cwd / "train.py"
    script.write_text("import os, paddock\nrun = paddock.init()\nrun.log({'a': 1})\nos.kill(os.getpid(), 9)\n")
    environ = {"PADDOCK_SERVER": server.url, "PADDOCK_TOKEN": TOKEN, "PADDOCK_CAPTURE_CODE": "0"}
    assert program("run", "--id", "dies", str(script), env=environ).code == 137
    assert differences(home, there) == []
    assert program("ls", "--json", "--home", str(there.path)).json["runs"][0]["reason"] == "signal KILL"


def test_a_socket_by_its_name_works_on_both_sides(digits: Home, there: Home, program: Any) -> None:
    name = f"test-sync-{os.getpid()}-{threading.get_native_id()}"
    there.prepare()
    with served(there, name):
        assert program("sync", "aa0", "--to", name, env={"PADDOCK_TOKEN": TOKEN}).code == 0
    assert (there.runs / "aa0").exists()


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make a certificate with")
def test_tls_is_checked_by_the_certificate_that_was_named(
    digits: Home, there: Home, program: Any, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make = ["openssl", "req", *kind, *name, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(make, check=True, capture_output=True)
    with harbour(there, options=["--tls-cert", str(certificate), "--tls-key", str(key)]) as server:
        to = f"https://localhost:{server.port}"
        env = {"PADDOCK_TOKEN": server.environment["PADDOCK_TOKEN"]}
        found = program("sync", "aa0", "--to", to, env=env)
        assert found.code == 12 and "certificate" in found.err
        assert program("sync", "aa0", "--to", to, env={**env, "PADDOCK_SERVER_CA": str(certificate)}).code == 0
    assert (there.runs / "aa0").exists()
