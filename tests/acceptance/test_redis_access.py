"""Every way into a Redis, and what is said when there is none."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.redisserver import RedisServer, certificate, free_port, tls


def _works(program: Any, url: str, **env: str) -> None:
    """A task is submitted there, and runs."""
    program.environment |= env
    sent = program("submit", "-q", "--no-snapshot", "-Q", url, "--", "echo out")
    assert sent.code == 0, sent.err
    done = program("worker", "--no-persist", url)
    assert done.code == 0, done.err
    found = program("status", "--json", "-Q", url).json["queues"][0]
    assert (found["counts"]["done"], found["away"]) == (1, "")
    assert "secret" not in str(found)


def _refused(program: Any, url: str, code: int, *words: str, **env: str) -> str:
    """Nothing is submitted, and the sentence has these words; it comes as an error of ours, not as a stack trace."""
    sent = program("submit", "--json", "--no-snapshot", "-Q", url, "--", "true", env=env)
    assert sent.code == code, (sent.code, sent.out, sent.err)
    error = sent.error
    for word in words:
        assert word in f"{error['message']} {error.get('hint', '')}", error
    return str(error["message"])


def test_a_socket_of_this_machine(program: Any, redis_server: RedisServer) -> None:
    _works(program, f"unix://{redis_server.socket}?db=2&queue=q")
    assert redis.Redis(port=redis_server.port, db=2).exists("paddock:q:here")


@pytest.mark.parametrize("builtin", [False, True], ids=["before valkey", "redis-redis_server"])
def test_tls(program: Any, tmp_path: Path, builtin: bool) -> None:
    """With the server's certificate; without it nothing is said to it, its password least of all."""
    found, key = certificate(tmp_path)
    if builtin and not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    port = free_port()
    own = ["--tls-port", str(port), "--tls-cert-file", str(found), "--tls-key-file", str(key)]
    own += ["--tls-auth-clients", "no"]
    server = RedisServer(
        tmp_path / "redis",
        "secret",
        options=own if builtin else (),
        program="redis-server" if builtin else "",
    )
    try:
        if builtin:
            _try_tls(program, port, found)
        else:
            with tls(server.port, found, key) as port:
                _try_tls(program, port, found)
    finally:
        server.stop()


def _try_tls(program: Any, port: int, found: Path) -> None:
    url = f"rediss://127.0.0.1:{port}/0?queue=q"
    _refused(program, f"redis://127.0.0.1:{port}/0", 12, "There is no Redis", "rediss://")
    _refused(program, f"{url}&ssl_ca_certs=/nowhere/ca.pem", 2, "/nowhere/ca.pem", "cannot be read")
    _refused(program, f"{url.replace('127.0.0.1', 'localhost')}&ssl_ca_certs={found}", 12, "as its certificate does")
    _refused(program, url, 12, "certificate", "ssl_ca_certs", PADDOCK_REDIS_PASSWORD="secret")
    _works(program, f"{url}&ssl_ca_certs={found}", PADDOCK_REDIS_PASSWORD="secret")


def test_passwords_and_users(program: Any, tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", "secret")
    try:
        admin = redis.Redis(port=server.port, password="secret")
        admin.execute_command(
            *("ACL", "SETUSER", "worker", "on", ">secret2", "~rq:*", "~paddock:*", "&rq:*", "&paddock:*", "+@all"),
            *("-@dangerous", "+info", "-@admin"),
        )
        admin.execute_command("ACL", "SETUSER", "reader", "on", ">secret3", "~*", "+@read", "+@connection")
        url = f"redis://127.0.0.1:{server.port}/0?queue=q"
        _refused(program, url, 9, "password", "PADDOCK_REDIS_PASSWORD")
        _refused(program, url, 9, "does not let us in", PADDOCK_REDIS_PASSWORD="wrong")
        assert "wrong" not in _refused(program, url.replace("//", "//worker:wrong@"), 9, "does not let us in")
        _refused(program, url.replace("//", "//reader@"), 9, "does not allow", PADDOCK_REDIS_PASSWORD="secret3")
        _works(program, url.replace("//", "//worker@"), PADDOCK_REDIS_PASSWORD="secret2")
        assert admin.exists("paddock:q:here")
    finally:
        server.stop()


def test_no_redis_there(program: Any, redis_server: RedisServer) -> None:
    _refused(
        program, f"redis://127.0.0.1:{free_port()}/0", 12, "There is no Redis", "Is it running", "Nothing was submitted"
    )
    _refused(program, f"unix://{redis_server.directory}/none", 12, "There is no Redis")
    _refused(program, f"redis://127.0.0.1:{redis_server.port}/99", 9, "99", "database")
    _refused(program, f"redis://127.0.0.1:{redis_server.port}/x", 2, "database")
    _refused(program, "redis://nowhere.invalid/0", 12, "nowhere.invalid")
    _refused(program, f"redis:/127.0.0.1:{redis_server.port}/0", 2, "is no Redis")  # and no directory either
    _refused(program, f"redis://127.0.0.1:{redis_server.port}/0?bogus=1", 2, "bogus")
    with socket.create_server(("127.0.0.1", 0)) as other:  # it takes the call, and never says a word
        _refused(program, f"redis://127.0.0.1:{other.getsockname()[1]}/0", 12, "Timeout")


def test_what_is_no_list_is_not_taken_for_a_queue(program: Any, redis_server: RedisServer) -> None:
    redis.Redis(port=redis_server.port).set("rq:queue:other", "mine")
    said = _refused(program, f"{redis_server.url}?queue=other", 9, "WRONGTYPE", "Nothing was submitted")
    assert "EVALSHA" not in said


def test_a_replica_takes_no_tasks_and_says_so(program: Any, redis_server: RedisServer, tmp_path: Path) -> None:
    options = ["--replicaof", f"127.0.0.1 {redis_server.port}"]
    replica = RedisServer(tmp_path / "replica", options=options)
    try:
        _refused(program, replica.url, 9, "replica", "primary")
        assert program("worker", "--no-persist", replica.url).code == 9
    finally:
        replica.stop()


def test_a_redis_without_memory_takes_no_tasks_and_says_so(program: Any, tmp_path: Path) -> None:
    """What is there already runs once there is room."""
    server = RedisServer(tmp_path / "redis")
    try:
        url = f"{server.url}?queue=q"
        assert program("submit", "--no-snapshot", "-Q", url, "--", "true").code == 0
        admin = redis.Redis(port=server.port)
        admin.config_set("maxmemory", "1mb")
        _refused(program, url, 9, "memory", "maxmemory", "Nothing was submitted")
        assert program("status", "--json", "-Q", url).json["queues"][0]["counts"]["queued"] == 1
        admin.config_set("maxmemory", "0")
        assert program("worker", "--no-persist", url).code == 0
        assert program("status", "--json", "-Q", url).json["queues"][0]["counts"]["done"] == 1
    finally:
        server.stop()


def test_without_the_extra_the_sentence_names_it(program: Any, tmp_path: Path) -> None:
    """In an interpreter that has neither redis nor rq: every verb, and a plain task in a directory still works."""
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    script = (
        f"import sys; sys.path += {[path for path in sys.path if path]!r}; import importlib.abc\n"
        "class No(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('redis', 'rq'): raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, No())\n"
        "from paddock.cli.main import main\nsys.argv[0] = 'paddock'; main()\n"
    )

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [str(python), "-c", script, *words]
        return subprocess.run(
            argv, env=program.environment, cwd=program.cwd, capture_output=True, text=True, timeout=60
        )

    url = "redis://127.0.0.1:6379/0"
    for words in (
        ["submit", "-Q", url, "--", "true"],
        ["worker", url],
        ["status", "-Q", url],
        ["wait", "-Q", url, "x"],
    ):
        found = run(*words)
        assert found.returncode == 8, (words, found.stderr)
        assert "pip install 'paddock[redis]'" in found.stderr and "Traceback" not in found.stderr
    assert run("submit", "--no-snapshot", "--", "true").returncode == 0
    (Path(program.environment["PADDOCK_HOME"]) / "redis").mkdir()
    (Path(program.environment["PADDOCK_HOME"]) / "redis" / "q.url").write_text(f"{url}\n")
    found = run("status")  # one that was used before is away, and the others are shown
    assert found.returncode == 0 and "default" in found.stdout and "paddock[redis]" in found.stderr
