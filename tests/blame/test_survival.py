"""Which lines a session survived, if the scheduler stops the rest of a job."""

from pathlib import Path

import pytest

from loganalyst.blame import rootline
from loganalyst.blame.survival import outlived
from loganalyst.sources.ingest import ingest

KILLED = "srun: error: n2: task 2: Killed\n"
CANCELLED = "slurmstepd: error: *** STEP 6.0 ON n1 CANCELLED AT 2026-11-22T02:42:15 ***\n"


def steps(count: int) -> str:
    return "".join(f"0: step {i} loss {1 / i:.4f}\n" for i in range(1, count + 1))


@pytest.mark.parametrize(("between", "line"), [(0, 5), (20, 5), (60, 66)])
def test_the_end_of_a_rank_shortly_before_the_stop_was_not_survived(tmp_path: Path, between: int, line: int):
    """Other ranks go on for some steps until `srun` stops them; hours later a cancel is unrelated."""
    path = tmp_path / "slurm-6.out"
    path.write_text(steps(4) + KILLED + steps(between) + CANCELLED)
    run = ingest(path)
    assert rootline.roots(outlived(run, 0))["line"].to_list() == [line]


@pytest.mark.parametrize(("stamp", "lives"), [("W0102 03:00:00.5", False), ("W0102 03:05:00.5", True), ("", True)])
def test_a_complaint_that_metrics_in_another_file_went_on_after(tmp_path: Path, stamp: str, lives: bool):
    """By its clock, in which glog leaves out the year; without a clock it is not known."""
    logged = (f"2026-01-02 03:{i // 60:02d}:{i % 60:02d} INFO step {i} loss {1 / (i + 1):.4f}\n" for i in range(300))
    (tmp_path / "rank_0.log").write_text("".join(logged))
    (tmp_path / "launcher.err").write_text(f"{stamp} 77 api.py:1002] failed (exitcode: 1) local_rank: 1 (pid: 78)\n")
    lines = outlived(ingest(tmp_path))

    assert lines.filter(file="launcher.err")["alive"].to_list() == [lives]


LIBRARY = """Could not load quux native library: 'NoneType' object has no attribute 'split'
Traceback (most recent call last):
  File "/env/lib/python3.12/site-packages/quux/cextension.py", line 85, in <module>
    lib = get_native_library()
  File "/env/lib/python3.12/site-packages/quux/cextension.py", line 64, in get_native_library
    major, minor = torch.version.cuda.split(".")
AttributeError: 'NoneType' object has no attribute 'split'

ImportError: quux runs without a device
"""
SCRIPT = LIBRARY.replace("/env/lib/python3.12/site-packages/quux/cextension.py", "/home/me/train.py")


@pytest.mark.parametrize(
    ("printed", "behind", "found"),
    [
        (LIBRARY, 12, []),
        (LIBRARY, 0, ["import_error"]),
        (SCRIPT, 12, ["import_error"]),
    ],
)
def test_what_a_library_caught_as_it_was_imported_is_survived(
    tmp_path: Path, printed: str, behind: int, found: list[str]
):
    """With the messages around it, if text goes on behind it. An exception that ends the program begins in its file."""
    path = tmp_path / "slurm-6.err"
    path.write_text(
        "Loading checkpoint shards\n" + printed + "".join(f"Device set to use cuda:{i}\n" for i in range(behind))
    )

    assert rootline.roots(outlived(ingest(path), 0))["label"].to_list() == found


def test_a_run_without_logs_has_the_columns_of_one_with_a_log(tmp_path: Path) -> None:
    """It is answered without a query."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "metrics.csv").write_text("step,loss\n1,2.0\n2,1.5\n")
    (tmp_path / "train.log").write_text("epoch 1 loss 2.0\nRuntimeError: CUDA out of memory\n")
    without, with_log = outlived(ingest(tmp_path / "a")), outlived(ingest(tmp_path / "train.log"))

    assert (without.height, with_log.height) == (0, 1)
    assert without.schema == with_log.schema
