"""The query language: text in, a tree of plain values out. Nothing is ever evaluated.

    query  := any
    any    := all ("or" all)*
    all    := not (["and"] not)*                     words beside each other mean "and"
    not    := "not" not | "(" any ")" | term
    term   := key op value ("," value)*              several values: any of them (= and != only)
            | key ["not"] "in" "(" value ("," value)* ")"
            | "has:" key                             the run has this key, even if it is null
            | "tag:" word                            the run carries this tag
            | "star" | "bug"
    op     := = == != < <= > >= ~ !~                 ~ searches a regular expression
    key    := a word, or a word with quoted parts:   config."my key"
    value  := a word, or text in single or double quotes (backslash escapes the quote);
              after ~ anything up to the next space

Keys

    id name project group job_type tags notes state reason created started ended seen duration age attempts command
    host user commit code parent queue star bug alerts damaged dropped path the run itself
    config.KEY  summary.KEY                                                 dotted: config.model.name
    last.METRIC min.METRIC max.METRIC best.METRIC step.METRIC count.METRIC  a metric's numbers
    anything else: a config key if the run has it, else a metric's last value, else a key of the summary

Values

    Numbers are compared as numbers when both sides are numbers, everything else as text. true, false, null and nan
    mean themselves unless quoted. A key that a run lacks fits no comparison; `!=` and `!~` are exactly "not =" and
    "not ~", so they do fit it (add has:KEY to leave such runs out).
    created, started, ended and seen take a date (2026-11-01, 2026-11-01T12:30, today, yesterday; local time) or an age:
    `created>2d` is younger than two days. duration and age take seconds or 90s, 15m, 1h30m, 2d, 1w.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from time import time
from typing import Any

from paddock.amounts import seconds_in
from paddock.compare.fields import DURATION_FIELDS, TIME_FIELDS
from paddock.compare.moments import Moment, parse_moment
from paddock.compare.patterns import check_pattern
from paddock.errors import QueryError

MAX_LENGTH = 10_000
MAX_DEPTH = 50
_OPERATORS = ("==", "!=", "<=", ">=", "!~", "=", "<", ">", "~")
_WORD = re.compile(r"""[^\s'"()=<>!~,]+""")
_KEYWORDS = ("and", "or", "not", "in")


@dataclass(frozen=True)
class Value:
    """One side of a comparison: as it was typed, and as what it means."""

    text: str
    meaning: Any  # float, int, bool, None, str, Moment, or a compiled pattern


@dataclass(frozen=True)
class Compare:
    key: str
    op: str  # = < <= > >= ~
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Has:
    key: str


@dataclass(frozen=True)
class Not:
    item: Query


@dataclass(frozen=True)
class All:
    items: tuple[Query, ...]


@dataclass(frozen=True)
class Any_:
    items: tuple[Query, ...]


Query = Compare | Has | Not | All | Any_
EVERYTHING = All(())


@dataclass(frozen=True)
class _Token:
    kind: str  # word, text, op, "(", ")", ",", end
    text: str
    start: int
    end: int
    quoted: bool = False


def parse(text: str, now: float | None = None) -> Query:
    """The query as data; raises QueryError with the place marked and what was expected there."""
    if len(text) > MAX_LENGTH:
        raise QueryError(f"The filter is longer than {MAX_LENGTH:,} characters.", hint="Shorten it.")
    parser = _Parser(text, _tokens(text), time() if now is None else now)
    if parser.token.kind == "end":
        return EVERYTHING
    tree = parser.any(0)
    if parser.token.kind != "end":
        parser.fail("the end, 'and' or 'or'")
    return tree


def _error(text: str, at: int, expected: str) -> QueryError:
    line = text.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    start = max(0, at - 100)  # a caret under a long query is of use only when the place is on the screen
    shown = line[start : at + 60]
    return QueryError(
        f"The filter cannot be read at character {at + 1}: expected {expected}."
        f" `paddock ls --help` shows the language.\n    {shown}\n    {' ' * (at - start)}^"
    )


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
        elif char in "(),":
            found.append(_Token(char, char, at, at + 1))
            at += 1
        elif op := next((op for op in _OPERATORS if text.startswith(op, at)), None):
            found.append(_Token("op", op, at, at + len(op)))
            at += len(op)
            if op.endswith("~") and text[at : at + 1] not in ("'", '"'):
                at = _pattern(text, at, found)
        elif char == "!":
            raise _error(text, at, "!= or !~")
        else:
            token = _word(text, at)
            found.append(token)
            at = token.end
    found.append(_Token("end", "", len(text), len(text)))
    return found


def _word(text: str, start: int) -> _Token:
    """Bare and quoted pieces without a space between them are one word: config."my key".x"""
    pieces: list[str] = []
    at, bare = start, False
    while at < len(text):
        if text[at] in "'\"":
            piece, at = _quoted(text, at)
            pieces.append(piece)
        elif match := _WORD.match(text, at):
            bare = True
            pieces.append(match.group())
            at = match.end()
        else:
            break
    return _Token("word" if bare else "text", "".join(pieces), start, at, quoted=len(pieces) > 1 or not bare)


def _pattern(text: str, start: int, found: list[_Token]) -> int:
    """A pattern needs no quotes: it reaches to the next space, or to a bracket that it did not open itself."""
    at, depth = start, 0
    while at < len(text) and not text[at].isspace():
        if text[at] == "\\":
            at += 1
        elif text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth < 0:
                break
        at += 1
    at = min(at, len(text))
    if at > start:
        found.append(_Token("text", text[start:at], start, at, quoted=True))
    return at


def _quoted(text: str, start: int) -> tuple[str, int]:
    piece: list[str] = []
    quote, at = text[start], start + 1
    while at < len(text):
        char = text[at]
        if char == quote:
            return "".join(piece), at + 1
        if char == "\\" and text[at + 1 : at + 2] in (quote, "\\"):
            at += 1
            char = text[at]
        piece.append(char)
        at += 1
    raise _error(text, len(text), f"a closing {quote} for the one at character {start + 1}")


class _Parser:
    def __init__(self, text: str, tokens: list[_Token], now: float) -> None:
        self.text, self.tokens, self.now = text, tokens, now
        self.at = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def next(self) -> _Token:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def fail(self, expected: str) -> None:
        raise _error(self.text, self.token.start, expected)

    def keyword(self, word: str) -> bool:
        token = self.token
        return token.kind == "word" and not token.quoted and token.text.lower() == word

    def any(self, depth: int) -> Query:
        items = [self.all(depth)]
        while self.keyword("or"):
            self.next()
            items.append(self.all(depth))
        return items[0] if len(items) == 1 else Any_(tuple(items))

    def all(self, depth: int) -> Query:
        items = [self.negation(depth)]
        while True:
            if self.keyword("and"):
                self.next()
            elif self.token.kind in ("end", ")") or self.keyword("or"):
                return items[0] if len(items) == 1 else All(tuple(items))
            items.append(self.negation(depth))

    def negation(self, depth: int) -> Query:
        if depth > MAX_DEPTH:
            self.fail(f"at most {MAX_DEPTH} levels of brackets and 'not'")
        if self.keyword("not"):
            self.next()
            return Not(self.negation(depth + 1))
        if self.token.kind == "(":
            self.next()
            inner = self.any(depth + 1)
            if self.token.kind != ")":
                self.fail("')', 'and' or 'or'")
            self.next()
            return inner
        return self.term()

    def term(self) -> Query:
        token = self.token
        if token.kind not in ("word", "text") or any(self.keyword(word) for word in _KEYWORDS):
            self.fail("a key such as state, lr or last.loss")
        self.next()
        if token.text.startswith("has:") and self.token.kind != "op":
            return Has(self.after_colon(token, "a key"))
        if token.text.startswith("tag:") and self.token.kind != "op":
            tag = self.after_colon(token, "a tag")
            return Compare("tags", "=", (Value(tag, tag),))
        negative = self.keyword("not") and self.followed_by_in()
        if negative:
            self.next()
        if self.keyword("in"):
            self.next()
            found: Query = Compare(token.text, "=", self.bracketed(token.text))
            return Not(found) if negative else found
        if self.token.kind == "op":
            return self.comparison(token.text)
        if token.text in ("star", "bug") and not token.quoted:
            return Compare(token.text, "=", (Value("true", True),))
        raise _error(self.text, token.end, f"a comparison such as = or < after {token.text!r}")

    def after_colon(self, token: _Token, what: str) -> str:
        rest = token.text.partition(":")[2]
        if not rest:
            raise _error(self.text, token.end, f"{what} right after {token.text!r}")
        return rest

    def followed_by_in(self) -> bool:
        following = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        return following.kind == "word" and following.text.lower() == "in"

    def comparison(self, key: str) -> Query:
        written = self.next()
        op = {"==": "=", "!=": "=", "!~": "~"}.get(written.text, written.text)
        values = [self.value(key, op)]
        while self.token.kind == ",":
            if op not in ("=", "~"):
                self.fail(f"one value after {written.text!r} (only = and != take several)")
            self.next()
            values.append(self.value(key, op))
        found = Compare(key, op, tuple(values))
        return Not(found) if written.text.startswith("!") else found

    def bracketed(self, key: str) -> tuple[Value, ...]:
        if self.token.kind != "(":
            self.fail("'(' after 'in'")
        self.next()
        values = [self.value(key, "=")]
        while self.token.kind == ",":
            self.next()
            values.append(self.value(key, "="))
        if self.token.kind != ")":
            self.fail("',' or ')'")
        self.next()
        return tuple(values)

    def value(self, key: str, op: str) -> Value:
        token = self.token
        if token.kind not in ("word", "text"):
            self.fail("a value")
        if op == "~":
            try:
                meaning: Any = check_pattern(token.text)
            except ValueError as error:
                raise _error(self.text, token.start, str(error)) from None
        elif key in TIME_FIELDS:
            meaning = parse_moment(token.text, self.now)
            if meaning is None:
                self.fail("a date (2026-11-01, today) or an age (2d, 3h)")
            if op == "=" and meaning.start == meaning.end:
                self.fail("a day, or < or > with an age")
        elif key in DURATION_FIELDS:
            meaning = seconds_in(token.text)
            if meaning is None:
                self.fail("a duration such as 90s, 200ms, 1h30m, 4:00:00 or 2d")
        else:
            meaning = token.text if token.quoted else _literal(token.text)
        self.next()
        return Value(token.text, meaning)


_NUMBER = re.compile(r"[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _literal(word: str) -> Any:
    lower = word.lower()
    if lower in ("true", "false"):
        return lower == "true"
    if lower in ("null", "none"):
        return None
    if lower.lstrip("+-") in ("nan", "inf", "infinity"):
        return float(lower)
    if _NUMBER.fullmatch(word):
        try:
            return int(word)
        except ValueError:
            pass
        try:
            number = float(word)
        except ValueError:  # 1__0
            return word
        return number if not math.isinf(number) else word
    return word


__all__ = ["EVERYTHING", "All", "Any_", "Compare", "Has", "Moment", "Not", "Query", "Value", "parse"]
