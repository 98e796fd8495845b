"""Memory and processes, as Linux reports them."""

import os
from pathlib import Path

import pytest

from loganalyst.replaying import processmemory

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux reports them")


def test_the_memory_of_this_session_is_at_least_that_of_this_process():
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * processmemory.PAGE

    assert processmemory.held_memory(os.getsid(0)) > resident / 4  # shared pages count once, with the leader
    assert processmemory.held_memory(1 << 40) == 0


def test_processes_are_found_by_their_environment():
    name, value = next((n, v) for n, v in os.environ.items() if n == "PATH")

    assert os.getpid() in processmemory.marked_processes(f"{name}={value}")
    assert processmemory.marked_processes("NO_SUCH=x" + "y" * 40) == []


def test_free_memory_is_below_the_whole():
    total = os.sysconf("SC_PHYS_PAGES") * processmemory.PAGE

    assert 0 < processmemory.free_memory() <= total
