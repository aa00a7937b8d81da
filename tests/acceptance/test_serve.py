"""paddock serve, as people start and end it."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from paddock.address import Address, parse
from paddock.errors import Unreachable
from paddock.record.layout import Home
from paddock.track.ship.connection import Connection
from tests.waiting import DEADLINE


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "paddock", "serve", *words]


@contextmanager
def serving(*words: str, end: int = signal.SIGTERM) -> Iterator[dict[str, Any]]:
    """What a server that was started so says of itself; it must end well."""
    process = subprocess.Popen(command(*words, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield json.loads(line) | {"pid": process.pid}
    finally:
        process.send_signal(end)
        rest, complaints = process.communicate(timeout=DEADLINE)
    assert (process.returncode, rest, complaints) == (0, "", "")


def refused(*words: str) -> str:
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 9, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def get(url: str, path: str, token: str = "") -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if not url.startswith("http"):
        line = socket.socket(socket.AF_UNIX)
        line.connect(parse(url).path)
        connection = http.client.HTTPConnection("localhost")
        connection.sock = line
    else:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=DEADLINE)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body) if body.startswith(b"{") else body.decode()
    finally:
        connection.close()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_says_where_it_answers_and_ends_when_it_is_told_to(home: Home, end: int) -> None:
    name = f"test-{os.getpid()}"
    with serving("--address", "127.0.0.1:0", "--address", name, end=end) as said:
        web, socket_name = said["urls"]
        assert socket_name == name
        for url in (web, socket_name):
            assert get(url, "/api/v1/health")[1]["ok"] is True
            assert get(url, "/api/v1/server")[1]["homes"] == [str(home.path)]
        token = Path(said["token_file"])
        assert token.stat().st_mode & 0o777 == 0o600 and token.parent.stat().st_mode & 0o777 == 0o700
        assert token.read_text().strip() not in json.dumps(said)
        assert os.stat(parse(name).path).st_mode & 0o777 == 0o600
    assert not Path(parse(name).path).exists()
    assert not (home.server / "serving.json").exists()


def test_what_is_taken_is_a_sentence(home: Home, tmp_path: Path) -> None:
    name = f"taken-{os.getpid()}"
    with serving("--address", "127.0.0.1:0", "--address", name) as said:
        web = said["urls"][0]
        told = refused("--address", "127.0.0.1:0")
        assert "A server runs on" in told and web in told and str(said["pid"]) in told
        other = ("--home", str(tmp_path / "other"))
        port = urlsplit(web).port
        assert f"Another program listens on 127.0.0.1:{port}." in refused(*other, "--address", f"127.0.0.1:{port}")
        assert "listens on" in refused(*other, "--address", name)
        assert get(name, "/api/v1/health")[0] == 200
        done = subprocess.run(
            command("--link", "--quiet"), capture_output=True, text=True, check=True, timeout=DEADLINE
        )
        link = done.stdout.strip()
        status, page = get(web, link.removeprefix(web))
        assert status == 200 and "You are in" in page
        assert get(web, link.removeprefix(web))[0] == 403


def test_a_killed_server_is_in_nobodys_way(home: Home) -> None:
    name = f"killed-{os.getpid()}"
    process = subprocess.Popen(command("--address", name, "--json"), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    assert Path(parse(name).path).exists()
    assert subprocess.run(command("--link"), capture_output=True, timeout=DEADLINE).returncode == 3
    with serving("--address", name):
        assert get(name, "/api/v1/health")[0] == 200


@pytest.mark.parametrize("everywhere", [":0", "0.0.0.0:0"])
def test_beyond_this_machine_reading_needs_the_token_and_every_interface_is_named(home: Home, everywhere: str) -> None:
    with serving("--address", everywhere, "--advertise", "lab.example.org") as said:
        assert not any("0.0.0.0" in url for url in said["urls"])
        port = urlsplit(said["urls"][-1]).port
        assert said["urls"][0] == f"http://lab.example.org:{port}" and said["urls"][-1].startswith("http://127.0.0.1:")
        token = Path(said["token_file"]).read_text().strip()
        for url in (url for url in said["urls"] if "example" not in url):
            assert get(url, "/api/v1/health")[0] == 200
            assert get(url, "/api/v1/runs")[0] == 401
            assert get(url, "/api/v1/runs", token)[0] == 200


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_with_a_certificate_it_speaks_tls(home: Home, tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    with serving("--address", "127.0.0.1:0", "--tls-cert", str(cert), "--tls-key", str(key)) as said:
        assert said["urls"][0].startswith("https://") and said["link"].startswith("https://")
        port = urlsplit(said["urls"][0]).port
        context = ssl.create_default_context(cafile=str(cert))
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=DEADLINE)
        connection.request("GET", said["link"].removeprefix(said["urls"][0]))
        assert "; Secure" in (connection.getresponse().headers["set-cookie"])
        connection.close()
        token = Path(said["token_file"]).read_text().strip()
        trusting = Connection(Address("127.0.0.1", port or 0, tls=True), token, ca=str(cert))
        assert trusting.ask([]).files == []
        trusting.close()
        with pytest.raises(Unreachable, match=r"certificate is not trusted, .*PADDOCK_SERVER_CA"):
            Connection(Address("127.0.0.1", port or 0, tls=True), token).ask([])
        with pytest.raises(Unreachable, match="speaks TLS is called https://"):
            Connection(Address("127.0.0.1", port or 0), token).ask([])
        for unfit, why in ((key, "no certificate in it"), (tmp_path / "absent", "No such file")):
            with pytest.raises(Unreachable, match=f"checked by {unfit} .*{why}"):
                Connection(Address("127.0.0.1", port or 0, tls=True), token, ca=str(unfit)).ask([])
    with serving("--address", "127.0.0.1:0") as said, pytest.raises(Unreachable, match="does not speak TLS; http://"):
        Connection(Address("127.0.0.1", urlsplit(said["urls"][0]).port or 0, tls=True), "x" * 20).ask([])
    done = subprocess.run(
        command("--address", "127.0.0.1:0", "--tls-cert", str(key)), capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 2 and "certificate cannot be used" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--address", "nonsense:port"], 2, "no port"),
        (["--address", "no.such.host.invalid:1"], 2, "no name of this machine"),
        (["--tls-key", "x"], 2, "no certificate"),
        (["--advertise", "a/b"], 2, "is no host"),
        (["--link"], 3, "No server of yours runs"),
        (["--home", "/nowhere/home"], 5, "cannot be made"),
        (["--until", "soon"], 2, "no time span"),
    ],
)
def test_what_cannot_be_is_a_sentence(home: Home, words: list[str], code: int, told: str) -> None:
    if os.getuid() == 0 and "/nowhere/home" in words:
        pytest.skip("root may make any directory")
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == code and told in done.stderr and "Traceback" not in done.stderr


def test_a_token_that_others_can_read_is_refused(home: Home) -> None:
    home.server.mkdir()
    (home.server / "token").write_text("x" * 40)
    (home.server / "token").chmod(0o644)
    done = subprocess.run(command("--address", "127.0.0.1:0"), capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 5 and "Others can read the token" in done.stderr
