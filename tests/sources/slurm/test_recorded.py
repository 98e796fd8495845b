"""What a real SLURM wrote of its jobs: `sacct -P`, `sacct --json` and `scontrol show job` lead to the same rows."""

import polars as pl
import pytest

from fixtures.slurm.record import RUNS
from loganalyst.model import Tables
from loganalyst.sources.slurm import reader

NAMES = sorted(path.name for path in RUNS.iterdir() if path.is_dir())
SAME = ["job", "name", "started", "ended", "elapsed_s", "limit_s", "memory_used", "memory_limit", "nodes", "tasks"]
SHOWN = ["job", "name", "started", "ended", "elapsed_s", "limit_s", "memory_limit", "nodes", "node_count", "cpus"]


def jobs(run: str, file: str) -> pl.DataFrame:
    """The rows of one file; in it nothing was not understood."""
    tables = Tables.concat(reader.read(RUNS / run / file))
    assert tables.gaps.rows() == []
    return tables.jobs


@pytest.mark.parametrize("run", NAMES)
def test_sacct_in_both_forms_says_the_same(run):
    """Row by row, starts of a requeued job too; JSON names users instead of numbers, and has no exit codes here."""
    plain, object_ = (jobs(run, file).sort("job", "started") for file in ("sacct.psv", "sacct.json"))

    assert plain.select(SAME).equals(object_.select(SAME))
    word = pl.col("state").str.extract(r"^(\w+)")
    assert plain.select(word).equals(object_.select(word))


@pytest.mark.parametrize("run", NAMES)
def test_scontrol_says_the_same_of_jobs(run):
    """The jobs themselves; of a requeued one the last start."""
    plain = jobs(run, "sacct.psv").filter(~pl.col("job").str.contains(".", literal=True)).unique("job", keep="last")
    shown = jobs(run, "scontrol.txt")

    assert plain.sort("job").select(SHOWN).equals(shown.sort("job").select(SHOWN))


@pytest.mark.parametrize(
    ("run", "state", "code", "signal"),
    [
        ("exit-code", "FAILED", 1, 0),
        ("masked-exit-code", "COMPLETED", 0, 0),
        ("time-limit", "TIMEOUT", 0, 0),
        ("cancelled", "CANCELLED by 1000", 0, 0),
        ("memory-sampled", "FAILED", 9, 0),
        ("memory-cgroup", "FAILED", 1, 0),
        ("task-killed", "FAILED", 15, 0),
        ("preempted", "PREEMPTED", 0, 0),
        ("node-failure", "NODE_FAIL", 0, 0),
        ("pending", "PENDING", 0, 0),
        ("heterogeneous", "COMPLETED", 0, 0),
    ],
)
def test_states_and_exit_codes_as_recorded(run, state, code, signal):
    """The first row of `sacct -P`."""
    assert jobs(run, "sacct.psv").select("state", "exit_code", "signal").row(0) == (state, code, signal)


def test_the_starts_of_a_requeued_job_are_rows_of_their_own():
    """With `--duplicates`, in the order of time."""
    rows = jobs("requeued", "sacct.psv").select("job", "state").rows()

    assert [state for job, state in rows if "." not in job] == ["REQUEUED", "COMPLETED"]
    assert [state for job, state in rows if job.endswith(".batch")] == ["CANCELLED", "COMPLETED"]


def test_gpus_processor_time_and_the_reason_to_wait():
    """Of the job that was given two GPUs, and of the one that was held."""
    given = jobs("healthy-fitting", "sacct.psv")
    assert given["gpus"].to_list() == [2, 2]
    assert 0.05 < given["cpu_s"][0] < 1.0
    assert jobs("pending", "scontrol.txt").select("gpus", "reason").rows() == [(1, "JobHeldUser")]
