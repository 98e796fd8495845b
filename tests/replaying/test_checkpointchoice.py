"""The checkpoint that a replay starts from."""

import shutil

import pytest

import loganalyst as la
from loganalyst.errors import ReplayError
from loganalyst.replaying import checkpointchoice


def test_the_last_intact_checkpoint_before_the_fault_is_chosen(runs, tmp_path):
    run = shutil.copytree(runs("rate_too_high"), tmp_path / "run")
    content = (run / "checkpoint-50.pt").read_bytes()
    (run / "checkpoint-50.pt").write_bytes(content[: len(content) // 2])

    found = checkpointchoice.choose(la.diagnose(run), 61, None)

    assert (found.path.name, found.step, found.last.name) == ("checkpoint-25.pt", 25, "checkpoint-100.pt")
    assert found.notes[0].startswith("checkpoint-50.pt is skipped: it is damaged or cut off")


def test_a_run_without_a_checkpoint_is_replayed_from_its_start(runs, tmp_path):
    run = shutil.copytree(runs("rate_too_high"), tmp_path / "run")
    for path in run.glob("*.pt"):
        path.unlink()

    found = checkpointchoice.choose(la.diagnose(run), 61, None)

    assert (found.path, found.step) == (None, 0)
    with pytest.raises(ReplayError, match="there is no such checkpoint"):
        checkpointchoice.choose(la.diagnose(run), 61, run / "x.pt")
