"""Events of jobs: numbers of jobs, reports of LSF, requeues."""

from pathlib import Path

import pytest

from tests.sources.text.startlogs import STEPS, TRACE, read, started


def lsf_mail(job: int, word: str, verdict: str, output: str, *, above: bool) -> str:
    """What LSF writes for a job: its report before the output, or behind it."""
    report = (
        f"Sender: LSF System <lsfadmin@n1>\nSubject: Job {job}: <train> in cluster <dcc> {word}\n\n{verdict}\n\n"
        "Resource usage summary:\n\n    CPU time :  100.00 sec.\n\n"
    )
    if above:
        return f"{output}\n{report}The output (if any) is above this job summary.\n\n"
    return f"{report}The output (if any) follows:\n\n{output}\n\nPS:\n\nRead file <x.err> for stderr output.\n"


@pytest.mark.parametrize(("above", "starts"), [(False, [1, 58, 115]), (True, [1, 53, 105])])
def test_each_lsf_mail_is_a_job(log: Path, above: bool, starts: list[int]) -> None:
    """A first job that was killed says nothing about the last one."""
    killed = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137."
    done = "Successfully completed."
    mails = [(1001, "Exited", killed), (1002, "Done", done), (1003, "Done", done)]
    tables = read(log, "".join(lsf_mail(*mail, STEPS, above=above) for mail in mails))

    assert tables.sessions["job"].to_list() == ["1001", "1002", "1003"]
    assert tables.sessions["status"].to_list() == ["killed", "finished", "finished"]
    assert started(tables) == starts


def test_the_last_lsf_mail_failed(log: Path) -> None:
    mails = [
        (1002, "Done", "Successfully completed.", STEPS),
        (1003, "Exited", "Exited with exit code 1.", STEPS + TRACE),
    ]
    tables = read(log, "".join(lsf_mail(*mail, above=True) for mail in mails))

    assert tables.sessions.select("job", "status").rows() == [("1002", "finished"), ("1003", "failed")]


def test_a_job_begins_where_its_number_is_printed(log: Path) -> None:
    """The lines behind the first job's number are its own, up to the number of the next job."""
    end = "srun: error: n1: task 0: Exited with exit code 1\n"
    tables = read(log.with_name("jobs.out"), f"SLURM_JOB_ID=77\n{STEPS}{TRACE}{end}SLURM_JOB_ID=78\n{STEPS}")

    assert tables.sessions.select("first_line", "job", "status").rows() == [(1, "77", "failed"), (47, "78", "unknown")]


def test_a_requeued_job_trains_again(log: Path) -> None:
    stop = "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO JOB REQUEUE ***\n"

    assert started(read(log, STEPS + stop + "Running on n7\n" + STEPS)) == [1, 42]
    late = "".join(f"step {n} loss 0.5\n" for n in range(40, 60))  # what ranks still wrote
    assert read(log, STEPS + stop + late).sessions["status"].to_list() == ["preempted"]
