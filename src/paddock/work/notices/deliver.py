"""A notice goes out: to a command, a webhook, by mail. Each raises OSError or Undelivered, without secrets in it."""

from __future__ import annotations

import os
import signal
import smtplib
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from http.client import HTTPException
from typing import Any

from paddock import wire
from paddock.record.printed import clean_line
from paddock.work.notices.notify import Notify, host


class Undelivered(Exception):
    """Why it did not arrive."""


def ways(notify: Notify) -> dict[str, Callable[[Notify, Mapping[str, Any]], None]]:
    """Those that are set, by the name that they are complained of with."""
    found: dict[str, Callable[[Notify, Mapping[str, Any]], None]] = {}
    if notify.command:
        found["the command"] = run_command
    if notify.webhook:
        found[f"the webhook at {host(notify.webhook)}"] = post
    if notify.mail:
        found["mail"] = send_mail
    return found


def run_command(notify: Notify, notice: Mapping[str, Any]) -> None:
    """All of the notice on stdin as JSON, the essential in the environment."""
    variables = {
        "PADDOCK_NOTICE_EVENT": notice["event"],
        "PADDOCK_NOTICE_TEXT": _inert(notice["text"]),
        "PADDOCK_NOTICE_TASK": notice.get("task", ""),
        "PADDOCK_NOTICE_NAME": notice.get("name", ""),
        "PADDOCK_NOTICE_QUEUE": notice["queue"],
        "PADDOCK_NOTICE_WORKER": notice["worker"],
        "PADDOCK_NOTICE_EXIT": notice.get("exit", ""),
    }
    process = subprocess.Popen(
        ["/bin/sh", "-c", notify.command],
        env={**os.environ, **{key: str(value).replace("\0", "") for key, value in variables.items()}},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.communicate(wire.dumps(notice) + b"\n", timeout=notify.timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Undelivered(f"it took longer than {notify.timeout:g} s") from None
    if process.returncode:
        raise Undelivered(f"exit code {process.returncode}" if process.returncode > 0 else "it was killed")


def _inert(text: Any) -> str:
    """A run's name and what it printed are read by people, in terminals too: it must not be able to drive one."""
    return "\n".join(clean_line(line, colours=False) for line in str(text).split("\n"))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Elsewhere the key in a header is nobody's business."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        return None


def post(notify: Notify, notice: Mapping[str, Any]) -> None:
    text = _inert(notice["text"])
    body: Any = {"slack": {"text": text}, "discord": {"content": text[:2000]}}.get(notify.format, notice)
    plain = notify.format == "text"
    request = urllib.request.Request(
        notify.webhook,
        data=text.encode("utf-8", "replace") if plain else wire.dumps(wire.plain(body).value),
        headers={"Content-Type": "text/plain; charset=utf-8" if plain else "application/json", **notify.headers},
        method="POST",
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=notify.timeout) as answer:
            answer.read(1 << 16)
    except urllib.error.HTTPError as error:
        error.close()
        raise Undelivered(f"it answered {error.code}") from None
    except urllib.error.URLError as error:
        raise Undelivered(str(getattr(error.reason, "strerror", None) or error.reason)) from None
    except (HTTPException, ValueError) as error:  # no answer that can be read; the address is not repeated
        raise Undelivered(type(error).__name__) from None


def message(notify: Notify, notice: Mapping[str, Any]) -> EmailMessage:
    mail = EmailMessage()
    first, _, _ = _inert(notice["text"]).partition("\n")
    mail["Subject"] = " ".join(f"[paddock] {first}".split())[:200]
    mail["To"] = ", ".join(notify.mail)
    mail["From"] = notify.mail_from or notify.mail[0]
    mail["Date"] = formatdate(localtime=True)
    mail["Message-ID"] = make_msgid(domain="paddock.invalid")
    mail["Auto-Submitted"] = "auto-generated"
    facts = [(key, notice[key]) for key in notice if key not in ("text", "tail", "v")]
    lines = [str(notice["text"]), "", *(f"{key}: {value}" for key, value in facts if value not in ("", None))]
    if notice.get("tail"):
        lines += ["", *(f"| {line}" for line in str(notice["tail"]).split("\n"))]
    mail.set_content(_inert("\n".join(lines)).encode("utf-8", "replace").decode() + "\n")
    return mail


def send_mail(notify: Notify, notice: Mapping[str, Any]) -> None:
    try:
        mail = message(notify, notice)
    except ValueError as error:
        raise Undelivered(f"the address is wrong ({error})") from None
    if notify.smtp:
        _by_smtp(notify, mail)
        return
    try:
        done = subprocess.run(
            [notify.sendmail, "-t", "-i"],
            input=mail.as_bytes(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=notify.timeout,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise Undelivered(f"{notify.sendmail} took longer than {notify.timeout:g} s") from None
    if done.returncode:
        raise Undelivered(f"{notify.sendmail}: exit code {done.returncode}")


def _by_smtp(notify: Notify, mail: EmailMessage) -> None:
    name, _, port = notify.smtp.partition(":")
    number = int(port) if port.isdigit() else 587 if notify.smtp_user else 25
    kind = smtplib.SMTP_SSL if number == 465 else smtplib.SMTP
    try:
        with kind(name, number, timeout=notify.timeout) as server:
            if number != 465 and _offers_tls(server):
                import ssl

                server.starttls(context=ssl.create_default_context())
            elif number != 465 and notify.smtp_user and name not in ("localhost", "127.0.0.1", "::1"):
                raise Undelivered(f"{name} offers no encryption, and a password is not sent without")
            if notify.smtp_user:
                server.login(notify.smtp_user, notify.password)
            server.send_message(mail)
    except smtplib.SMTPException as error:
        raise Undelivered(f"{name}: {type(error).__name__}") from None


def _offers_tls(server: smtplib.SMTP) -> bool:
    server.ehlo_or_helo_if_needed()
    return server.has_extn("starttls")
