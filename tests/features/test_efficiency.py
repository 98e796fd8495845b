"""Features of efficiency: exact values from accounting, machine readings, and a plan."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from loganalyst import diagnose
from loganalyst.features import efficiency
from loganalyst.features.context import Context
from loganalyst.model import Curve, Role, Run, table
from loganalyst.sources.ingest import ingest

HEADER = "JobID|JobName|State|Elapsed|Timelimit|ReqMem|MaxRSS|TotalCPU|AllocCPUS|AllocTRES|NNodes|NTasks|Reason"
OVER = ["time-over-asked", "memory-over-asked", "processors-idle"]
REST = "|4|cpu=4,mem=2000M|1|1|"
START = datetime(2026, 1, 1, tzinfo=UTC)


def values(tmp_path: Path, *rows: str) -> dict[str, object]:
    """The features of one accounting file of `rows`."""
    path = tmp_path / "sacct.psv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    computed = efficiency.compute(Context(ingest(path), (), table("findings")))
    return {name: value[0] if isinstance(value, tuple) else value for name, value in computed.items()}


def curve(metric: str, role: str, readings: list[float], *, seconds: float = 10.0, sessions: list[int] | None = None):
    count = len(readings)
    times = START.timestamp() + seconds * np.arange(count)
    return Curve(
        metric, Role(role, "", None, False), np.arange(1, count + 1), np.array(readings, float), times,
        np.full(count, np.nan), np.array(sessions or [0] * count, np.int32), np.full(count, -1),
    )  # fmt: skip


def values_of(*curves: Curve, run: Run | None = None) -> dict[str, object]:
    """The values of these curves."""
    computed = efficiency.compute(Context(run or Run(), curves, table("findings")))
    return {name: value[0] if isinstance(value, tuple) else value for name, value in computed.items()}


def test_exact_values_of_a_job(tmp_path):
    """Processor time as a share of the allocation; memory as if both tasks on the fuller of two
    nodes were the largest.
    """
    found = values(
        tmp_path,
        "47|train|COMPLETED|01:00:00|1-00:00:00|8G||02:00:00|4|cpu=4,gres/gpu=2,mem=8G,node=2|2||",
        "47.batch|batch|COMPLETED|01:00:00||||00:00:01|4||1|1|",
        "47.0|python|COMPLETED|01:00:00|||1G|01:59:59|4|gres/gpuutil=1|2|3|",
    )

    assert found == {
        "job_cpus": 4, "job_cpu_share": 0.5, "job_gpus": 2, "job_memory_most_share": 0.5,
        "job_elapsed_clock": "01:00:00", "job_limit_clock": "1-00:00:00",
    }  # fmt: skip


def test_processor_time_of_the_steps_where_the_job_has_none(tmp_path):
    """As in `sacct --json`: 30 and 60 s of 60 s on two processors."""
    found = values(
        tmp_path,
        "47|x|FAILED|00:01:00||||00:00:00|2||||",
        "47.batch|b|FAILED|||||00:30.000|||||",
        "47.0|p|FAILED|||||01:00.000|||||",
    )

    assert found == {"job_cpus": 2, "job_cpu_share": 0.75, "job_elapsed_clock": "00:01:00"}


def test_the_reason_of_a_waiting_job(tmp_path):
    """Only for a job that has not started, because the reason may remain afterwards."""
    assert values(tmp_path, "47|x|PENDING|00:00:00|||||||||Priority")["job_wait_reason"] == "Priority"
    assert "job_wait_reason" not in values(tmp_path, "47|x|RUNNING|00:00:10|||||||||BeginTime")


def test_readings_of_gpus():
    """Medians of the least used and the busiest GPU, and the mean of all; readings of the process are left out."""
    busy, idle = (
        curve("system.gpu.0.gpu", "gpu_util", [0, 80, 90]),
        curve("system.gpu.1.gpu", "gpu_util", [0, 0, 10, 0]),
    )
    own = curve("system.gpu.process.0.gpu", "gpu_util", [50, 50])

    assert values_of(busy, idle, own) == {
        "gpu_util_gpus": 2, "gpu_util_points": 3, "gpu_util_lowest": 0.0, "gpu_util_highest": 80.0,
        "gpu_util_mean": pytest.approx((170 / 3 + 2.5) / 2),
    }  # fmt: skip


@pytest.mark.parametrize("readings", [[0.0, 0.4, 0.9], [np.nan, np.nan]])
def test_readings_that_may_be_shares_are_ignored(readings):
    """0.9 may be a share or almost 0 per cent."""
    assert values_of(curve("gpu_util", "gpu_util", readings)) == {}


def planned(steps: float) -> Run:
    config = table("config", {"key": ["max_steps"], "value": [str(steps)], "number": [steps], "origin": "log"})
    return Run(config=config, started=START, ended=START + timedelta(seconds=130))


def test_remaining_time_at_the_pace_of_the_last_session():
    """Ten seconds per step: 6 of 10 steps remain after 130 s."""
    first_start = curve("loss", "train_loss", [3, 2, 1, 1], sessions=[0, 0, 1, 1])

    assert values_of(first_start, run=planned(10.0)) == {
        "run_left_s": 60.0, "run_left_clock": "00:01:00", "run_needed_s": 190.0, "run_needed_clock": "00:03:10",
    }  # fmt: skip
    assert values_of(first_start, run=planned(3.0))["run_left_s"] == 0.0


@pytest.mark.parametrize(
    "loss",
    [curve("loss", "train_loss", [1.0]), curve("loss", "train_loss", [2, 1], seconds=0.0), curve("a", "step", [1, 2])],
)
def test_without_a_pace_the_remaining_time_is_not_known(loss):
    """One point, no passing time, or only counters."""
    assert values_of(loss, run=planned(10.0)) == {}


@pytest.mark.parametrize(
    ("seconds", "text"), [(59.2, "00:01:00"), (3600.0, "01:00:00"), (176461.0, "2-01:01:01"), (float("inf"), None)]
)
def test_clocks_have_the_format_of_the_scheduler(seconds, text):
    """Days only if there are any."""
    assert efficiency.clock(seconds) == text


def test_every_computed_value_is_declared(tmp_path):
    """No value lacks a declaration."""
    declared = {f.name for f in efficiency.FEATURES}

    assert set(values(tmp_path, "47|x|PENDING|00:00:00|||||||||Priority")) <= declared


@pytest.mark.parametrize(
    ("row", "notes"),
    [
        (f"COMPLETED|00:01:05|08:00:00|2000M|80M|00:01.000{REST}", OVER),
        (f"COMPLETED|05:00:00|08:00:00|2000M|1500M|19:00:00{REST}", []),
        (f"COMPLETED|07:55:00|08:00:00|2000M|1950M|30:00:00{REST}", ["memory-nearly-full", "time-nearly-over"]),
        ("PENDING|00:00:00|08:00:00||||||||Resources", ["job-waits"]),
        (f"TIMEOUT|08:00:30|08:00:00|2000M|80M|30:00:00{REST}", []),
    ],
)  # fmt: skip
def test_notes_of_a_job_do_not_change_the_diagnosis(tmp_path, row, notes):
    """A job that completed is healthy, whatever it asked for."""
    path = tmp_path / "sacct.psv"
    path.write_text(f"{HEADER}\n47|x|{row}\n")
    found = diagnose(path)

    assert [note.id for note in found.notes] == notes
    assert (found.status == "healthy") == ("COMPLETED" in row)
    assert bool(found.causes) == ("TIMEOUT" in row)
