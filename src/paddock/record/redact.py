"""Secrets out of what is recorded. Rather one value too many hidden in the environment; in a command line, whose words
are hyperparameters that a reproduction needs, only what is plainly a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from paddock.record.manifest import text_path

REDACTED = "<redacted>"
VALUE_BYTES = 4096

_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|WEBHOOK|(^|_)(PASS|PWD|PAT|SAS|DSN)(_|$)", re.I
)
_PLAIN_NAMES = frozenset({"PWD", "OLDPWD"})
# A switch is no secret: TOKENIZERS_PARALLELISM=false says something about the run.
_PLAIN_VALUES = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off", "none"})
# It begins at the `://`: looked for from the scheme on, each letter of a long word would be one that it may begin with.
_CREDENTIALS = re.compile(r"(?<=[\w+.-])://[^/\s'\"]*@")
# Kinds of token that carry their maker's mark, whatever the variable is called.
_MARKED = re.compile(
    r"\b(ghp|gho|ghu|ghs|ghr)_\w{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{16,}|\bhf_[A-Za-z0-9]{30,}|\bsk-[\w-]{20,}"
    r"|\bxox[abposr]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{8,4000}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*|\bBearer\s+\S+"
    r"|(?i:\bauthorization['\"]?\s*[=:]\s*['\"]?(?:basic|digest|token|apikey)\s+[^\s'\",;&}]+)",
    re.S,
)
# What a link that is good without a password is signed with: S3, Google, Azure.
_SIGNATURE = re.compile(r"([?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=)[^\s'\"&]+", re.I)
_SECRETS = """
password passwd passphrase pwd secret secrets credential credentials cookie authorization auth apikey
"""
# What makes a key or a token one to hide: `--api-key`, `--hf-token`, not `--sort-key`, `--eos-token`.
_OF_KEYS = """
api access secret private account signing encryption license ssh wandb openai anthropic hf aws
"""
_OF_TOKENS = """
api access auth bearer hf hub huggingface wandb github gitlab git gh refresh session secret security bot slack oauth
csrf push paddock sas id user
"""
_SECRET_WORDS, _KEY_WORDS, _TOKEN_WORDS = (frozenset(words.split()) for words in (_SECRETS, _OF_KEYS, _OF_TOKENS))
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
# From the beginning of a word only: from each of its letters on, a word of 100 kB (a file as hex) takes minutes.
_INNER = re.compile(
    rf"""(?i)(?<![\w.-])([\w.-]*(?:key|token|{"|".join(_SECRETS.split())}))(['"]?\s*[=:]\s*['"]?)([^\s'",;&}}]+)"""
)


def names_secret(name: str) -> bool:
    """Whether an option or a setting of this name holds a secret, judged by its last words."""
    words = [word.lower() for word in _WORDS.findall(name.rpartition(".")[2])]
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "key":
        return before in _KEY_WORDS
    if last == "token":
        return not before or before in _TOKEN_WORDS
    return last in _SECRET_WORDS or last.endswith(("password", "passwd"))  # PGPASSWORD


def without_credentials(text: str) -> str:
    """`https://user:token@host/x` -> `https://host/x`; ssh's `git@` is no secret and needed for cloning."""
    return _CREDENTIALS.sub(_unnamed, text) if "@" in text else text


def _unnamed(found: re.Match[str]) -> str:
    return found[0] if found[0] == "://git@" and found.string.endswith("ssh", 0, found.start()) else "://"


def redact_text(text: str) -> str:
    """A value without credentials in urls, without tokens that can be told by their looks, without `password=...`."""
    text = _MARKED.sub(REDACTED, without_credentials(text))
    if "?" in text:
        text = _SIGNATURE.sub(rf"\1{REDACTED}", text)
    return _INNER.sub(_hide, text) if "=" in text or ":" in text else text


def _hide(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    return f"{name}{between}{REDACTED}" if names_secret(name) and value.lower() not in _PLAIN_VALUES else found[0]


def redact_variables(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, value in sorted(environ.items()):
        if value.lower() not in _PLAIN_VALUES and _NAME.search(name) and name not in _PLAIN_NAMES:
            value = REDACTED
        elif len(value) <= 1 << 20:
            value = _cut(redact_text(text_path(value)))
        else:
            value = REDACTED  # too long to look through
        found[text_path(name)] = value
    return found


def redact_config(values: Any) -> Any:
    """A config (as plain data) without the values of keys that plainly name secrets: argparse puts the `--api-key` of
    the command line there too."""
    if isinstance(values, dict):
        return {
            key: REDACTED
            if isinstance(value, str) and value.lower() not in _PLAIN_VALUES and names_secret(str(key))
            else redact_config(value)
            for key, value in values.items()
        }
    return [redact_config(item) for item in values] if isinstance(values, list) else values


def redact_argv(arguments: Iterable[str]) -> list[str]:
    """The command line with `--api-key=...`, `--token X`, `db.password=...` hidden, and nothing else changed."""
    found: list[str] = []
    hide = False
    for argument in (text_path(str(argument)) for argument in arguments):
        if hide and not argument.startswith("--"):
            found.append(REDACTED)
            hide = False
            continue
        name, equals, value = argument.partition("=")
        hide = not equals and name.startswith("-") and names_secret(name)
        if equals and value.lower() not in _PLAIN_VALUES and re.fullmatch(r"[\w.+~/-]+", name) and names_secret(name):
            found.append(f"{name}={REDACTED}")
        else:
            found.append(redact_text(argument))
    return found


def _cut(value: str) -> str:
    raw = value.encode("utf-8")
    if len(raw) <= VALUE_BYTES:
        return value
    return raw[:VALUE_BYTES].decode("utf-8", "ignore") + f"... ({len(raw)} bytes)"
