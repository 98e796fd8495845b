"""Features of the accounted job."""

from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.features import job
from loganalyst.features.context import Context
from loganalyst.model import Run, Source, Witness, table
from loganalyst.sources.ingest import ingest

HEADER = "JobID|JobName|State|ExitCode|Elapsed|Timelimit|ReqMem|MaxRSS|NodeList"
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\nValueError: no\n'
CANCEL = "slurmstepd: error: *** JOB 47 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n"
LIMIT = "slurmstepd: error: *** JOB 47 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
STEPS = "".join(f"step {i} loss {1 / i:.4f}\n" for i in range(1, 9))


def values(tmp_path: Path, *rows: str, log: str | None = None) -> dict[str, object]:
    """The features of a folder with an accounting file of `rows` and, where given, the log of job 47."""
    (tmp_path / "sacct.psv").write_text("\n".join([HEADER, *rows]) + "\n")
    if log is not None:
        (tmp_path / "slurm-47.out").write_text(log)
    run = ingest(tmp_path)
    computed = job.compute(Context(run, (), table("findings")))
    return {name: value[0] if isinstance(value, tuple) else value for name, value in computed.items()}


def test_exact_values(tmp_path):
    """Shares of the limits; memory is the largest of any step; step values do not replace those of the job."""
    found = values(
        tmp_path,
        "46|other|COMPLETED|0:0|00:00:10|01:00:00|1G||n9",
        "47|train|TIMEOUT|0:0|01:30:00|01:00:00|8G||n[1-2]",
        "47.batch|batch|CANCELLED|0:15|01:30:01|||1G|n1",
        "47.0|python|CANCELLED|0:15|01:30:02|||3G|n[1-2]",
    )  # two jobs and no log: neither is known to be the run's
    assert found == {}

    found = values(
        tmp_path,
        "47|train|TIMEOUT|0:0|01:30:00|01:00:00|8G||n[1-2]",
        "47.batch|batch|CANCELLED|0:15|01:30:01|||1G|n1",
        "47.0|python|CANCELLED|0:15|01:30:02|||3G|n[1-2]",
    )
    assert found == {
        "run_job": "47", "job_id": "47", "job_state": "timeout", "job_end": "timeout", "job_exit_code": 0,
        "job_signal": 15,
        "job_elapsed_s": 5400.0, "job_limit_s": 3600.0, "job_elapsed_share": 1.5, "job_memory_used_gib": 3.0,
        "job_memory_limit_gib": 4.0, "job_memory_share": 0.75, "job_nodes": "n[1-2]",
    }  # fmt: skip


def test_declared_and_witnessed(tmp_path):
    """Each value names the accounting file and is declared; without accounting nothing is known."""
    (tmp_path / "sacct.psv").write_text(f"{HEADER}\n47|train|CANCELLED by 1000|0:0|00:01:00||||\n")
    run = ingest(tmp_path)
    computed = job.compute(Context(run, (), table("findings")))

    assert set(computed) <= {f.name for f in job.FEATURES}
    assert computed["job_cancelled_by"] == ("user 1000", Witness(file="sacct.psv"))
    assert job.compute(Context(Run(sources=(Source("m.csv", "csv", 1),)), (), table("findings"))) == {}


@pytest.mark.parametrize(
    ("log", "state", "end"),
    [
        (None, "TIMEOUT", "timeout"),
        (STEPS, "TIMEOUT", "timeout"),
        (STEPS + LIMIT, "TIMEOUT", "timeout"),
        (STEPS + TRACE, "TIMEOUT", None),
        (STEPS + CANCEL, "NODE_FAIL", "node_fail"),
        (STEPS + LIMIT, "CANCELLED by 0", None),
        (STEPS, "FAILED", "failed"),
        (STEPS, "DEADLINE", "timeout"),
        (STEPS, "RUNNING", None),
    ],
)
def test_the_state_explains_the_end_unless_the_log_shows_a_fault(tmp_path, log, state, end):
    """If the log is silent, agrees, or names only a cancellation."""
    found = values(tmp_path, f"47|train|{state}|0:0|||||", log=log)

    assert found.get("job_end") == end
    assert found["job_state"] == state.split()[0].lower()


@pytest.mark.parametrize(
    ("step", "log", "end", "code", "signal"),
    [
        ("OUT_OF_MEMORY|0:125", None, "step_out_of_memory", 0, 125),
        ("OUT_OF_MEMORY|0:125", STEPS, "step_out_of_memory", 0, 125),
        ("FAILED|1:0", None, "step_failed", 1, 0),
        ("FAILED|1:0", STEPS, "completed", 1, 0),
        ("CANCELLED by 0|0:9", None, "step_failed", 0, 9),
        ("CANCELLED|0:15", None, "completed", 0, 15),
        ("COMPLETED|0:0", None, "completed", 0, 0),
    ],
)
def test_failed_steps_of_a_completed_job(tmp_path, step, log, end, code, signal):
    """A step's failure that the script hid is reported, unless a log shows that it did not matter."""
    found = values(tmp_path, "47|train|COMPLETED|0:0|||||", f"47.0|python|{step}|||||", log=log)

    assert (found["job_end"], found["job_exit_code"], found["job_signal"]) == (end, code, signal)


def test_the_last_start_of_a_requeued_job_counts(tmp_path):
    """With `sacct -D` a requeued job has a row for each start."""
    found = values(
        tmp_path, "47|train|PREEMPTED|0:0|||||", "47.0|x|FAILED|1:0|||||", "47|train|COMPLETED|0:0|||||"
    )  # fmt: skip

    assert (found["job_state"], found["job_exit_code"]) == ("completed", 0)


def test_two_accounts_of_one_job(tmp_path):
    """The account that saw the end comes first; each fills the gaps of the other."""
    (tmp_path / "scontrol.txt").write_text("JobId=47 JobName=t\n JobState=RUNNING TimeLimit=00:02:00 NodeList=n5\n")
    found = values(tmp_path, "47|train|COMPLETED|0:0|00:01:00||||")

    assert (found["job_state"], found["job_elapsed_share"], found["job_nodes"]) == ("completed", 0.5, "n5")


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ("TIMEOUT|0:0", "slurm_timeout"),
        ("OUT_OF_MEMORY|0:125", "host_oom"),
        ("NODE_FAIL|0:0", "node_failure"),
        ("PREEMPTED|0:0", "slurm_preempted"),
        ("CANCELLED by 1000|0:0", "slurm_cancelled"),
        ("FAILED|1:0", "code_exception"),
        ("FAILED|11:11", "segfault"),
        ("FAILED|127:0", "config_error"),
    ],
)
def test_the_state_alone_leads_to_the_label(tmp_path, row, label):
    """An accounting file of one job, and no log."""
    path = tmp_path / "sacct.psv"
    path.write_text(f"{HEADER}\n47|train|{row}|01:00:00|01:00:00|8G||n1\n")
    found = diagnose(path)

    assert (found.status, found.causes[0].label) == ("diagnosis_complete", label)
    assert found.causes[0].file == "sacct.psv"


def test_a_completed_job_is_healthy(tmp_path):
    """By its state; several jobs without a log have no verdict."""
    path = tmp_path / "sacct.psv"
    path.write_text(f"{HEADER}\n47|train|COMPLETED|0:0|01:00:00|01:00:00|8G||n1\n")
    assert (diagnose(path).status, diagnose(path).causes) == ("healthy", ())

    path.write_text(f"{HEADER}\n47|train|FAILED|1:0|||||\n48|train|FAILED|1:0|||||\n")
    assert diagnose(path).status == "insufficient_data"
