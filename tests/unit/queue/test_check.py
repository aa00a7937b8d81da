"""A check that is made of our own checks becomes dependencies, and any other stays as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.queue.check import done_check, split_check

BASE = Path("/a queue")
OURS = done_check(BASE, "one")
OTHER = done_check(BASE, "two")


@pytest.mark.parametrize(
    ("text", "check", "tasks"),
    [
        (OURS, "", ["one"]),
        (f" {OURS}\n", "", ["one"]),
        (f"{OURS} && {OTHER}", "", ["one", "two"]),
        (f"{OURS} &&test -f 'a && b'&& {OTHER}", "test -f 'a && b'", ["one", "two"]),
        (
            f"python -c 'import sys; sys.exit(not 3 > 2)' && {OURS}",
            "python -c 'import sys; sys.exit(not 3 > 2)'",
            ["one"],
        ),
        (f'test "$A" = "x;y" && {OURS}', 'test "$A" = "x;y"', ["one"]),
        (f"make -q 2>&1 >/dev/null && {OURS}", "make -q 2>&1 >/dev/null", ["one"]),
    ],
)
def test_ours_become_dependencies(text: str, check: str, tasks: list[str]) -> None:
    assert split_check(text, BASE) == (check, tuple(split_check(done_check(BASE, task), BASE)[1][0] for task in tasks))


def test_also_of_a_queue_with_quotation_marks_in_its_name() -> None:
    base = Path("""/it's a "queue" && more""")
    check, after = split_check(f"{done_check(base, 'one')} && true", base)
    assert (check, [str(found) for found in after]) == ("true", ["success:one"])


@pytest.mark.parametrize(
    "text",
    [
        'test "a&&b" = "a&&b"',  # nothing of it is ours: not a character is changed
        "test -f x&&test -f y",
        f"{OURS} || true",
        f"{OURS} && false; true",
        f"{OURS} && sleep 1 & true",
        f"! {OURS} && true",
        f"if {OURS} && true; then false; fi",
        f"({OURS} && false) || true",
        f"{{ {OURS} && false; }} || true",
        f"true # && {OURS}",
        f"echo \\' && {OURS} && echo \\'",
        f"true\n{OURS} && false\ntrue",
        f"cat <<X && {OURS}",
        f'echo "$(false && {OURS})"',
        f"echo 'unfinished && {OURS}",
        done_check(Path("/another queue"), "one"),
    ],
)
def test_whatever_else_a_shell_may_mean_stays(text: str) -> None:
    assert split_check(text, BASE) == (text, ())
