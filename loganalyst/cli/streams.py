"""stdout and stderr as commands see them: what goes wrong with them is a clear error, or nobody's."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from loganalyst.errors import LogAnalystError

STREAMS = 3  # stdin, stdout, stderr


class StreamError(LogAnalystError):
    """stdout takes no more, as on a full disk: what was to be printed is lost, or half of it."""


class ReaderGoneError(StreamError):
    """Whoever read stdout has gone away, such as `head`."""


class Output:
    """A stream whose faults are StreamErrors; of a `quiet` one (stderr) there is nobody left to tell."""

    def __init__(self, stream: TextIO, name: str, *, quiet: bool = False) -> None:
        self._stream, self._name, self._quiet = stream, name, quiet

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As of any stream. Raises StreamError."""
        with self._told():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As of any stream. Raises StreamError."""
        with self._told():
            self._stream.flush()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            if not self._quiet:
                raise ReaderGoneError(self._name, "is read by nobody any more") from None
        except OSError as error:
            if not self._quiet:
                what = f"cannot be written ({error.strerror})"
                raise StreamError(self._name, what, "what was printed is not complete") from None


@contextmanager
def guarded() -> Iterator[None]:
    """Let `sys.stdout` and `sys.stderr` be such streams for a while."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Output(sys.stdout, "stdout"), Output(sys.stderr, "stderr", quiet=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def reopen_closed() -> None:
    """Where a stream was closed before the start (`>&-`), put one there that fails.

    Else the next file that is opened would get its number, and what libraries print would go into that file.
    """
    for number in range(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # gets the lowest number that is free
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
