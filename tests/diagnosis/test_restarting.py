"""Whether a run that was broken off should be started again."""

import re
from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.diagnosis.restarting import entries
from loganalyst.diagnosis.rulesql import ask
from loganalyst.errors import RuleError
from loganalyst.features import declared
from loganalyst.model import Restart
from loganalyst.model.labels import LABELS
from loganalyst.sources.text.patterns.catalogue import catalogue

STEPS = "".join(f"step {i} loss {2 / (i + 1):.3f}\n" for i in range(1, 41))


def trace(error: str) -> str:
    return f'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    main()\n{error}\n'


OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 47.54 GiB "
    "of which 1.20 GiB is free."
)


def verdict(folder: Path, *logs: str) -> Restart:
    """The verdict for the last of some logs; the others are its history."""
    for number, log in enumerate(logs):
        (folder / f"{number}.log").write_text(log)
    *history, last = (folder / f"{number}.log" for number in range(len(logs)))
    found = diagnose(last, history=history).restart
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("log", "expected", "entry"),
    [
        (STEPS + trace("KeyError: 'label'"), "do_not_restart", "own-code"),
        (STEPS + trace(""), "unknown", "exception-cut-off"),
        (trace("ModuleNotFoundError: No module named 'apex'"), "do_not_restart", "own-settings"),
        (STEPS + trace("OSError: [Errno 28] No space left on device: '/tmp/a'"), "do_not_restart", "disk-full"),
        (trace("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain."),
         "do_not_restart", "versions"),
        ("step 1 loss 2.0\n" + trace(OOM), "do_not_restart", "too-large-at-once"),
        (STEPS + trace(OOM), "restart", "memory-after-work"),
        (STEPS + trace("MemoryError: Unable to allocate 14.6 TiB for an array"), "do_not_restart", "wrong-size"),
        (STEPS + trace("wandb.errors.CommError: returned error 403: permission denied"),
         "do_not_restart", "access-refused"),
        (STEPS + trace(OOM + " Process 4711 has 25.00 GiB memory in use."), "restart_elsewhere", "device-shared"),
        (STEPS + "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-05T10:00:00 DUE TO TIME LIMIT ***\n",
         "restart", "time-over"),
        (STEPS + trace("sqlite3.OperationalError: database is locked"), "restart", "passing-exception"),
        (STEPS + trace("KeyboardInterrupt"), "unknown", "ended-on-purpose"),
        (STEPS + "srun: error: n1: task 3: Exited with exit code 1\n", "unknown", "exit-without-words"),
    ],
)  # fmt: skip
def test_verdicts_on_one_attempt(tmp_path: Path, log: str, expected: str, entry: str) -> None:
    found = verdict(tmp_path, log)

    assert (found.verdict, found.entry, found.in_a_row, found.exclude_nodes) == (expected, entry, 1, ())


def test_a_broken_device_is_avoided(tmp_path: Path) -> None:
    found = verdict(tmp_path, STEPS + "n7: NVRM: Xid (PCI:0000:4f:00): 79, pid=12, GPU has fallen off the bus.\n")

    assert (found.verdict, found.entry, found.exclude_nodes) == ("restart_elsewhere", "machine-broken", ("n7",))


def test_the_same_fault_on_the_same_node_again(tmp_path: Path) -> None:
    log = STEPS + "srun: error: n7: task 0: Segmentation fault (core dumped)\n"
    found = verdict(tmp_path, log, log)

    assert (found.verdict, found.entry) == ("restart_elsewhere", "same-node-again")
    assert (found.in_a_row, found.exclude_nodes) == (2, ("n7",))


def test_memory_that_runs_out_again_without_progress(tmp_path: Path) -> None:
    """One attempt may get further from a checkpoint; the second did not."""
    found = verdict(tmp_path, STEPS + trace(OOM), STEPS + trace(OOM))

    assert (found.verdict, found.entry, found.cause) == ("do_not_restart", "same-again", "cuda-out-of-memory")
    assert [a.run for a in found.attempts] == ["0.log", "1.log"]


def test_a_run_that_ended_well_has_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(STEPS + "Training finished\n")

    assert diagnose(tmp_path / "job.log").restart is None


def test_the_file_names_what_exists() -> None:
    """Every label, pattern and question is known; only the last entries may hold for all causes with a label."""
    known = {*(pattern.id for pattern in catalogue()), "last-words"}  # the reader itself makes that row
    for entry in entries(declared()):
        assert {*entry.labels, *entry.not_labels} <= LABELS
        assert set(entry.patterns) <= known, entry.id
        if entry.ask:
            ask(entry.ask, declared())
    assert len({entry.id for entry in entries(declared())}) == len(entries(declared()))


def test_an_unknown_label_is_refused(tmp_path: Path) -> None:
    (tmp_path / "restart.yaml").write_text("- {id: a, verdict: restart, labels: [cuda_omo], reason: none}\n")

    with pytest.raises(RuleError, match=re.escape("did you mean 'cuda_oom'?")):
        entries(declared(), tmp_path)
