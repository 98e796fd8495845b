"""The command line called in this process: as one types it, without the seconds that starting Python takes."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loganalyst import cli


class Told(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


def called(*arguments: object, cwd: Path | None = None) -> Told:
    """Exit code, stdout and stderr of `loganalyst ARGUMENTS` in the folder `cwd`."""
    code = 0
    with contextlib.chdir(cwd or Path.cwd()), _caught() as (out, err):
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Told(code, _text(out), _text(err))


@contextlib.contextmanager
def _caught() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
