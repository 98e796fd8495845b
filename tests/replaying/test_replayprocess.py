"""User code that hangs, forks, eats memory, exits or prints is ended, with all that it started."""

import os
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from loganalyst.errors import ReplayError
from loganalyst.replaying.replaychild import Job
from loganalyst.replaying.replayprocess import EndedError, Sandbox
from tests.replaying import misbehaving

GB = 1_000_000_000


def asked(function, *, budget=60.0, memory=2 * GB):
    """The answer to a job with such an entry."""
    entry = f"{misbehaving.__file__}:{function}"
    with Sandbox(entry, budget, memory) as sandbox:
        return list(sandbox.ask(asdict(Job(entry, None, None, None, "cpu", (), memory))))


def alive(process: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_hanging_entry_is_ended_within_the_budget():
    with pytest.raises(EndedError, match=r"did not end within the budget of 3 s, while calling .*hangs; it was ended"):
        asked("hangs", budget=3)


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="only Linux reports processes that left the session"
)
def test_children_in_any_session_end_with_the_process(tmp_path, monkeypatch):
    ids = tmp_path / "children"
    monkeypatch.setenv("CHILDREN", str(ids))

    with pytest.raises(EndedError):
        asked("forks", budget=4)

    children = [int(word) for word in ids.read_text().split()]
    until = time.monotonic() + 10
    while any(map(alive, children)) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(children) == 2
    assert not any(map(alive, children))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux reports memory")
def test_an_entry_that_eats_memory_is_ended():
    with pytest.raises(EndedError, match=r"GB of memory; 0\.4 GB are allowed, while calling"):
        asked("eats_memory", memory=400_000_000)


def test_an_entry_that_exits_is_an_error_with_its_message():
    with pytest.raises(ReplayError, match="raised SystemExit: enough"):
        asked("exits")


def test_a_process_that_exits_is_reported_with_its_last_output():
    with pytest.raises(EndedError, match=r"its process exited \(exit code 7\).*'the last words'"):
        asked("exits_at_once")


def test_output_is_not_taken_for_an_answer():
    with pytest.raises(ReplayError, match="raised ValueError: enough printed"):
        asked("prints_garbage")


def test_an_error_names_the_line_of_the_users_code():
    with pytest.raises(ReplayError) as error:
        asked("raises")

    place, _, line = error.value.where.rpartition(":")
    assert place == misbehaving.__file__
    assert "no such key" in Path(place).read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize(
    ("function", "message"),
    [("returns_nothing", "returned a NoneType; it returns a loganalyst.ReplaySpec"), ("hang", "did you mean 'hangs'")],
)
def test_an_invalid_entry_is_refused(function, message):
    with pytest.raises(ReplayError, match=message):
        asked(function)


def test_a_process_with_invalid_answers_is_ended():
    code = "print('{', flush=True); import time; time.sleep(60)"

    with Sandbox("x:y", 60, 2 * GB, code=code) as sandbox, pytest.raises(EndedError, match="it sent an invalid answer"):
        list(sandbox.ask({}))


def test_the_process_has_its_own_session(tmp_path):
    with Sandbox("x:y", 60, GB) as sandbox:
        assert os.getsid(sandbox._child.pid) == sandbox._child.pid != os.getsid(0)
    assert sandbox._child.poll() is not None
