"""Secrets out of what is recorded. Rather one value too many hidden in the environment; in a command line, whose words
are hyperparameters that a reproduction needs, only what is plainly a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

REDACTED = "<redacted>"
VALUE_BYTES = 4096

_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|(^|_)(PASS|PWD|PAT|SAS|DSN)(_|$)", re.I
)
_PLAIN_NAMES = frozenset({"PWD", "OLDPWD"})
# A switch is no secret: TOKENIZERS_PARALLELISM=false says something about the run.
_PLAIN_VALUES = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off", "none"})
_CREDENTIALS = re.compile(r"([A-Za-z][\w+.-]*://)[^/\s'\"]*@")
# Kinds of token that carry their maker's mark, whatever the variable is called.
_MARKED = re.compile(
    r"\b(ghp|gho|ghu|ghs|ghr)_\w{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{16,}|\bhf_[A-Za-z0-9]{30,}|\bsk-[\w-]{20,}"
    r"|\bxox[abposr]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*|\bBearer\s+\S+",
    re.S,
)
_SECRET_WORD = (
    r"(?:password|passwd|passphrase|secret|secret[-_]?key|credentials?|cookie|authorization|auth|token"
    r"|(?:api|access|auth|account|private|signing|encryption|license|ssh|wandb|openai|anthropic|hf|aws)[-_]?key"
    r"|(?:api|access|auth|bearer|hf|hub|huggingface|wandb|github|gitlab|git|gh|refresh|session|secret|security|bot"
    r"|slack|oauth|csrf|push|paddock|sas|id|user)[-_]?token"
    r"|(?:db|user|admin|root|http|mysql|postgres|redis|smtp|client|app|aws|api)[-_]?(?:password|passwd|pwd|secret))"
)
_ASSIGNMENT = re.compile(rf"(?is)^((?:-{{0,2}}|\+{{0,2}}|.*[._?&;/])['\"]?{_SECRET_WORD}['\"]?\s*[=:]\s*)(.+)$")
_OPTION = re.compile(rf"(?i)^--?{_SECRET_WORD}$")
_INNER = re.compile(rf"(?i)((?:^|[?&;,{{\s'\"]){_SECRET_WORD}['\"]?\s*[=:]\s*['\"]?)([^\s'\",;&}}]+)")


def without_credentials(text: str) -> str:
    """`https://user:token@host/x` -> `https://host/x`; ssh's `git@` is no secret and needed for cloning."""
    return _CREDENTIALS.sub(lambda m: m[0] if m[0] == "ssh://git@" else m[1], text) if "@" in text else text


def redact_text(text: str) -> str:
    """A value without credentials in urls, without tokens that can be told by their looks, without `password=...`."""
    text = _MARKED.sub(REDACTED, without_credentials(text))
    return _INNER.sub(lambda m: m[1] + REDACTED, text) if "=" in text or ":" in text else text


def redact_variables(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, value in sorted(environ.items()):
        if value.lower() not in _PLAIN_VALUES and _NAME.search(name) and name not in _PLAIN_NAMES:
            value = REDACTED
        elif len(value) <= 1 << 20:
            value = _cut(redact_text(_text(value)))
        else:
            value = REDACTED  # too long to look through
        found[_text(name)] = value
    return found


def redact_argv(arguments: Iterable[str]) -> list[str]:
    """The command line with `--api-key=...`, `--token X`, `db.password=...` hidden, and nothing else changed."""
    found: list[str] = []
    hide = False
    for argument in map(_text, arguments):
        if hide and not argument.startswith("--"):
            found.append(REDACTED)
            hide = False
            continue
        hide = _OPTION.match(argument) is not None
        secret = _ASSIGNMENT.match(argument)
        if secret and secret[2].lower() not in _PLAIN_VALUES:
            found.append(secret[1] + REDACTED)
        else:
            found.append(_MARKED.sub(REDACTED, without_credentials(argument)))
    return found


def _text(value: str) -> str:
    """Without the lone surrogates that stand for bytes outside UTF-8, which JSON cannot hold."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _cut(value: str) -> str:
    raw = value.encode("utf-8")
    if len(raw) <= VALUE_BYTES:
        return value
    return raw[:VALUE_BYTES].decode("utf-8", "ignore") + f"... ({len(raw)} bytes)"
