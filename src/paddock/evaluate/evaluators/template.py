"""Values put into a shell command, wherever the user has put the {name}: bare, in 'single' or in "double" quotes. Pure.

A file may be called `$(rm -rf ~)`. Whatever a value is, the command gets it as that text and as nothing else.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

_BARE, _SINGLE, _DOUBLE, _BACKTICK = "", "'", '"', "`"
_TOKEN = re.compile(r"\\.|\$\{[^}]*\}|\$\(|[()'\"`]|\{(\w+)\}", re.S)
_INTO = re.compile(r""">[>|]?\s*(["']?)\{(\w+)\}\1(?![\w./{"'$])""")
_IN_SINGLE = re.compile(r"'|\{(\w+)\}")  # there a backslash is a backslash


def written_to(template: str) -> set[str]:
    """Of which {names} the shell is to make a file: `> {out}`."""
    return {match[2] for match in _INTO.finditer(template)}


def fill(template: str, values: Mapping[str, str]) -> str:
    """A {name} that is none of `values` stays as it is."""
    inside = [_BARE]  # a command substitution in double quotes begins with quotes of its own
    pieces: list[str] = []
    end = 0
    while token := (_IN_SINGLE if inside[-1] == _SINGLE else _TOKEN).search(template, end):
        text = token[0]
        if token[1] is not None and token[1] in values:
            text = _quoted(values[token[1]], inside)
        else:
            _follow(text, inside)
        pieces += [template[end : token.start()], text]
        end = token.end()
    return "".join((*pieces, template[end:]))


def _follow(text: str, inside: list[str]) -> None:
    """Where we are after this token of the shell."""
    now = inside[-1]
    if now == _SINGLE:
        if text == _SINGLE:
            inside.pop()
    elif text == "$(" or (text == "(" and now != _DOUBLE):
        inside.append(_BARE)
    elif (text == ")" and now == _BARE and len(inside) > 1) or (text in (_DOUBLE, _BACKTICK) and now == text):
        inside.pop()
    elif text in (_DOUBLE, _BACKTICK) or (text == _SINGLE and now != _DOUBLE):
        inside.append(text)


def _quoted(value: str, inside: list[str]) -> str:
    if inside[-1] == _SINGLE:
        found = value.replace("'", "'\\''")
    elif inside[-1] == _DOUBLE:
        found = re.sub(r'([\\"$`])', r"\\\1", value)
    else:
        found = shlex.quote(value)
    # In backticks the shell takes one layer of backslashes away before it reads the rest.
    return re.sub(r"([\\$`])", r"\\\1", found) if _BACKTICK in inside else found
