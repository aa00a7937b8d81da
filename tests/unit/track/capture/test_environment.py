"""Packages, and variables and command lines without secrets."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddock import wire
from paddock.record.redact import REDACTED, redact_argv, redact_variables
from paddock.track.capture import environment


def test_the_facts_name_python_and_can_be_written_down() -> None:
    found = environment.facts({"A": "b", "ODD": "x\udcff"})
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["variables"] == {"A": "b", "ODD": "x\\xff"}
    wire.dumps(found)


def test_the_packages_are_those_that_importlib_knows() -> None:
    known: dict[str, str] = {}
    for package in importlib.metadata.distributions():
        known.setdefault(re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower(), package.version)
    assert environment.packages()[0] == dict(sorted(known.items()))


def test_packages_of_every_make_are_found(tmp_path: Path) -> None:
    (tmp_path / "My_Package.x-1.2+cu118.dist-info").mkdir()
    (tmp_path / "old-0.1-py3.11.egg-info").mkdir()
    (tmp_path / "develop.egg-info").mkdir()
    (tmp_path / "develop.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: develop\nVersion: 3.0\n")
    (tmp_path / "broken.dist-info").mkdir()
    later = tmp_path / "later"
    (later / "my_package_x-9.dist-info").mkdir(parents=True)
    found, _ = environment.packages([str(tmp_path), str(tmp_path / "missing"), str(tmp_path / "a.zip"), str(later)])
    assert found == {"broken": "", "develop": "3.0", "my-package-x": "1.2+cu118", "old": "0.1"}


def test_packages_from_a_checkout_name_their_commit(tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    source = tmp_path / "a source"
    (source / ".git").mkdir(parents=True)
    (source / ".git" / "HEAD").write_text(f"{commit}\n")
    urls = {
        "vcs-1": {"url": "https://me:s3cret@example.org/x.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        "edit-1": {"url": f"file://{tmp_path}/a%20source", "dir_info": {"editable": True}},
        "odd-1": ["not", "a", "mapping"],
    }
    for name, url in urls.items():
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info" / "direct_url.json").write_bytes(wire.dumps(url))
    _, origins = environment.packages([str(tmp_path)])
    assert origins == {
        "edit": {"url": f"file://{tmp_path}/a%20source", "editable": "yes", "commit": commit},
        "vcs": {"url": "https://example.org/x.git", "commit": "abc"},
    }


@pytest.mark.parametrize(
    "name",
    [
        *("WANDB_API_KEY", "HF_TOKEN", "aws_secret_access_key", "DB_PASSWORD", "PASSWD", "GOOGLE_CREDENTIALS"),
        *("HTTP_AUTH", "SESSION_COOKIE", "MYSQL_PWD", "SMTP_PASS", "GITHUB_PAT", "SENTRY_DSN"),
    ],
)
def test_variables_named_like_secrets_are_hidden(name: str) -> None:
    assert redact_variables({name: "hunter2"}) == {name: REDACTED}


def test_ordinary_variables_stay() -> None:
    ordinary = {
        "CUDA_VISIBLE_DEVICES": "0,1",
        "OLDPWD": "/home/me",
        "PATH": "/usr/bin:/bin",
        "PWD": "/home/me",
        "TOKENIZERS_PARALLELISM": "false",
        "URL": "https://example.org:8080/a@b",
    }
    assert redact_variables(ordinary) == ordinary


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("postgres://me:hunter2@db:5432/x", "postgres://db:5432/x"),
        ("a=1 https://u:p@h/x http://v:q@i", "a=1 https://h/x http://i"),
        ("Server=db;Password=hunter2;Port=1", f"Server=db;Password={REDACTED};Port=1"),
        ('{"user": "me", "password": "hunter2"}', f'{{"user": "me", "password": "{REDACTED}"}}'),
        ("https://h/x?access_token=hunter2&y=1", f"https://h/x?access_token={REDACTED}&y=1"),
        ("ghp_" + "a" * 36, REDACTED),
        ("hf_" + "A" * 34, REDACTED),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n", REDACTED),
        ("X: y, Authorization: Basic aHVudGVyMg==", f"X: y, {REDACTED}"),
        ('{"authorization": "Token hunter2", "b": 1}', f'{{"{REDACTED}", "b": 1}}'),
        ("https://h/x?X-Amz-Date=1&X-Amz-Signature=hunter2", f"https://h/x?X-Amz-Date=1&X-Amz-Signature={REDACTED}"),
        ("https://h/x?sig=hunter2%3D&sv=1", f"https://h/x?sig={REDACTED}&sv=1"),
        ("PGPASSWORD=hunter2 psql", f"PGPASSWORD={REDACTED} psql"),
        ("git+ssh://git@h/x ssh://git@h/x ssh://me@h/x", "git+ssh://git@h/x ssh://git@h/x ssh://h/x"),
    ],
)
def test_secrets_in_the_values_of_innocent_variables_are_hidden(value: str, shown: str) -> None:
    assert redact_variables({"SETTING": value})["SETTING"] == shown


def test_a_long_word_is_looked_through_in_no_time() -> None:
    """A file as hex in a variable: as long as the square of its letters takes, nobody waits."""
    values = [(letter * 130_000)[:130_000] + sign for letter in ("a", "eyJ-") for sign in (":", "=", "@")]
    look = f"import sys; from paddock.record.redact import redact_text; list(map(redact_text, {values!r}))"
    subprocess.run([sys.executable, "-"], input=look.encode(), check=True, timeout=60)


def test_long_values_are_cut() -> None:
    found = redact_variables({"LONG": "ä" * 5000, "HUGE": "x" * (2 << 20)})
    assert found["LONG"].endswith("... (10000 bytes)")
    assert len(found["LONG"].encode()) < 4200
    assert len(found["HUGE"]) < 4200


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["--api-key=abc"], [f"--api-key={REDACTED}"]),
        (["--token", "abc", "--lr", "1"], ["--token", REDACTED, "--lr", "1"]),
        (["--password", "-abc"], ["--password", REDACTED]),
        (["--wandb_api_key", "abc"], ["--wandb_api_key", REDACTED]),
        (["+db.password=abc"], [f"+db.password={REDACTED}"]),
        (["logger.wandb.api_key=abc"], [f"logger.wandb.api_key={REDACTED}"]),
        (["--hf-token=abc"], [f"--hf-token={REDACTED}"]),
        (["--url", "https://u:p@h/x"], ["--url", "https://h/x"]),
        (["sk-" + "a" * 30], [REDACTED]),
        (["--token", "--lr", "1"], ["--token", "--lr", "1"]),
        (["x\udcff"], ["x\\xff"]),
        (["x\ud800"], ["x\\ud800"]),
        ([7], ["7"]),
    ],
)
def test_secrets_on_the_command_line_are_hidden(given: list[Any], shown: list[str]) -> None:
    assert redact_argv(given) == shown


@pytest.mark.parametrize(
    "argument",
    [
        *("--max-tokens=512", "--pad-token=<pad>", "--eos_token=</s>", "model.token_dim=32", "tokenizer=gpt2"),
        *("--sort-key=loss", "data.keys=[a,b]", "--num_heads=4", "--author=me", "monkey=1", "--auth=false"),
        *("s3://bucket/path", "user@host", "--secretary=1"),
    ],
)
def test_hyperparameters_that_only_sound_like_secrets_stay(argument: str) -> None:
    assert redact_argv(["train.py", argument, "last"]) == ["train.py", argument, "last"]
