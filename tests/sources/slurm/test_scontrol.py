"""`seff`, and the ids that the forms give tasks of arrays and parts of heterogeneous jobs."""

import json
from pathlib import Path

import pytest

from loganalyst.model import Tables, table
from loganalyst.sources.discovery import accountedjobs
from loganalyst.sources.ingest import ingest
from loganalyst.sources.slurm import reader

MIB = 2.0**20
ONE = """Job ID: 47
Cluster: lab
User/Group: me/us
State: COMPLETED (exit code 0)
Cores: 1
CPU Utilized: 00:45:00
CPU Efficiency: 75.00% of 01:00:00 core-walltime
Job Wall-clock time: 01:00:00
Memory Utilized: 512.00 MB
Memory Efficiency: 50.00% of 1.00 GB
"""
MANY = """Job ID: 52
Array Job ID: 50_2
Cluster: lab
User/Group: me/us
State: FAILED (exit code 7)
Nodes: 2
Cores per node: 4
CPU Utilized: 1-00:00:30
CPU Efficiency: 12.50% of 8-00:00:00 core-walltime
Job Wall-clock time: 1-00:00:00
Memory Utilized: 3.00 GB (estimated maximum)
Memory Efficiency: 18.75% of 16.00 GB (8.00 GB/node)
"""


def read(tmp_path: Path, text: str) -> Tables:
    path = tmp_path / "told.txt"
    path.write_text(text)
    return Tables.concat(reader.read(path))


def test_seff_tells_what_was_used(tmp_path):
    """Time, CPUs and memory of each job; memory is that of a node, `seff` adds the nodes up."""
    tables = read(tmp_path, ONE + "\n" + MANY)

    columns = ("job", "state", "exit_code", "elapsed_s", "node_count", "cpus", "cpu_s", "memory_used", "memory_limit")
    assert tables.jobs.select(columns).rows() == [
        ("47", "COMPLETED", 0, 3600.0, None, 1, 2700.0, 512 * MIB, 1024 * MIB),
        ("50_2", "FAILED", 7, 86400.0, 2, 8, 86430.0, 1536 * MIB, 8192 * MIB),
    ]
    assert tables.gaps.height == 0


def test_seff_is_known_by_how_it_begins(tmp_path):
    """By its first line and its state; a log that prints a job's number is none."""
    assert reader.sniff(tmp_path / "x", ONE.encode()) == 0.97
    assert reader.sniff(tmp_path / "x", b"Job ID: 47\nepoch 1 loss 0.5\n") == 0.0


def test_a_record_of_seff_that_is_cut_off_is_told(tmp_path):
    """Without its state a job says nothing."""
    tables = read(tmp_path, ONE + "Job ID: 48\nCluster: lab\n")

    assert tables.jobs["job"].to_list() == ["47"]
    assert tables.gaps["why"].to_list() == ["1 records without a state: cut off"]


@pytest.mark.parametrize(
    ("head", "job"),
    [
        ("JobId=71", "71"),
        ("JobId=75 ArrayJobId=72 ArrayTaskId=3", "72_3"),
        ("JobId=72 ArrayJobId=72 ArrayTaskId=4-9%2", "72_[4-9%2]"),
        ("JobId=17 HetJobId=16 HetJobOffset=1", "16+1"),
    ],
)
def test_ids_of_scontrol_are_those_of_sacct(tmp_path, head, job):
    """Tasks of arrays, those that wait, and parts of heterogeneous jobs."""
    tables = read(tmp_path, f"{head} JobName=x\n   JobState=PENDING Reason=Resources Dependency=(null)\n")

    assert tables.jobs.select("job", "name", "state", "reason").rows() == [(job, "x", "PENDING", "Resources")]


@pytest.mark.parametrize(
    ("fields", "job"),
    [
        ({"array": {"job_id": 72, "task_id": {"set": True, "number": 3}, "task": "4-9"}}, "72_3"),
        ({"array": {"job_id": 72, "task_id": {"set": False, "number": 0}, "task": "4-9%2"}}, "72_[4-9%2]"),
        ({"array": {"job_id": 0, "task_id": None}, "het": {"job_id": 16, "job_offset": 1}}, "16+1"),
        ({"array": {"job_id": 0}, "het": {"job_id": 0, "job_offset": {"set": False, "number": 0}}}, "71"),
    ],
)
def test_ids_of_json_are_those_of_sacct(tmp_path, fields, job):
    """The same in `sacct --json`."""
    whole = {"jobs": [{"job_id": 71, "state": {"current": "PENDING", "reason": "Priority"}, **fields}]}
    tables = read(tmp_path, json.dumps(whole | {"derived_exit_code": {}}))

    assert tables.jobs.select("job", "state", "reason").rows() == [(job, "PENDING", "Priority")]


@pytest.mark.parametrize(
    ("given", "asked", "gpus"),
    [
        ("cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=8G", "", 2),
        ("cpu=4,gres/gpu:a100=8,mem=8G", "gres/gpu=1", 8),
        ("", "cpu=1,gres/gpu=3", 3),
        ("cpu=4,mem=8G", "", 0),
        ("", "", None),
    ],
)
def test_gpus_that_were_given(tmp_path, given, asked, gpus):
    """By what was allocated, else by what was asked for; a list without GPUs is none, no list is not known."""
    tables = read(tmp_path, f"JobID|State|AllocTRES|ReqTRES\n1|COMPLETED|{given}|{asked}\n")

    assert tables.jobs["gpus"].to_list() == [gpus]


def test_use_of_gpus(tmp_path):
    """SLURM adds up the per cent of all GPUs of a task; the table has the mean of one GPU."""
    rows = [
        "1.0|cpu=4,gres/gpu=2|gres/gpumem=9G,gres/gpuutil=75|2|",
        "2.0|gres/gpu=4|gres/gpuutil=30|2|gres/gpuutil=60",
    ]
    tables = read(tmp_path, "JobID|AllocTRES|TRESUsageInAve|NTasks|TRESUsageInTot\n" + "\n".join(rows) + "\n")

    assert tables.jobs["gpu_use"].to_list() == [0.75, 0.15]


def test_memory_given_goes_before_memory_asked(tmp_path):
    """A job that has its nodes to itself has more than it asked for."""
    tables = read(tmp_path, "JobID|State|ReqMem|NNodes|AllocTRES\n4|FAILED|400M|2|cpu=8,mem=1600M,node=2\n")

    assert tables.jobs["memory_limit"].to_list() == [800 * MIB]


@pytest.mark.parametrize(("text", "value"), [("00:01.500", 1.5), ("1-00:00:02", 86402.0), ("00:00:00", None)])
def test_processor_time(tmp_path, text, value):
    """To the thousandth; 0 was not sampled."""
    assert read(tmp_path, f"JobID|State|TotalCPU\n4|FAILED|{text}\n").jobs["cpu_s"].to_list() == [value]


def test_a_log_with_the_number_of_a_heterogeneous_job_is_of_its_parts():
    """The first part is judged."""
    rows = table("jobs", {"job": ["16+0", "16+0.batch", "16+1", "17"], "state": "FAILED", "origin": "sacct.psv"})
    sessions = table("sessions", {"session": [0], "job": ["16"]})
    found = accountedjobs.jobs_of_run(rows, sessions, table("config"), ["slurm-16.out"])

    assert (found.jobs["job"].to_list(), found.job) == (["16+0", "16+0.batch", "16+1"], "16+0")


def test_seff_is_found_beside_a_log(tmp_path):
    """By its name."""
    (tmp_path / "slurm-47.out").write_text("".join(f"step {i} loss {1 / i:.3f}\n" for i in range(1, 9)))
    (tmp_path / "seff-47.txt").write_text(ONE)

    assert ingest(tmp_path).jobs.select("job", "cpu_s").rows() == [("47", 2700.0)]
