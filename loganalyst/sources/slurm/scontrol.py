"""SLURM's records of `name=value` or `name: value`: `scontrol show job` and `seff`."""

import re

import polars as pl

# JobId=47 JobName=train … JobState=RUNNING
SCONTROL = re.compile(r"\s*JobId=\d+ (?s:.*?)\bJobState=")
# Job ID: 47, later State: COMPLETED (exit code 0)
SEFF = re.compile(r"\s*Job ID: \d+\n(?s:.*?)^State: ", re.MULTILINE)
_SCONTROL = {
    "JobName": r"\bJobName=(.*?)(?:\s+UserId=|\s+HetJobIdSet=|\n|$)",
    "State": r"\sJobState=(\S+)",
    "Reason": r"\sReason=(\S+)",
    "ExitCode": r"\sExitCode=(\S+)",
    "Start": r"\sStartTime=(\S+)",
    "End": r"\sEndTime=(\S+)",
    "Elapsed": r"\sRunTime=(\S+)",
    "Timelimit": r"\sTimeLimit=(\S+)",
    "NodeList": r"\sNodeList=(\S+)",
    "NNodes": r"\sNumNodes=(\d+)",
    "User": r"\sUserId=([^\s(]+)",
    "Partition": r"\sPartition=(\S+)",
    "AllocCPUS": r"\sNumCPUs=(\d+)",
    "AllocTRES": r"\s(?:Alloc)?TRES=(\S+)",
    "ReqTRES": r"\sReqTRES=(\S+)",
}
_SEFF = {
    "JobID": r"^Job ID: (\d+)",
    "State": r"^State: (\S+)",
    "User": r"^User/Group: ([^\s/]+)",
    "NNodes": r"^Nodes: (\d+)",
    "Elapsed": r"^Job Wall-clock time: (\S+)",
    "TotalCPU": r"^CPU Utilized: (\S+)",
}


def scontrol(content: str) -> tuple[pl.DataFrame, str]:
    """`scontrol show job` as texts under `sacct`'s field names, one row per record; and a fault, or an empty text.

    A record has one line or many. A memory request is per node or per CPU.
    """
    record = pl.col("record")
    memory = [
        record.str.extract(r"\sMinMemoryNode=(\S+)") + "n",
        record.str.extract(r"\sMinMemoryCPU=(\S+)") + "c",
        record.str.extract(r"\s(?:Alloc)?TRES=[^\s]*?\bmem=([^,\s]+)"),
    ]
    task = record.str.extract(r"\sArrayTaskId=(\S+)")
    task = pl.when(task.str.contains(r"^\d+$")).then(task).otherwise("[" + task + "]")  # waiting tasks: 4-9%2
    part = record.str.extract(r"\sHetJobId=(\d+)") + "+" + record.str.extract(r"\sHetJobOffset=(\d+)")
    raw = _records(content, r"^JobId=").select(
        *(record.str.extract(pattern).alias(name) for name, pattern in _SCONTROL.items()),
        JobID=pl.coalesce(
            record.str.extract(r"\sArrayJobId=(\d+)") + "_" + task, part, record.str.extract(r"^JobId=(\d+)")
        ),
        ReqMem=pl.coalesce(pl.when(~m.is_in(["0n", "0c"])).then(m) for m in memory),
    )
    return _whole(raw)


def seff(content: str) -> tuple[pl.DataFrame, str]:
    """The same for `seff`, which also prints how much of a job's CPUs and memory was used."""
    record = pl.col("record")
    each = record.str.extract(r"(?m)^Cores per node: (\d+)").cast(pl.Int64, strict=False)
    cores = record.str.extract(r"(?m)^Cores: (\d+)").cast(pl.Int64, strict=False)
    nodes = record.str.extract(r"(?m)^Nodes: ([1-9]\d*)").cast(pl.Int64, strict=False).fill_null(1)
    asked = record.str.extract_groups(r"(?m)^Memory Efficiency: \S+ of ([\d.]+) ([KMGTPE]?)B")
    used = record.str.extract_groups(r"(?m)^Memory Utilized: ([\d.]+) ([KMGTPE]?)B")
    raw = _records(content, r"^Job ID: ").select(
        *(record.str.extract(f"(?m){pattern}").alias(name) for name, pattern in _SEFF.items()),
        Array=record.str.extract(r"(?m)^Array Job ID: (\S+)"),
        ExitCode=record.str.extract(r"(?m)^State: \S+ \(exit code (\d+)\)") + ":0",
        AllocCPUS=pl.coalesce(each * nodes, cores).cast(pl.String),
        ReqMem=asked.struct.field("1") + asked.struct.field("2"),
        # `seff` adds up all tasks; `jobs` holds the memory of one node, like the limit
        MaxRSS=(used.struct.field("1").cast(pl.Float64, strict=False) / nodes).round(3).cast(pl.String)
        + used.struct.field("2"),
    )
    return _whole(raw.with_columns(JobID=pl.coalesce("Array", "JobID")))


def _records(content: str, begins: str) -> pl.DataFrame:
    places = [hit.start() for hit in re.finditer(begins, content, re.MULTILINE)]
    records = [content[a:b] for a, b in zip(places, [*places[1:], len(content)], strict=False)]
    return pl.DataFrame({"record": pl.Series(records, dtype=pl.String)})


def _whole(raw: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    cut = raw["State"].null_count()
    why = f"{cut} records without a state: cut off" if cut else "" if raw.height else "no record of a job"
    return raw.drop_nulls("State"), why
