"""What a session outlived, where the scheduler stops what is left of a job."""

from pathlib import Path

import pytest

from loganalyst.features import blame
from loganalyst.features.survival import outlived
from loganalyst.sources.ingest import ingest

KILLED = "srun: error: n2: task 2: Killed\n"
CANCELLED = "slurmstepd: error: *** STEP 6.0 ON n1 CANCELLED AT 2026-11-22T02:42:15 ***\n"


def steps(count: int) -> str:
    return "".join(f"0: step {i} loss {1 / i:.4f}\n" for i in range(1, count + 1))


@pytest.mark.parametrize(("between", "line"), [(0, 5), (20, 5), (60, 66)])
def test_the_end_of_a_rank_shortly_before_the_stop_was_not_survived(tmp_path: Path, between: int, line: int):
    """Other ranks go on for some steps until `srun` stops them; hours later a cancel is one of its own."""
    path = tmp_path / "slurm-6.out"
    path.write_text(steps(4) + KILLED + steps(between) + CANCELLED)
    run = ingest(path)
    assert blame.roots(outlived(run, 0))["line"].to_list() == [line]
