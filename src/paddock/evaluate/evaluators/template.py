"""Values put into a shell command, wherever the user has put the {name}: bare, in 'single' or in "double" quotes, or
in what a `<<EOF` hands to a program. Pure.

A file may be called `$(rm -rf ~)`. Whatever a value is, the command gets it as that text and as nothing else.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

_BARE, _SINGLE, _DOUBLE, _BACKTICK, _HERE, _HERE_AS_IT_IS = "", "'", '"', "`", "<<", "<<''"
_SHARED = r"\\.|\$\{[^}]*\}|\$\(|[()'\"`]|\{(\w+)\}"
# A comment may have an apostrophe that opens nothing, and no value: one with a line's end would go on as a command.
_COMMENT = r"(?<![^\s;&|()`])#[^\n`]*"
_HERE_FROM = r"""<<<|<<-?[ \t]*(?:'[A-Za-z_]\w*'|"[A-Za-z_]\w*"|\\?[A-Za-z_]\w*)"""
_TOKEN = re.compile(rf"{_COMMENT}|{_HERE_FROM}|\n|{_SHARED}", re.S)
_IN_DOUBLE = re.compile(_SHARED, re.S)
_INTO = re.compile(r""">[>|]?\s*(["']?)\{(\w+)\}\1(?![\w./{"'$])""")
_IN_SINGLE = re.compile(r"'|\{(\w+)\}")  # there a backslash is a backslash
_AS_IT_IS = re.compile(r"\{(\w+)\}")
_TOKENS = {_SINGLE: _IN_SINGLE, _DOUBLE: _IN_DOUBLE, _HERE: _IN_DOUBLE, _HERE_AS_IT_IS: _AS_IT_IS}


class _Here(NamedTuple):
    """A `<<EOF` whose text begins with the next line."""

    end: re.Pattern[str]
    context: str


def written_to(template: str) -> set[str]:
    """Of which {names} the shell is to make a file: `> {out}`."""
    return {match[2] for match in _INTO.finditer(template)}


def fill(template: str, values: Mapping[str, str]) -> str:
    """A {name} that is none of `values` stays as it is; so does one in a comment."""
    return _fill(template, values, [_BARE])


def _fill(template: str, values: Mapping[str, str], inside: list[str]) -> str:
    """`inside`: where its beginning is. A command substitution in double quotes begins with quotes of its own."""
    pieces: list[str] = []
    waiting: list[_Here] = []
    end = 0
    while token := _TOKENS.get(inside[-1], _TOKEN).search(template, end):
        text = token[0]
        pieces.append(template[end : token.start()])
        end = token.end()
        if token[1] is not None and token[1] in values:
            text = _quoted(text, values[token[1]], inside)
        elif inside[-1] in (_BARE, _BACKTICK) and text.startswith("<<") and text != "<<<":
            waiting.append(_here(text))
        elif text == "\n" and waiting:
            for here in waiting:
                if over := here.end.search(template, end):
                    text += _fill(template[end : over.start()], values, [*inside, here.context])
                    end = over.start()
            waiting = []
        else:
            _follow(text, inside)
        pieces.append(text)
    return "".join((*pieces, template[end:]))


def _here(text: str) -> _Here:
    word = text.lstrip("<-").strip()
    plain = word.strip("'\"\\")
    tabs = r"\t*" if text.startswith("<<-") else ""
    context = _HERE if plain == word else _HERE_AS_IT_IS
    return _Here(re.compile(rf"^{tabs}{plain}$", re.M), context)


def _follow(text: str, inside: list[str]) -> None:
    """Where we are after this token of the shell."""
    now = inside[-1]
    if now == _SINGLE:
        if text == _SINGLE:
            inside.pop()
    elif text == "$(" or (text == "(" and now not in (_DOUBLE, _HERE)):
        inside.append(_BARE)
    elif (text == ")" and now == _BARE and len(inside) > 1) or (text in (_DOUBLE, _BACKTICK) and now == text):
        inside.pop()
    elif text == _BACKTICK or (text == _DOUBLE and now != _HERE) or (text == _SINGLE and now not in (_DOUBLE, _HERE)):
        inside.append(text)


def _quoted(name: str, value: str, inside: list[str]) -> str:
    now = inside[-1]
    if now in (_HERE, _HERE_AS_IT_IS) and "\n" in value:
        return name  # no quotes keep a line of it from being the last one of the text
    if now == _HERE_AS_IT_IS:
        return value
    if now == _SINGLE:
        found = value.replace("'", "'\\''")
    elif now in (_DOUBLE, _HERE):
        found = re.sub(r'([\\"$`])' if now == _DOUBLE else r"([\\$`])", r"\\\1", value)
    else:
        found = shlex.quote(value)
    # In backticks the shell takes one layer of backslashes away before it reads the rest.
    return re.sub(r"([\\$`])", r"\\\1", found) if _BACKTICK in inside else found
