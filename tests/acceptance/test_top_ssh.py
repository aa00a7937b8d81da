"""paddock top on another machine, through a real ssh: in a pipe, on a terminal, and when the line is cut."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from paddock.record.layout import Home
from tests.acceptance.terminal import Terminal
from tests.redisserver import free_port
from tests.waiting import DEADLINE, until

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
pytestmark = pytest.mark.skipif(not SSHD or not shutil.which("ssh"), reason="needs ssh and sshd (openssh-server)")


@pytest.fixture
def ssh(program: Any, tmp_path: Path) -> Iterator[list[str]]:
    """The words that run a command on "another" machine: an sshd of our own, whose logins see the home."""
    place = tmp_path / "ssh"
    place.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)], check=True)
    port = free_port()
    given = {name: value for name, value in program.environment.items() if name.startswith(("PADDOCK_", "PYTHONPATH"))}
    (place / "paddock").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m paddock "$@"\n')
    (place / "paddock").chmod(0o700)
    environment = " ".join(f"{n}={v}" for n, v in {**given, "PATH": f"{place}:/usr/bin:/bin"}.items())
    (place / "conf").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host\nAuthorizedKeysFile {place}/user.pub\n"
        f"PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nSetEnv {environment}\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd shuts its unprivileged half in
    assert SSHD is not None
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(place / "conf")], stderr=subprocess.DEVNULL)
    options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes", "LogLevel=ERROR")
    words = ["ssh", "-F", "none", "-p", str(port), "-i", str(place / "user")]
    words += [word for option in options for word in ("-o", option)]
    words.append("127.0.0.1")
    try:
        until(lambda: subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0)
        yield words
    finally:
        server.terminate()
        server.wait()


def test_in_a_pipe_it_is_a_table_and_json(ssh: list[str], program: Any, digits: Home) -> None:
    found = subprocess.run([*ssh, "paddock", "top"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert found.returncode == 0 and "\x1b" not in found.stdout
    # What the host uses is another thing a moment later.
    assert found.stdout.partition("\nhosts\n")[0] == program("top").out.partition("\nhosts\n")[0]
    found = subprocess.run([*ssh, "paddock", "top", "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert found.returncode == 0 and f'"home": "{digits.path}"' in found.stdout


def test_on_a_terminal_it_takes_keys_and_gives_the_screen_back(ssh: list[str], program: Any, digits: Home) -> None:
    terminal = Terminal(program, 100, 24, errors=True, command=[*ssh, "-t", "paddock", "top"])
    try:
        until(lambda: terminal.shows("? help"))
        mark = len(terminal.raw)
        terminal.resize(30, 12)  # a window that is made narrow here is narrow there
        until(lambda: terminal.shows("\x1b[12;1H", mark) and terminal.shows("? help", mark))
        terminal.type(b"q")
        code, _ = terminal.leave()
        assert code == 0 and terminal.is_as_before
    finally:
        terminal.close()


def test_it_ends_when_the_line_is_cut(ssh: list[str], program: Any, digits: Home) -> None:
    terminal = Terminal(program, 100, 24, errors=True, command=[*ssh, "-t", "paddock", "top"])
    try:
        until(lambda: terminal.shows("? help"))
        remote = consoles(digits)
        assert len(remote) == 1
        terminal.process.kill()
        psutil.wait_procs(remote, timeout=DEADLINE)
        assert not consoles(digits)
    finally:
        terminal.close()


def test_it_ends_when_the_other_side_breaks_the_connection(ssh: list[str], program: Any, digits: Home) -> None:
    terminal = Terminal(program, 100, 24, errors=True, command=[*ssh, "-t", "paddock", "top"])
    try:
        until(lambda: terminal.shows("? help"))
        remote = consoles(digits)
        sessions = [above for one in remote for above in one.parents() if above.name().startswith("sshd")]
        sessions[0].kill()
        assert terminal.process.wait(DEADLINE) == 255
        psutil.wait_procs(remote, timeout=DEADLINE)
        assert not consoles(digits)
    finally:
        terminal.close()


def consoles(home: Home) -> list[psutil.Process]:
    """Those that are open on this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[1:] == ["-m", "paddock", "top"] and process.environ()["PADDOCK_HOME"] == str(
                home.path
            ):
                found.append(process)
        except (psutil.Error, KeyError):  # not ours to read, or gone meanwhile
            continue
    return found
