"""`sacct --json` in the layouts of several releases."""

import json

from loganalyst.sources.slurm.sacctjson import rows

NEW = {
    "job_id": 47,
    "array": {"job_id": 32, "task_id": {"set": True, "infinite": False, "number": 2}},
    "name": "train",
    "nodes": "n1",
    "state": {"current": ["FAILED"], "reason": "None"},
    "exit_code": {"return_code": {"set": True, "number": 1}, "signal": {"id": {"set": False, "number": 0}}},
    "time": {"start": 1_700_000_000, "elapsed": 60, "limit": {"set": True, "infinite": True, "number": 0},
             "total": {"seconds": 3, "microseconds": 500_000}},
    "tres": {"allocated": [{"type": "cpu", "count": 4}, {"type": "mem", "count": 100},
                           {"type": "gres", "name": "gpu", "count": 2}]},
    "steps": [{"step": {"id": "47.batch", "name": "batch"}, "state": "FAILED",
               "tres": {"requested": {"max": [{"type": "mem", "count": 2048}]}}}],
}  # fmt: skip


def test_a_new_release():
    """Numbers in objects, a list of states, an array task and its step."""
    job, step = rows(json.dumps({"jobs": [NEW]}))

    assert isinstance(job, dict)
    assert isinstance(step, dict)
    assert (job["JobID"], job["State"], job["ExitCode"], job["TimelimitRaw"]) == ("32_2", "FAILED", "1:0", None)
    assert (job["Start"], job["TotalCPU"]) == ("2023-11-14T22:13:20", "0:3.500000")
    assert (job["AllocTRES"], job["AllocCPUS"]) == ("cpu=4,mem=100M,gres/gpu=2", "4")
    assert (step["JobID"], step["JobName"], step["MaxRSS"]) == ("32_2.batch", "batch", "2048")


def test_release_22_05():
    """Exit code 0 of a failed job is unknown; a cancelled job names who cancelled it."""
    failed = {"job_id": 1, "state": {"current": "FAILED"}, "exit_code": {"status": "SUCCESS", "return_code": 0}}
    cancelled = {"job_id": 2, "state": {"current": "CANCELLED"}, "kill_request_user": "1000"}
    found = [row for row in rows(json.dumps({"jobs": [failed, cancelled]})) if isinstance(row, dict)]

    assert [(row["State"], row["ExitCode"]) for row in found] == [("FAILED", None), ("CANCELLED by 1000", None)]


def test_a_cut_file_keeps_its_first_jobs():
    """A text says where reading ended."""
    first, why = rows('{"jobs": [{"job_id": 1}, {"job_id": 2')

    assert isinstance(first, dict)
    assert why == "not valid JSON from character 25 on: JSONDecodeError"
    assert list(rows("{}")) == ["no list of jobs"]
