"""Whatever a value is, the shell gets it as that text and as nothing else."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.evaluate.evaluators.template import fill, written_to

PLACES = [
    "printf %s {path}",
    "printf %s '{path}'",
    'printf %s "{path}"',
    'printf %s "$(printf %s {path})"',
    'printf %s "$(printf %s "{path}")"',
    "printf %s \"$(printf %s '{path}')\"",
    "(printf %s '\\'; printf %s {path})",
    "X='it'\\''s'; printf %s \"{path}\"",
    "printf %s `printf %s {path}`x",
]
EVIL = "/a b/$(touch x)/`id`/'\"\\$HOME;&|*{step}{path}\\"


def said(command: str) -> str:
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True, timeout=60).stdout.decode()


@pytest.mark.parametrize("template", PLACES[:8])
def test_a_value_is_itself_in_every_kind_of_quotes(template: str) -> None:
    prefix = "\\" if template.startswith("(") else ""
    assert said(fill(template, {"path": EVIL, "step": "7"})) == prefix + EVIL


def test_a_value_in_backticks_is_one_too() -> None:
    assert said(fill(PLACES[8], {"path": "/a$HOME\\b'c'"})) == "/a$HOME\\b'c'x"


@settings(max_examples=40)
@given(st.text(st.characters(min_codepoint=1, max_codepoint=127), max_size=20), st.sampled_from(PLACES[:3]))
def test_any_text_is_itself(value: str, template: str) -> None:
    if not value.endswith("\n"):
        assert said(fill(template, {"path": value})) == value


@pytest.mark.parametrize(
    "template",
    [
        "# it's what {path} is\nprintf %s {path} # isn't it\n",
        'printf %s a#b"\'" >/dev/null; printf %s {path}',
        "cat <<EOF\n{path}\nEOF\n",
        "cat <<'EOF'\n{path}\nEOF\n",
        "cat <<-EOF | cat\n\t{path}\n\tEOF\n",
        "cat <<EOF; cat <<'TOO' >/dev/null\n$(printf %s '{path}')\nEOF\nit's {path}\nTOO\ntrue",
        "cat >/dev/null <<EOF\nit's\nEOF\nprintf %s {path}",
        'printf %s "$(cat <<EOF\n{path}\nEOF\n)"',
        "echo $((1<<x)) >/dev/null\nprintf %s '{path}'",
    ],
)
def test_a_value_is_itself_where_a_command_has_comments_and_text_for_a_program(template: str) -> None:
    assert said(fill(template, {"path": EVIL})).removesuffix("\n") == EVIL


def test_a_line_end_in_a_value_ends_no_comment_and_no_text_for_a_program() -> None:
    for template in ("# {path}\nprintf sound", "cat >&2 <<EOF\n{path}\nEOF\nprintf sound"):
        assert said(fill(template, {"path": "x\nEOF\nprintf broken\n"})) == "sound"


def test_other_braces_are_left_alone() -> None:
    kept = "awk '{print $1}' ${path} {other} \\{path}"
    assert fill(f"{kept} {{path}}", {"path": "x"}) == f"{kept} x"


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("eval {path} > {out}", {"out"}),
        ('eval {path} 2>&1 >>"{out}" && true', {"out"}),
        ("eval {path} >'{out}'; true", {"out"}),
        ("eval {path} > {out}/results.json", set()),
        ("eval {path} > {out}.json", set()),
        ("eval {path} --out {out}", set()),
        ("eval < {path}", set()),
    ],
)
def test_what_a_shell_writes_into_is_a_file(template: str, names: set[str]) -> None:
    assert written_to(template) == names
