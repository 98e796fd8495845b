"""SLURM accounting: every form leads to the same rows, units are SI, and damage is told."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS, Tables, table
from loganalyst.pipeline import diagnose_paths
from loganalyst.sources.discovery import accountedjobs
from loganalyst.sources.ingest import ingest, reader
from loganalyst.sources.slurm import fields
from loganalyst.sources.slurm import reader as slurm

HERE = Path(__file__).parents[3] / "../shared/corpus/text/slurm-here"
HEADER = "JobID|JobName|State|ExitCode|Elapsed|Timelimit|ReqMem|MaxRSS|NodeList|Start|End"
JOB = "71|train|TIMEOUT|0:0|1-00:00:30|1-00:00:00|8G||gpu[1-2]|2026-03-01T10:00:00|2026-03-02T10:00:30"
BATCH = "71.batch|batch|CANCELLED|0:15|1-00:00:31|||3145728K|gpu1|2026-03-01T10:00:00|2026-03-02T10:00:31"
SCONTROL = """JobId=71 JobName=my train
   UserId=me(1000) GroupId=me(1000) MCS_label=N/A
   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:15
   RunTime=1-00:00:30 TimeLimit=1-00:00:00 TimeMin=N/A
   StartTime=2026-03-01T10:00:00 EndTime=2026-03-02T10:00:30 Deadline=N/A
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=gpu[1-2]
   NumNodes=2 NumCPUs=8 NumTasks=2 CPUs/Task=4 ReqB:S:C:T=0:0:*:*
   TRES=cpu=8,mem=8G,node=2,billing=8
   MinCPUsNode=4 MinMemoryCPU=1G MinTmpDiskNode=0
   Comment=a JobState=COMPLETED in a comment
"""
DAY = 86400.0


def read(tmp_path: Path, text: str | bytes, name: str = "sacct.psv") -> Tables:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Tables.concat(slurm.read(path))


def column(tables: Tables, name: str) -> list[object]:
    return tables.jobs[name].to_list()


def test_rows_of_sacct(tmp_path):
    """A row for the job and for its step; seconds, bytes of one node, UTC; what is empty is not known."""
    tables = read(tmp_path, f"{HEADER}\n{JOB}\n{BATCH}\n")

    started, ended = datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 2, 10, 0, 30, tzinfo=UTC)
    assert tables.jobs.schema == SCHEMAS["jobs"]
    assert tables.gaps.height == 0
    assert tables.jobs.row(0) == (
        "71", "train", "TIMEOUT", 0, 0, started, ended, DAY + 30, DAY, None, 4 * 2.0**30, "gpu[1-2]", 2,
        *[None] * 8, "sacct.psv",
    )  # fmt: skip
    assert tables.jobs.row(1)[:5] == ("71.batch", "batch", "CANCELLED", 0, 15)
    assert tables.jobs.row(1)[7:12] == (DAY + 31, None, 3 * 2.0**30, None, "gpu1")


def test_fields_stand_in_any_order(tmp_path):
    """Other fields between them, another order, a pipe at the end of each line (`sacct -p`), a second header."""
    text = "State|User|ReqTRES|JobID|\nFAILED|me|cpu=1|5|\nState|User|ReqTRES|JobID|\nCOMPLETED|me||6|\n"
    tables = read(tmp_path, text)

    assert tables.jobs.select("job", "state").rows() == [("5", "FAILED"), ("6", "COMPLETED")]
    assert tables.gaps.height == 0


@pytest.mark.parametrize(
    ("asked", "cpus", "nodes", "bytes_"),
    [
        ("100M", "", "n1", 100 * 2.0**20),
        ("400M", "", "n[1-2],m7", 400 * 2.0**20 / 3),
        ("4Gn", "8", "n[1-2]", 4 * 2.0**30),
        ("4Gc", "8", "n[1-2]", 16 * 2.0**30),
        ("4Gc", "", "n1", None),
        ("1.5T", "", "", 1.5 * 2.0**40),
        ("0", "", "n1", None),
        ("4000", "", "n1", None),
        ("", "", "n1", None),
    ],
)
def test_memory_limit_is_that_of_a_node(tmp_path, asked, cpus, nodes, bytes_):
    """Older releases name it by node or CPU, newer ones for the job in all; a request without a unit is not known."""
    tables = read(tmp_path, f"JobID|State|ReqMem|AllocCPUS|NodeList\n1|FAILED|{asked}|{cpus}|{nodes}\n")

    assert column(tables, "memory_limit") == [bytes_]
    assert tables.gaps.height == 0


@pytest.mark.parametrize(("text", "seconds"), [("05:10", 310.0), ("01:00:00", 3600.0), ("10-01:00:00", 867600.0)])
def test_durations(tmp_path, text, seconds):
    """Minutes and seconds, hours, days; no limit is not known."""
    tables = read(tmp_path, f"JobID|Elapsed|Timelimit\n1|{text}|UNLIMITED\n")

    assert (column(tables, "elapsed_s"), column(tables, "limit_s")) == ([seconds], [None])


def test_digits_of_other_scripts_are_no_numbers(tmp_path):
    """What a regex takes for digits and no number is read from is not known."""
    tables = read(tmp_path, "JobID|Elapsed|TRESUsageInAve\n1|05:߃0|gres/gpuutil=߃0\n")

    assert (column(tables, "elapsed_s"), column(tables, "gpu_use")) == ([None], [None])


def test_raw_fields_stand_in(tmp_path):
    """JobIDRaw, ElapsedRaw (seconds) and TimelimitRaw (minutes) serve where the others were not asked for."""
    tables = read(tmp_path, "JobIDRaw|ElapsedRaw|TimelimitRaw|Start|End\n9|60|2|Unknown|Unknown\n")

    assert tables.jobs.select("job", "elapsed_s", "limit_s", "started", "ended").row(0) == (
        "9",
        60.0,
        120.0,
        None,
        None,
    )


def test_arrays_suffixes_and_line_breaks(tmp_path):
    """Array tasks, `CANCELLED by`, and a command with line breaks in it stay whole."""
    text = "JobID|SubmitLine|State\n32_2|sbatch --wrap a\nb\nc|CANCELLED by 1000\n32_[4-9%2]|x|PENDING\n"
    tables = read(tmp_path, text)

    assert tables.jobs.select("job", "state").rows() == [("32_2", "CANCELLED by 1000"), ("32_[4-9%2]", "PENDING")]
    assert tables.gaps.height == 0


def test_cut_off_lines_are_told(tmp_path):
    """A line with too few fields is a gap with its place, and so is a value that is no such thing."""
    tables = read(tmp_path, f"{HEADER}\n{JOB}\n{BATCH.replace('CANCELLED', 'CANC')}\n72|next|FAI")

    assert column(tables, "job") == ["71", "71.batch"]
    assert tables.gaps.select("offset", "bytes", "why").rows() == [
        (
            len(HEADER) + len(JOB) + len(BATCH) - 5 + 3,
            11,
            "1 lines that are not a job of 11 fields, as named in the header",
        ),
        (None, None, "1 values of State not understood, such as 'CANC'"),
    ]


@pytest.mark.parametrize("one_line", [False, True])
def test_scontrol(tmp_path, one_line):
    """`scontrol show job` over many lines and `--oneliner` give the same row; an array task has its task in the id."""
    task = SCONTROL.replace("JobId=71", "JobId=75 ArrayJobId=72 ArrayTaskId=3")
    records = [SCONTROL, task]
    if one_line:
        records = [" ".join(r.split()) + "\n" for r in records]
    tables = read(tmp_path, "\n".join(records), "scontrol.txt")

    assert column(tables, "job") == ["71", "72_3"]
    assert tables.jobs.row(0)[1:5] == ("my train", "TIMEOUT", 0, 15)
    assert tables.jobs.row(0)[7:12] == (DAY + 30, DAY, None, 4 * 2.0**30, "gpu[1-2]")
    assert tables.gaps.height == 0


def test_scontrol_cut_off_and_running(tmp_path):
    """The end of a running job is a plan, not a fact; a record without a state is a gap."""
    tables = read(tmp_path, SCONTROL.replace("TIMEOUT", "RUNNING") + "JobId=72 JobName=x\n   UserId", "scontrol.txt")

    assert tables.jobs.select("state", "ended").rows() == [("RUNNING", None)]
    assert tables.gaps["why"].to_list() == ["1 records without a state: cut off"]


def document(**job):
    step = {
        "step": {"id": "71.batch", "name": "batch"},
        "state": ["OUT_OF_MEMORY"],
        "exit_code": {"return_code": {"set": True, "number": 0}, "signal": {"id": {"set": True, "number": 125}}},
        "tres": {"requested": {"max": [{"type": "cpu", "count": 9}, {"type": "mem", "count": 2048}]}},
    }
    base = {
        "job_id": 71, "name": "train", "derived_exit_code": {}, "steps": [step],
        "nodes": "n[1-2]", "allocation_nodes": 2,
        "state": {"current": ["CANCELLED"]}, "kill_request_user": "me", "exit_code": {"return_code": 1},
        "time": {"start": 1_000_000_000, "end": {"set": True, "number": 1_000_000_060}, "elapsed": 60,
                 "limit": {"set": True, "infinite": False, "number": 3}},
        "tres": {"requested": [{"type": "mem", "count": 4}]},
    }  # fmt: skip
    return {"meta": {}, "jobs": [{**base, **job}]}


def test_json_of_any_release(tmp_path):
    """Plain numbers and words, and `{set, number}` and lists of words, mean the same."""
    tables = read(tmp_path, json.dumps(document()), "sacct.json")

    start, end = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), datetime(2001, 9, 9, 1, 47, 40, tzinfo=UTC)
    assert tables.jobs.row(0) == (
        "71", "train", "CANCELLED by me", 1, 0, start, end, 60.0, 180.0, None, 2 * 2.0**20, "n[1-2]", 2,
        None, None, None, 0, None, None, None, None, "sacct.json",
    )  # fmt: skip
    assert tables.jobs.row(1)[:5] == ("71.batch", "batch", "OUT_OF_MEMORY", 0, 125)
    assert column(tables, "memory_used") == [None, 2048.0]
    assert tables.gaps.height == 0


def test_json_array_task_unset_numbers_and_a_failed_job_with_code_0(tmp_path):
    """An array task has its task in the id; infinite and unset numbers, and code 0 of a failed job, are not known."""
    job = {
        "array": {"job_id": 72, "task_id": {"set": True, "number": 0}}, "state": {"current": "FAILED"},
        "exit_code": {"status": "SUCCESS", "return_code": 0},
        "time": {"limit": {"set": True, "infinite": True, "number": 0}},
        "steps": [],
    }  # fmt: skip
    tables = read(tmp_path, json.dumps(document(**job)), "sacct.json")

    assert tables.jobs.select("job", "state", "exit_code", "limit_s", "started").row(0) == (
        "72_0", "FAILED", None, None, None,
    )  # fmt: skip


def test_json_cut_off(tmp_path):
    """Whole jobs before the damage are read, and it is told."""
    two = document()
    two["jobs"] *= 2
    tables = read(tmp_path, json.dumps(two)[:-60], "sacct.json")

    assert column(tables, "job") == ["71", "71.batch"]
    assert tables.gaps["why"].str.starts_with("not valid JSON from character").to_list() == [True]


def test_who_reads_what(tmp_path):
    """Accounting is known by how it begins; a job log that prints a record further down stays a log."""
    for name, text in {"a.psv": HEADER + "\n" + JOB, "b.txt": SCONTROL, "c.json": json.dumps(document())}.items():
        assert reader(tmp_path / name, text.encode()).NAME == "slurm"
    log = f"epoch 1 loss 0.5\n{SCONTROL}\n{HEADER}\n{JOB}\n"
    assert reader(tmp_path / "slurm-71.out", log.encode()).NAME == "text"
    assert slurm.sniff(tmp_path / "d.csv", b"step|loss\n1|2\n") == 0.0
    assert slurm.sniff(tmp_path / "e.psv", b"\x00" + HEADER.encode()) == 0.0


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([f"{HEADER}\n{JOB}\n{BATCH}\n", SCONTROL * 2, json.dumps(document())]),
    st.integers(0, 900),
    st.binary(max_size=40),
    st.booleans(),
)
def test_damage_never_raises(tmp_path, text, place, noise, cut):
    """Cut anywhere, with any bytes put in anywhere: rows in the schema, no exception."""
    data = text.encode()
    tables = read(tmp_path, data[:place] + noise + (b"" if cut else data[place:]), "sacct.psv")

    assert tables.jobs.schema == SCHEMAS["jobs"]
    assert tables.jobs["job"].null_count() == 0
    assert all(math.isfinite(v) for v in tables.jobs["memory_limit"].drop_nulls())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(fields.FIELDS), st.text(st.characters(exclude_characters="|\n\r\0", codec="utf-8"))
        ),
        max_size=4,
    )
)
def test_any_texts_in_the_fields(tmp_path, rows):
    """Whatever stands in a field, no other row is lost."""
    lines = ["|".join(["7", *(row.get(f, "") for f in fields.FIELDS[2:])]) for row in rows]
    names = "|".join(["JobID", *fields.FIELDS[2:]])
    tables = read(tmp_path, "\n".join([names, *lines]))

    assert column(tables, "job") == ["7"] * len(rows)


@pytest.mark.skipif(not HERE.exists(), reason="the recorded cluster is not here")
@pytest.mark.parametrize("folder", ["cgroup", "sampling"])
def test_all_forms_of_a_real_cluster_agree(folder):
    """What `sacct` printed with few and with all fields, as JSON, and `scontrol` in both forms."""
    found = {
        p.name: Tables.concat(slurm.read(p))
        for p in (HERE / folder).glob("s*[cl]*.*")
        if slurm.sniff(p, p.read_bytes()[:65536])
    }
    jobs = {name: t.jobs.drop("origin") for name, t in found.items()}
    assert set(found) == {
        "sacct-short.psv", "sacct-all.psv", "sacct.json", "scontrol-show-job.txt", "scontrol-show-job.oneline.txt",
    }  # fmt: skip
    assert sum(t.gaps.height for t in found.values()) == 0
    told = ["job", "name", "state", "exit_code", "signal", "started", "ended", "elapsed_s", "limit_s", "memory_used"]
    assert jobs["sacct-short.psv"].select(told).equals(jobs["sacct-all.psv"].select(told))
    assert jobs["scontrol-show-job.txt"].equals(jobs["scontrol-show-job.oneline.txt"])

    # JSON lists the first start of a requeued job too, names users, and has no exit codes in this release
    same = ["job", "name", "started", "ended", "elapsed_s", "limit_s", "memory_used", "memory_limit", "nodes"]
    plain = jobs["sacct-all.psv"].sort("job")
    assert plain.select(same).equals(jobs["sacct.json"].unique("job", keep="last").sort("job").select(same))
    mains = plain.filter(~pl.col("job").str.contains(".", literal=True))
    shown = jobs["scontrol-show-job.txt"].sort("job")
    same = ["job", "name", "started", "ended", "elapsed_s", "limit_s", "nodes"]
    assert mains.select(same).equals(shown.select(same))


def accounted(*ids: str) -> pl.DataFrame:
    rows = [part for i in ids for part in (i, f"{i}.batch")]
    return table("jobs", {"job": rows, "name": "train", "state": "FAILED", "origin": "sacct.psv"})


def told(job: str | None) -> pl.DataFrame:
    return table("sessions", {"session": [0], "job": [job]})


@pytest.mark.parametrize(
    ("session", "logs", "ids", "kept", "judged"),
    [
        ("47", ["slurm-47.out"], ["46", "47"], ["47", "47.batch"], "47"),
        (None, ["12345-train.out"], ["12345", "2"], ["12345", "12345.batch"], "12345"),
        (None, ["train-7.err"], ["7", "8"], ["7", "7.batch"], "7"),
        (None, ["other-7.err"], ["7", "8"], ["7", "7.batch", "8", "8.batch"], None),
        ("14", ["slurm-6_2.out"], ["6_2", "6_3"], ["6_2", "6_2.batch"], "6_2"),
        ("48", ["slurm-48.out"], ["47"], [], None),
        (None, ["train.log"], ["47"], ["47", "47.batch"], "47"),
        (None, [], ["47"], ["47", "47.batch"], "47"),
        (None, [], [], [], None),
        ("47", [], [], [], "47"),
    ],
)
def test_only_the_own_job_counts(session, logs, ids, kept, judged):
    """By the number a session tells or a log's name holds; a single job needs none, another's job is left out."""
    found = accountedjobs.jobs_of_run(accounted(*ids), told(session), table("config"), logs)

    assert found.jobs["job"].to_list() == kept
    assert found.job == judged


def test_the_last_of_several_jobs_is_judged():
    """Of jobs appended to one log all are kept; the settings can tell an array task."""
    sessions = table("sessions", {"session": [0, 1], "job": ["47", "52"]})
    found = accountedjobs.jobs_of_run(accounted("47", "52", "53"), sessions, table("config"), [])
    assert (found.job, found.jobs.height) == ("52", 4)
    assert found.left_out == ("sacct.psv: 1 jobs that are not this run's",)

    config = table("config", {"key": ["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"], "value": ["6", "2"], "origin": "x"})
    assert accountedjobs.jobs_of_run(accounted("6_1", "6_2"), told(None), config, []).job == "6_2"


@pytest.mark.parametrize(
    ("state", "status"),
    [("COMPLETED", "finished"), ("TIMEOUT", "timeout"), ("CANCELLED by 0", "cancelled"), ("RUNNING", "running"),
     ("OUT_OF_ME+", "unknown"), ("NODE_FAIL", "node_fail")],
)  # fmt: skip
def test_status_of_a_run_by_its_job(tmp_path, state, status):
    """Where no log tells how a run ended, the scheduler does."""
    path = tmp_path / "sacct.psv"
    path.write_text(f"JobID|State\n3|{state}\n")

    assert ingest(path).status == status


def test_a_log_and_its_accounting_are_one_run(tmp_path):
    """An accounting file behind a log belongs to it, two logs stay two runs, and --separate parts all."""
    log, other, psv = tmp_path / "slurm-71.out", tmp_path / "slurm-72.out", tmp_path / "sacct.psv"
    log.write_text("epoch 1 loss 0.5\nepoch 2 loss 0.4\n")
    other.write_text("epoch 1 loss 0.5\n")
    psv.write_text(f"{HEADER}\n{JOB}\n")

    joined = diagnose_paths([log, psv])
    assert [(d.run.name, d.run.job, d.run.status) for d in joined] == [("slurm-71.out", "71", "timeout")]
    assert [c.label for c in joined[0].causes][:1] == ["slurm_timeout"]
    assert len(diagnose_paths([log, other])) == 2
    assert len(diagnose_paths([log, psv], separate=True)) == 2


def test_gap_in_latin_1(tmp_path):
    """Where a file is Latin-1 a gap still counts the file's own bytes."""
    lines = [HEADER, "é" * 50, JOB.replace("train", "entraîné"), "ü|ö|1"]
    data = "\n".join([*lines, ""]).encode("latin-1")
    tables = read(tmp_path, data)

    assert column(tables, "name") == ["entraîné"]
    assert tables.gaps.select("offset", "bytes").rows() == [(len(HEADER) + 1, 55)]
    assert data[len(HEADER) + 1 :].startswith(b"\xe9" * 50)
