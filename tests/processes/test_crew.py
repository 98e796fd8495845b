"""Which workers of a crew serve the next one."""

import os
import signal
from functools import partial

import pytest

from loganalyst.limits import Limits
from loganalyst.processes.crew import kept
from loganalyst.processes.eachitem import each


def _process(_item: int) -> int:
    return os.getpid()


def test_kept_workers_serve_the_next_call() -> None:
    """A worker that ended in between is replaced; all end with the context, and without it none is kept."""
    pid = partial(each, _process, [0], 1, lambda *_: 0, Limits())
    with kept():
        (first,), (again,) = pid(), pid()
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        (other,) = pid()
    (later,) = pid()

    assert first == again
    assert len({os.getpid(), first, other, later}) == 4
    with pytest.raises(ProcessLookupError):
        os.kill(other, 0)
