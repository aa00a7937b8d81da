"""Notices: told beside the work, by command, webhook or mail; secrets seen by nobody else."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import FAILED
from paddock.queue.task import Attempt, Task, TaskFile
from paddock.work.notices import notify
from paddock.work.notices.deliver import Undelivered, message, post, run_command, send_mail
from paddock.work.notices.notice import Notices
from paddock.work.notices.notify import Notify
from tests.waiting import until

NOTICE = {"event": "failed", "text": "failed: x", "queue": "q", "worker": "w", "task": "t1", "tail": "line\nlast"}


@pytest.fixture
def queue(tmp_path: Path) -> DirectoryQueue:
    found = DirectoryQueue(tmp_path / "q")
    found.prepare()
    return found


class Hook:
    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status, self.hang = 200, threading.Event()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.requests.append((dict(self.headers), body))
                if hook.status == 0:
                    hook.hang.wait(60)
                self.send_response(hook.status or 200)
                if hook.status == 302:
                    self.send_header("Location", hook.address + "/elsewhere")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *words: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/secret-key"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def hook() -> Iterator[Hook]:
    found = Hook()
    yield found
    found.hang.set()
    found.server.shutdown()
    found.server.server_close()


def failed(notices: Notices, queue: DirectoryQueue, number: int = 1, **about: Any) -> None:
    file = TaskFile(Task(id=f"t{number}", command="python train.py", name="train"), "f")
    last = {"outcome": "failed", "exit": "exit code 3", "tail": "a\nb", **about}
    notices.ended(queue, file, Attempt(number=1, **last), FAILED)


# The settings


def test_the_table_is_read_and_one_word_is_a_list_of_one(tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_text('[notify]\non = "failed"\nmail = "ada@example.org"\ntimeout = 3\n')
    found = notify.load(tmp_path)
    assert (found.on, found.mail, found.timeout, found.silent) == (("failed",), ("ada@example.org",), 3.0, False)
    assert notify.load(Path("/")).silent


def test_secrets_come_from_a_private_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "paddock.toml").write_text('[notify]\nsecrets = "keys.toml"\n')
    keys = tmp_path / "keys.toml"
    keys.write_text('webhook = "https://example.org/key"\npassword = "p"\n')
    keys.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        notify.load(tmp_path)
    keys.chmod(0o600)
    assert notify.load(tmp_path).webhook == "https://example.org/key"
    monkeypatch.setenv("PADDOCK_NOTIFY_WEBHOOK", "https://example.org/other")
    assert (notify.load(tmp_path).webhook, notify.load(tmp_path).password) == ("https://example.org/other", "p")


def test_a_table_that_others_could_have_written_is_left_alone(tmp_path: Path) -> None:
    file, said = tmp_path / "paddock.toml", list[str]()
    file.write_text("[notify]\ncommand = 'evil'\n")
    file.chmod(0o666)
    assert notify.load(tmp_path, said.append).silent
    assert said == [f"[notify] of {file} is left alone: everybody may write the file."]
    file.chmod(0o644)
    assert not notify.load(tmp_path, said.append).silent
    if os.getuid() == 0:
        os.chown(file, 12345, -1)
        assert notify.load(tmp_path, said.append).silent and "not yours" in said[-1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("notify = 3", "but not as a table"),
        ("[notify]\ncomand = 'x'", "Did you mean 'command'"),
        ("[notify]\non = ['fail']", "no such notice"),
        ("[notify]\nformat = 'xml'", "json, text"),
        ("[notify]\nwebhook = 'file:///etc/passwd'", "no http or https address"),
        ("[notify]\ntimeout = 'soon'", "'soon' is no time span"),
        ("[notify]\nsecrets = 'nosuch'", "cannot be read"),
        ('[notify]\nheaders = {"X" = "a\\nb"}', "control characters"),
    ],
)
def test_a_mistake_is_a_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "paddock.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        notify.load(tmp_path)
    assert says in str(caught.value)


# The ways


def test_a_command_gets_json_on_stdin_and_the_essential_in_its_environment(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_command(Notify(command=f'cat > {out}; echo "$PADDOCK_NOTICE_EVENT $PADDOCK_NOTICE_TASK" >> {out}'), NOTICE)
    first, second = out.read_text().splitlines()
    assert (json.loads(first), second) == (NOTICE, "failed t1")
    with pytest.raises(Undelivered, match="exit code 3"):
        run_command(Notify(command="exit 3"), NOTICE)
    with pytest.raises(Undelivered, match="longer"):
        run_command(Notify(command="sleep 1000", timeout=0.1), NOTICE)


def test_a_webhook_gets_json_or_what_its_format_says(hook: Hook) -> None:
    post(Notify(webhook=hook.address, headers={"Authorization": "Bearer k"}), NOTICE)
    headers, body = hook.requests.pop()
    assert (json.loads(body), headers["Authorization"]) == (NOTICE, "Bearer k")
    for format_, wanted in (("slack", b'{"text":"failed: x"}'), ("text", b"failed: x")):
        post(Notify(webhook=hook.address, format=format_), NOTICE)
        assert hook.requests.pop()[1] == wanted
    for hook.status in (500, 302):
        with pytest.raises(Undelivered, match=f"it answered {hook.status}"):
            post(Notify(webhook=hook.address), NOTICE)
    assert len(hook.requests) == 2  # a redirection is not followed
    with pytest.raises(Undelivered, match="refused"):
        post(Notify(webhook="http://127.0.0.1:9/secret-key"), NOTICE)


def test_mail_goes_through_sendmail_with_the_message_on_stdin(tmp_path: Path) -> None:
    program, out = tmp_path / "sendmail", tmp_path / "out"
    program.write_text(f'#!/bin/sh\necho "$@" > {out}; cat >> {out}\n')
    program.chmod(0o755)
    send_mail(Notify(mail=("ada@example.org",), sendmail=str(program)), NOTICE)
    lines = out.read_text().splitlines()
    assert lines[0] == "-t -i"
    assert {"Subject: [paddock] failed: x", "To: ada@example.org", "| last"} <= set(lines)
    with pytest.raises(FileNotFoundError):
        send_mail(Notify(mail=("ada@example.org",), sendmail="/no/such"), NOTICE)


def test_a_name_cannot_forge_a_header_of_a_mail() -> None:
    mail = message(Notify(mail=("a@b.c",)), {**NOTICE, "text": "failed: x\r\nBcc: eve@example.org"})
    assert mail["Bcc"] is None and mail["Subject"] == "[paddock] failed: x"


def test_a_name_cannot_drive_the_terminal_of_whoever_reads_the_notice(tmp_path: Path) -> None:
    notice = {**NOTICE, "text": "failed: \x1b]0;x\x07\x1b[2Jred\x9b31m", "name": "\x1b[31m", "tail": "a\x1b[2J\nb"}
    mail = message(Notify(mail=("a@b.c",)), notice)
    assert mail["Subject"] == "[paddock] failed: red31m" and "\x1b" not in mail.get_content()
    run_command(Notify(command=f'printf %s "$PADDOCK_NOTICE_TEXT" > {tmp_path}/said'), notice)
    assert (tmp_path / "said").read_text() == "failed: red31m"


def test_mail_goes_to_a_server_with_its_text_whole() -> None:
    heard: list[bytes] = []

    class Server(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 hello\r\n")
            for line in self.rfile:
                heard.append(line)
                word = line[:4].upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    while heard[-1] != b".\r\n":
                        heard.append(self.rfile.readline())
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
                if word == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        where = f"127.0.0.1:{server.server_address[1]}"
        notice = {**NOTICE, "text": "failed: Größe ☃", "tail": "line\n.\nlast"}
        send_mail(Notify(mail=("ada@example.org", "eve@example.org"), smtp=where), notice)
        server.shutdown()
    text = b"".join(heard)
    assert (text.count(b"rcpt TO:"), b"rcpt TO:<eve@example.org>" in text) == (2, True)
    mail = message_from_bytes(text.partition(b"data\r\n")[2].replace(b"\r\n..", b"\r\n."), policy=default)
    body = mail.get_content().replace("\r\n", "\n")  # type: ignore[attr-defined]
    assert mail["Subject"] == "[paddock] failed: Größe ☃"
    assert "failed: Größe ☃\n" in body and "| line\n| .\n| last\n" in body


def test_a_password_is_not_sent_over_an_open_line(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bytes] = []

    class Server(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 hello\r\n")
            for line in self.rfile:
                heard.append(line)
                self.wfile.write(b"221 bye\r\n" if line.lower().startswith(b"quit") else b"250 ok\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        where = f"{socket.gethostname()}:{server.server_address[1]}"
        monkeypatch.setattr(socket, "getaddrinfo", _here(server.server_address[1]))
        with pytest.raises(Undelivered, match="no encryption"):
            send_mail(Notify(mail=("a@b.c",), smtp=where, smtp_user="u", password="hunter2"), NOTICE)
        server.shutdown()
    assert not any(b"AUTH" in line or b"hunter2" in line for line in heard)


def _here(port: int) -> Callable[..., Any]:
    return lambda *words, **more: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


# Beside the work


def test_what_is_asked_for_is_told_and_nothing_else(queue: DirectoryQueue, hook: Hook) -> None:
    notices = Notices(Notify(webhook=hook.address, on=("failed",)), "w", lambda text: None)
    notices.started(queue, Task(id="t1", command="x"), 1)
    failed(notices, queue)
    notices.close()
    ((_, body),) = hook.requests
    found = json.loads(body)
    assert (found["event"], found["task"], found["exit"], found["tail"]) == ("failed", "t1", "exit code 3", "a\nb")
    assert found["text"] == "failed (exit code 3): train (t1)"


def test_of_a_task_that_took_too_long_that_is_told_and_not_its_signal_alone(queue: DirectoryQueue, hook: Hook) -> None:
    notices = Notices(Notify(webhook=hook.address, on=("failed",)), "w", lambda text: None)
    failed(notices, queue, outcome="timed out", exit="signal KILL")
    notices.close()
    ((_, body),) = hook.requests
    assert json.loads(body)["text"] == "failed (timed out, signal KILL): train (t1)"


def test_a_hook_that_hangs_delays_nobody_and_what_does_not_fit_is_counted(queue: DirectoryQueue, hook: Hook) -> None:
    said: list[str] = []
    hook.status = 0
    notices = Notices(Notify(webhook=hook.address, timeout=0.5, per_minute=10_000), "w", said.append)
    for number in range(1000):
        failed(notices, queue, number)  # each of them would wait for half a second if it waited
    assert len(hook.requests) < 100
    until(lambda: notices._troubles)
    notices.work([])
    notices.work([])
    assert len([text for text in said if "did not arrive by the webhook at 127.0.0.1" in text]) == 1
    assert not any("secret-key" in text for text in said)
    notices._waiting.queue.clear()
    notices.close()
    assert said[-1].startswith("notices that did not arrive")


def test_a_storm_of_failures_is_told_in_few_notices(queue: DirectoryQueue, hook: Hook) -> None:
    notices = Notices(Notify(webhook=hook.address, per_minute=3), "w", lambda text: None)
    for number in range(50):
        failed(notices, queue, number)
    notices.close()
    events = [json.loads(body) for _, body in hook.requests]
    assert [one["event"] for one in events] == ["failed"] * 3 + ["drained"]
    assert events[-1]["unsent"] == 47 and "47 notices before this one were not sent" in events[-1]["text"]


def test_of_many_workers_one_tells_that_the_queue_is_drained(queue: DirectoryQueue, hook: Hook) -> None:
    crew = [Notices(Notify(webhook=hook.address, on=("drained",)), f"w{n}", lambda text: None) for n in range(8)]
    queue.put([Task(id="last", command="x")])
    for number, one in enumerate(crew):
        failed(one, queue, number)
        one.work([queue])  # not drained: one waits
    os.unlink(queue.directory("queued") / "last")
    for one in crew:
        one.work([queue])
    for one in crew:
        one.close()
    assert [json.loads(body)["event"] for _, body in hook.requests] == ["drained"]
    failed(crew[0], queue)
    again = Notices(Notify(webhook=hook.address, on=("drained",)), "w9", lambda text: None)
    failed(again, queue)
    again.close()
    assert len(hook.requests) == 2
