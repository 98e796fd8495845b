"""The rank and node that wrote a line: from the log's name and folder, or from the line's own words."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst.opening import opened

# `rank3.log`, `log_rank_3.txt`, `worker-3.err`; PaddlePaddle's `workerlog.3`
_RANK = re.compile(r"(?:^|[-_.])(?:global)?[-_]?(?:rank|worker(?:log\.)?|proc)[-_.]?(\d{1,5})(?=$|[-_.])", re.I)
# `r3.log`, `train_r12.out`, but not `r50.log`, which is a ResNet; `log.3`, `out.0.3` (mpirun's job and rank)
_BRIEF_RANK = re.compile(
    r"(?:.*[-_.])?r(\d|1[0-5])\.(?:log|out|err|txt)|(?:log|out|err|stdout|stderr|output)(?:\.\d{1,5})?\.(\d{1,5})", re.I
)
_SUBMITIT = re.compile(r"\d{3,}(?:_\d+)?_(\d{1,5})_log\.(?:out|err)")  # submitit: `4711_3_log.out`
# `train_4711_3.out`: the third task of an array, or of one job's step (SLURM's %t); its lines decide which
_TASK = re.compile(r"(?:^|[-_.])\d{3,}_(\d{1,5})\.(?:out|err|log|txt)")
# `out.3.log`, `mpi-3.stderr`: a rank if its lines say so
_NUMBER = re.compile(r"(?:^|[-_.])(\d{1,5})\.(?:out|err|log|txt|stdout|stderr)$")
# `rank 3`, `global_rank: 3`, `Rank=3`, `rank #3`
_RANK_IN_TEXT = re.compile(rb"(?i)(?<![a-z])(?:global[ _]?)?rank[ :=_#]{0,2}(\d{1,5})(?!\d)")
_HEAD_BYTES = 1 << 16  # bytes of a log that are searched for the names of ranks
_MIN_OWN_SHARE = 0.9  # a log belongs to a rank if more than this share of the ranks it names are that rank
_MAX_LOGS_READ = 6  # logs of a job whose first lines are read
_ATTEMPT = re.compile(r"attempt_\d+")  # torchrun's folders: attempt_0/3/stderr.log
# `slurm-77-gpu07.out`, `train.node-3.log`: a word that ends in a number and is not a usual word of logs
_NODE = re.compile(
    r"(?:slurm|job)[-_]\d+(?:[-_.]\d+)?[-_.]([A-Za-z][A-Za-z\d-]*\d)(?=$|[-_.])|(?:^|[-_.])((?:node|host)[-_]?\d+)(?=$|[-_.])"
)
# `rank3`, `worker-2`, `step_7`, `gpu-0`: these name no node
_NO_NODE = re.compile(r"(?i)(?:rank|worker|proc|process|task|local|global|attempt|step|part)[-_]?\d+|gpu[-_]?\d")

# In the text of a line: `[Rank 3] Watchdog` (NCCL), `[Rank:3] FATAL ERROR` (Gaudi),
# `local_rank: 3 (pid` (torchrun), `--local_rank=3` (old launcher),
# `process 3 terminated with signal` (torch's spawn), `gpu07:77:99 [3] ` (NCCL's host:pid:thread [device]),
# `srun: error: gpu07: task 3: ` (srun)
_NAMED_RANK = (
    r"\bRank[ :](\d+)\]|local_rank: (\d+) \(pid|--local[-_]rank[= ](\d+)"
    r"|\bprocess (\d+) terminated with (?:signal|exit)|^\S+?:\d+:\d+ \[(\d+)\] "
    r"|^srun: error: \S+: task (\d+): "
)
# `slurmstepd-gpu07: `, `gpu07:77:99 [3] `, `srun: error: gpu07: tasks 3-5: `. A container is named by twelve
# hexadecimal digits; a time of day begins with two.
_NAMED_NODE = (
    r"^slurmstepd-([^\s:]+): |^([A-Za-z][\w.-]*|[0-9a-f]{12}):\d+:\d+ \[\d+\] "
    r"|^srun: error: ([A-Za-z][\w.-]*): tasks? [\d,-]+: "
)
# Every such line contains one of these
_NAMING_WORDS = (
    "Rank ",
    "[Rank:",
    "local_rank: ",
    "--local",
    " terminated with ",
    "slurmstepd-",
    " [",
    "srun: error: ",
)


def of_file(path: Path) -> tuple[int | None, str | None]:
    """Rank and node that wrote the file, by its name or folder; None where neither names one."""
    name = path.name
    rank = _RANK.search(name.rpartition(".")[0] or name) or _RANK.search(name) or _RANK.fullmatch(path.parent.name)
    rank = rank or _SUBMITIT.fullmatch(name) or _BRIEF_RANK.fullmatch(name)
    number = (
        next(filter(None, rank.groups()))
        if rank
        else path.parent.name
        if _ATTEMPT.fullmatch(path.parent.parent.name)
        else ""
    )
    found = next((hit[1] or hit[2] for hit in _NODE.finditer(name) if not _NO_NODE.fullmatch(hit[1] or "")), None)
    return int(number) if number.isdecimal() else None, found


def of_task(path: Path) -> int | None:
    """The rank that wrote the file, if its name ends in a number and its first lines name mostly that rank. None where
    they do not, or the file cannot be read. Rank 0 writes for all: its number counts only beside the log of rank 1.
    """
    number = _TASK.search(path.name) or _NUMBER.search(path.name)
    if number and number.re is _NUMBER and int(number[1]) == 0:
        beside = path.with_name(f"{path.name[: number.start(1)]}1{path.name[number.end(1) :]}")
        number = number if beside.exists() else None
    counts = _rank_counts(path) if number else None
    return int(number[1]) if number and counts and _is_mostly(int(number[1]), counts) else None


def are_ranks_of_one_job(logs: Sequence[Path]) -> bool:
    """Whether logs that are named like those of an array belong to the ranks of one job: the first lines of all but the
    first log decide.
    """
    named = [(log, hit) for log in logs if (hit := _TASK.search(log.name))]
    if len(named) < len(logs) or len({log.name[: hit.start(1)] for log, hit in named}) != 1:
        return False
    later = [(log, rank) for log, hit in named if (rank := int(hit[1]))][:_MAX_LOGS_READ]
    agree = [_is_mostly(rank, counts) for log, rank in later if (counts := _rank_counts(log))]
    return bool(agree) and all(agree)


def names_mostly(path: Path, rank: int) -> bool | None:
    """Whether nearly all ranks that the first lines of a log name are `rank`; None where they name none."""
    counts = _rank_counts(path)
    return _is_mostly(rank, counts) if counts else None


def name_different_ranks(logs: Sequence[Path]) -> bool:
    """Whether at least two of the logs name ranks in their first lines, and none names a rank of another one."""
    named = [set(counts) for log in logs if (counts := _rank_counts(log))]
    return len(named) > 1 and len(set.union(*named)) == sum(map(len, named))


def _rank_counts(path: Path) -> "Counter[int]":
    """How often the first lines of a log name each rank."""
    try:
        with opened(path) as file:
            return Counter(map(int, _RANK_IN_TEXT.findall(file.read(_HEAD_BYTES))))
    except OSError:
        return Counter()


def _is_mostly(rank: int, counts: "Counter[int]") -> bool:
    """Whether nearly all lines name this rank."""
    return counts[rank] > _MIN_OWN_SHARE * counts.total()


def named(body: pl.Series) -> tuple[pl.Expr, pl.Expr]:
    """Rank (Int64) and node (String) that each line names in its own text, NULL where it names none."""
    if not body.str.contains_any([*_NAMING_WORDS]).any():
        return pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    text = pl.lit(body)
    return _first_group(text, _NAMED_RANK, 6).cast(pl.Int64, strict=False), _first_group(text, _NAMED_NODE, 3)


def _first_group(body: pl.Expr, regex: str, groups: int) -> pl.Expr:
    """The first group of the regex that took part."""
    return pl.coalesce(body.str.extract(regex, k) for k in range(1, groups + 1))
