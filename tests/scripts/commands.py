"""Calls of the command line."""

import pytest

from loganalyst import cli


def run(*arguments: object) -> int:
    """The exit code of the command line, called in this process."""
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    return int(stop.value.code or 0)
