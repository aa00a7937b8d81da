"""What an evaluator is called."""

from __future__ import annotations

import pytest

from paddock.evaluate.evaluators import naming
from paddock.evaluate.evaluators.evaluator import Evaluator


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("arc: lm_eval {path}", "arc", "lm_eval {path}"),
        ("arc:file.py:fn", "arc", "file.py:fn"),
        ("top-5:pkg.mod.fn", "top-5", "pkg.mod.fn"),
        ("lm_eval {path}", "", "lm_eval {path}"),
        ("A=b:c lm_eval {path}", "", "A=b:c lm_eval {path}"),
        ("a/b.py:fn", "", "a/b.py:fn"),
        ("curl http://x/{path}", "", "curl http://x/{path}"),
        (": ; true {path}", "", ": ; true {path}"),
    ],
)
def test_a_name_stands_before_a_colon(text: str, name: str, rest: str) -> None:
    assert naming.split(text) == (name, rest)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("lm_eval --model hf", "lm_eval"),
        ("CUDA_VISIBLE_DEVICES=0 lm_eval {path}", "lm_eval"),
        ("A='x y' env B=2 /opt/bin/lm-eval {path}", "lm_eval"),
        ("echo 'unbalanced {path}", "echo"),
        ("A=1", "command"),
    ],
)
def test_a_command_is_called_by_its_program(text: str, name: str) -> None:
    assert naming.of_command(text) == name


def test_different_commands_have_different_names_and_what_was_named_keeps_it() -> None:
    def command(name: str, text: str) -> Evaluator:
        return Evaluator(name, {"command": text})

    found = [command("sh", "sh 1"), command("sh", "sh 2"), command("sh_2", "sh 3"), command("sh", "sh 1")]
    names = [one.name for one in naming.apart(found, [False, False, True, False])]
    assert names == ["sh", "sh_3", "sh_2", "sh"]  # the last is the first again
