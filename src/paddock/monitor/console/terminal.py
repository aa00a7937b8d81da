"""The terminal while the console has it: other screen, no echo, every key at once; and as it was, however we leave."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import termios
from collections.abc import Iterator
from types import FrameType
from typing import Any

_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"  # the other screen, no cursor, no wrapping of long rows
_LEAVE = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"


class Left(BaseException):
    """A signal ends the console; not an Exception, so that nothing on the way keeps it."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


class Terminal:
    def __init__(self, keys: int, screen: int) -> None:
        """`keys`, `screen`: descriptors of the terminal, to read from and to write to."""
        self._keys, self._screen = keys, screen
        self._before: list[Any] | None = None
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.resized = True
        self.foreign = False  # somebody else had the screen

    @property
    def wake_fd(self) -> int:
        """Readable when something has happened besides a key."""
        return self._wake_read

    def wake(self) -> None:
        with contextlib.suppress(OSError):  # it is full: somebody was woken already
            os.write(self._wake_write, b"w")

    def drain(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(self._wake_read, 4096):
                pass

    def size(self) -> tuple[int, int]:
        try:
            found = os.get_terminal_size(self._screen)
        except OSError:
            return 80, 24
        return found.columns or 80, found.lines or 24

    def write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._screen, data) :]
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno in (errno.EIO, errno.EPIPE, errno.EBADF, errno.ENXIO):  # the terminal is gone
                    raise Left(signal.SIGHUP) from None
                raise

    def read(self) -> bytes:
        """What was typed; none at all means that the terminal is gone."""
        try:
            return os.read(self._keys, 4096)
        except OSError as error:
            if error.errno == errno.EIO:
                return b""
            raise

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        handlers = {
            number: signal.signal(number, handler)
            for number, handler in (
                (signal.SIGTERM, self._leave),
                (signal.SIGHUP, self._leave),
                (signal.SIGINT, self._leave),
                (signal.SIGQUIT, self._leave),
                (signal.SIGWINCH, self._resize),
                (signal.SIGTSTP, self._stop),
                (signal.SIGCONT, self._resize),
            )
        }
        try:
            self._enter()
            yield
        finally:
            # First of all, and even when a second signal comes meanwhile.
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
                signal.signal(number, signal.SIG_IGN)
            self._restore()
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.close(self._wake_write)
            os.close(self._wake_read)

    def _enter(self) -> None:
        self._before = termios.tcgetattr(self._keys)
        raw = termios.tcgetattr(self._keys)
        raw[3] &= ~(termios.ECHO | termios.ICANON)
        raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._keys, termios.TCSADRAIN, raw)
        self.write(_ENTER)
        self.resized = self.foreign = True

    def _restore(self) -> None:
        with contextlib.suppress(OSError, Left):
            self.write(_LEAVE)
        if self._before is not None:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(self._keys, termios.TCSADRAIN, self._before)

    def _leave(self, number: int, _: FrameType | None) -> None:
        raise Left(number)

    def _resize(self, *_: Any) -> None:
        self.resized = True
        self.wake()

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Ctrl-Z: the shell gets its terminal back, and we take it again when it lets us go on."""
        self._restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stop)
        self._enter()
        self.wake()
