"""Whose line it is: the rank and the node that a log's name and folder, or a line's own words, tell."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst.opening import opened

# `rank3.log`, `log_rank_3.txt`, `worker-3.err`; PaddlePaddle's `workerlog.3`
_RANK = re.compile(r"(?:^|[-_.])(?:global)?[-_]?(?:rank|worker(?:log\.)?|proc)[-_.]?(\d{1,5})(?=$|[-_.])", re.I)
_SUBMITIT = re.compile(r"\d{3,}(?:_\d+)?_(\d{1,5})_log\.(?:out|err)")
# `train_4711_3.out` is of an array's third task, or of the third task of one job's step (SLURM's %t): its lines tell
_TASK = re.compile(r"(?:^|[-_.])\d{3,}_(\d{1,5})\.(?:out|err|log|txt)")
_SAYS = re.compile(rb"(?i)(?<![a-z])(?:global[ _]?)?rank[ :=_#]{0,2}(\d{1,5})(?!\d)")
_HEAD = 1 << 16  # bytes of a log that tell whose it is
_MOSTLY = 0.9  # of the ranks that a log tells of, so many are its own
_ASKED = 6  # logs of a job, two of a rank
_ATTEMPT = re.compile(r"attempt_\d+")  # torchrun's folders: attempt_0/3/stderr.log
# `slurm-77-gpu07.out`, `train.node-3.log`: what ends in a number and is no word of logs
_NODE = re.compile(
    r"(?:slurm|job)[-_]\d+(?:[-_.]\d+)?[-_.]([A-Za-z][A-Za-z\d-]*\d)(?=$|[-_.])|(?:^|[-_.])((?:node|host)[-_]?\d+)(?=$|[-_.])"
)
_NO_NODE = re.compile(r"(?i)(?:rank|worker|proc|process|task|local|global|attempt|step|part)[-_]?\d+|gpu[-_]?\d")

# in the text of a line: NCCL's watchdog, torchrun, the old launcher, torch's spawn; NCCL's `host:pid:thread [device]`,
# slurmstepd
_SAID_RANK = (
    r"\bRank (\d+)\]|local_rank: (\d+) \(pid|--local[-_]rank[= ](\d+)|\bprocess (\d+) terminated with (?:signal|exit)"
    r"|^\S+?:\d+:\d+ \[(\d+)\] "
)
# (a container is called by twelve hexadecimal digits, a time of day begins with two)
_SAID_NODE = r"^slurmstepd-([^\s:]+): |^([A-Za-z][\w.-]*|[0-9a-f]{12}):\d+:\d+ \[\d+\] "
_SAYING = (
    "Rank ",
    "local_rank: ",
    "--local",
    " terminated with ",
    "slurmstepd-",
    " [",
)  # one of these is in every such line


def of_file(path: Path) -> tuple[int | None, str | None]:
    """Rank and node that wrote the file, as its name or its folder says; None where neither does."""
    name = path.name
    rank = _RANK.search(name.rpartition(".")[0] or name) or _RANK.search(name) or _RANK.fullmatch(path.parent.name)
    rank = rank or _SUBMITIT.fullmatch(name)
    number = rank[1] if rank else path.parent.name if _ATTEMPT.fullmatch(path.parent.parent.name) else ""
    found = next((hit[1] or hit[2] for hit in _NODE.finditer(name) if not _NO_NODE.fullmatch(hit[1] or "")), None)
    return int(number) if number.isdecimal() else None, found


def of_task(path: Path) -> int | None:
    """The rank whose log this is where its name ends in the number of a task and its first lines tell of that rank
    only; None where they do not, or the file cannot be read.
    """
    number = _TASK.search(path.name)
    told = _ranks(path) if number else None
    return int(number[1]) if number and told and _only(int(number[1]), told) else None


def tasks(logs: Sequence[Path]) -> bool:
    """Whether logs that are named like those of an array are of the ranks of one job: those after the first say so."""
    named = [(log, hit) for log in logs if (hit := _TASK.search(log.name))]
    if len(named) < len(logs) or len({log.name[: hit.start(1)] for log, hit in named}) != 1:
        return False
    later = [(log, rank) for log, hit in named if (rank := int(hit[1]))][:_ASKED]
    told = [_only(rank, ranks) for log, rank in later if (ranks := _ranks(log))]
    return bool(told) and all(told)


def _ranks(path: Path) -> "Counter[int]":
    """How often the first lines of a log name which rank."""
    try:
        with opened(path) as file:
            return Counter(map(int, _SAYS.findall(file.read(_HEAD))))
    except OSError:
        return Counter()


def _only(rank: int, told: "Counter[int]") -> bool:
    return told[rank] > _MOSTLY * told.total()


def said(body: pl.Series) -> tuple[pl.Expr, pl.Expr]:
    """Rank (Int64) and node (String) that each line names in its own text, NULL where it names none."""
    if not body.str.contains_any([*_SAYING]).any():
        return pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    text = pl.lit(body)
    return _first(text, _SAID_RANK, 5).cast(pl.Int64, strict=False), _first(text, _SAID_NODE, 2)


def _first(body: pl.Expr, regex: str, groups: int) -> pl.Expr:
    return pl.coalesce(body.str.extract(regex, k) for k in range(1, groups + 1))
