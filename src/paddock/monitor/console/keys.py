"""Keys out of the bytes that a terminal sends: escape sequences have names, everything else is the character itself."""

from __future__ import annotations

import codecs
import re

UP, DOWN, LEFT, RIGHT, HOME, END, PAGE_UP, PAGE_DOWN = "up", "down", "left", "right", "home", "end", "pgup", "pgdn"
ENTER, ESCAPE, TAB, BACK_TAB, BACKSPACE, DELETE = "enter", "esc", "tab", "backtab", "backspace", "delete"
INTERRUPT, CLEAR = "ctrl-c", "ctrl-u"

_NAMED = {
    "[A": UP,
    "[B": DOWN,
    "[C": RIGHT,
    "[D": LEFT,
    "OA": UP,
    "OB": DOWN,
    "OC": RIGHT,
    "OD": LEFT,
    "[H": HOME,
    "[F": END,
    "OH": HOME,
    "OF": END,
    "[1~": HOME,
    "[4~": END,
    "[7~": HOME,
    "[8~": END,
    "[5~": PAGE_UP,
    "[6~": PAGE_DOWN,
    "[3~": DELETE,
    "[Z": BACK_TAB,
}
_CONTROLS = {"\r": ENTER, "\n": ENTER, "\t": TAB, "\x7f": BACKSPACE, "\x08": BACKSPACE, "\x03": INTERRUPT}
_CONTROLS |= {"\x15": CLEAR, "\x04": INTERRUPT}
_SEQUENCE = re.compile(r"\x1b(\[[0-9;:<=>?]*[ -/]*[@-~]|O[A-Za-z]|[^\[O\x1b])")
_UNFINISHED = re.compile(r"\x1b(\[[0-9;:<=>?]*[ -/]*|O)?\Z")


class Keys:
    """A sequence may come in pieces: what is unfinished waits for the rest."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    @property
    def waits(self) -> bool:
        """Whether the rest of a sequence is to come, or was no sequence but the escape key."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[str]:
        text, self._rest = self._rest + self._decoder.decode(data), ""
        found = []
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                found += _plain(text[at])
                at += 1
            elif match := _SEQUENCE.match(text, at):
                # What has no name is dropped whole: half a sequence would be read as letters that order something.
                found += [_NAMED[match[1]]] if match[1] in _NAMED else []
                at = match.end()
            elif _UNFINISHED.match(text, at):
                self._rest = text[at:]
                break
            else:
                found.append(ESCAPE)
                at += 1
        return found

    def flush(self) -> list[str]:
        """Nothing more came: it was the escape key."""
        rest, self._rest = self._rest, ""
        return [ESCAPE] if rest else []


def _plain(char: str) -> list[str]:
    if char in _CONTROLS:
        return [_CONTROLS[char]]
    return [char] if char.isprintable() else []
