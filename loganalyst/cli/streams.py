"""stdout and stderr for commands: faults of stdout become clear errors, faults of stderr are ignored."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from loganalyst.errors import LogAnalystError

STREAMS = 3  # stdin, stdout, stderr


class StreamError(LogAnalystError):
    """stdout cannot be written, for example on a full disk; the output is lost or incomplete."""


class ReaderGoneError(StreamError):
    """The reader of stdout, such as `head`, has closed the pipe."""


class Output:
    """A stream whose faults are raised as StreamError. A `quiet` stream (stderr) ignores them."""

    def __init__(self, stream: TextIO, name: str, *, quiet: bool = False) -> None:
        self._stream, self._name, self._quiet = stream, name, quiet

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As for any stream. Raises StreamError."""
        with self._translated():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As for any stream. Raises StreamError."""
        with self._translated():
            self._stream.flush()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            if not self._quiet:
                raise ReaderGoneError(self._name, "has no reader any more") from None
        except OSError as error:
            if not self._quiet:
                fault = f"cannot be written ({error.strerror})"
                raise StreamError(self._name, fault, "the output is incomplete") from None


@contextmanager
def guarded() -> Iterator[None]:
    """Replace `sys.stdout` and `sys.stderr` by such streams inside the block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Output(sys.stdout, "stdout"), Output(sys.stderr, "stderr", quiet=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def reopen_closed() -> None:
    """Replace streams that were closed before the start (`>&-`) by streams that fail.

    Otherwise the next opened file would get their number, and the output of libraries would go into that file.
    """
    for number in range(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # takes the lowest free number
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
