"""Texts under SLURM's field names as the `jobs` table."""

import polars as pl

from loganalyst.sources.slurm.fields import jobs


def row(**texts: str) -> dict[str, object]:
    found, faults = jobs(pl.DataFrame({"JobID": ["47"], **{name: [text] for name, text in texts.items()}}), "sacct.psv")
    assert faults == []
    (only,) = found.to_dicts()
    return only


def test_a_job():
    """Both sides of the exit code, times, and words for no value."""
    found = row(State="FAILED", ExitCode="1:9", Elapsed="01:00", TimelimitRaw="2", Reason="None", NodeList="n[1-2]")

    assert (found["job"], found["state"], found["exit_code"], found["signal"]) == ("47", "FAILED", 1, 9)
    assert (found["elapsed_s"], found["limit_s"], found["reason"], found["node_count"]) == (60.0, 120.0, None, 2)


def test_memory_limits():
    """The limit of one node: allocated memory first, then a request in total, per node or per CPU."""
    assert row(AllocTRES="mem=8G", NNodes="2", ReqMem="1G")["memory_limit"] == 4 * 2**30
    assert row(ReqMem="8G", NNodes="2")["memory_limit"] == 4 * 2**30
    assert row(ReqMem="4Gn", NNodes="2")["memory_limit"] == 4 * 2**30
    assert row(ReqMem="1Gc", NNodes="2", AllocCPUS="8")["memory_limit"] == 4 * 2**30


def test_a_running_job_has_no_end():
    """Scontrol prints the end that it would have at its limit."""
    assert row(State="RUNNING", End="2026-03-01T10:00:00")["ended"] is None
    assert row(State="COMPLETED", End="2026-03-01T10:00:00")["ended"] is not None


def test_gpu_use():
    """The total over all GPUs, or the average of a task times the tasks."""
    assert row(TRESUsageInTot="gres/gpuutil=150", AllocTRES="gres/gpu=2")["gpu_use"] == 0.75
    assert row(TRESUsageInAve="gres/gpuutil=50", NTasks="2", AllocTRES="gres/gpu=2")["gpu_use"] == 0.5


def test_faults():
    """Values that cannot be parsed, and rows without an id, are counted."""
    raw = pl.DataFrame({"JobID": ["47", None], "State": ["SLEEPING", "FAILED"], "Elapsed": ["soon", "01:00"]})
    found, faults = jobs(raw, "sacct.psv")

    assert found.height == 1
    assert faults == [
        "1 rows without a job id",
        "1 values of State not understood, such as 'SLEEPING'",
        "1 values of Elapsed not understood, such as 'soon'",
    ]
