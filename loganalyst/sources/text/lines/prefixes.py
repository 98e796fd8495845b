"""The rank and node that wrote a line: from the prefixes of launchers and log collectors."""

import polars as pl

from loganalyst.model import constant
from loganalyst.sources.text.lines.heads import CONTAINER

# Prefixes that name a rank
_MARK = (
    r"\[rank:? ?[0-9]+\]:? ?"  # torch `[rank3]: `, lightning `[rank: 3] `
    r"|\[default[0-9]+\]: ?"  # torchrun --tee: `[default3]: `
    r"|\[[0-9]+,(?:mpirank:)?[0-9]+[^\]]{0,40}\]<std(?:err|out)>:? ?"  # mpirun --tag-output: `[1,3]<stderr>: `
)
# ` 3: ` of srun --label, padded to the width of the last rank
_LABEL = r" {0,4}[0-9]{1,5}: "
_RANK = rf"{_MARK}|{_LABEL}"
# `[rank3]`, `[default3]`; `3: `; `[1,3]`
_RANKS = (r"\[(?:rank:? ?|default)(\d+)\]", r"(?:^| )(\d+): ", r"\[\d+,(?:mpirank:)?(\d+)")
# `(Worker pid=77, ip=10.0.0.1) ` of Ray, `(task, rank=3, pid=77) ` of SkyPilot
_RAY = r"\([A-Za-z_][A-Za-z0-9_.]*(?:,|, rank=[0-9]+,)? pid=[0-9]+(?:, ip=[0-9.]+)?\) ?"
# `gpu07.cluster: ` of pdsh and other fan-out launchers
_NODE = r"[a-z][a-z-]*[0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*: "
_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}: "  # `10.96.202.43: ` of pdsh
# `May 12 10:00:02 `: syslog writes no year
_DATE = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9] [0-9:]{8} "
_HOST = r"[A-Za-z0-9][A-Za-z0-9.-]*"
# `May 12 10:00:02 gpu07 python[77]: ` of syslog and journalctl
_SYSLOG = rf"{_DATE}{_HOST} [A-Za-z0-9_.@/-]+(?:\[[0-9]+\])?: "
# `2024-05-12T10:00:02+0200 gpu07 kernel: ` of journalctl and rsyslog
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})? "
_KERNEL = rf"{_ISO}{_HOST} kernel: "
_COLOUR = r"#033\[[0-9;]*m"  # `#033[31m`: syslog and CloudWatch write terminal codes so
_PLAIN = "#033[0m"
_PREFIX = rf"(?:{_RANK}|{_RAY}|{_NODE}|{_ADDRESS}|{_SYSLOG}|{_KERNEL}|{_COLOUR})"
# What looks like a node's name and is none: `loss1: 0.5`, `epoch3: done`, `slurmstepd1: `
_NO_NODE = (
    r"^(?:epoch|step|iter|iteration|fold|batch|layer|block|stage|task|rank|trial|seed|run|exp|level|cuda|lr|loss|acc|top"
    r"|map|f|p|ap|ar|iou|param|group|attempt)[\d_-][^:]*: $|^slurm"
)
# What looks like a rank and is none: darknet's `1: 2.5, 2.5 avg`, CatBoost's `0: learn: 0.5`
_NO_RANK = rf"^{_LABEL}\s*(?:learn: |[-+.\w]+, [-+.\w]+ avg\b)"
_NODES = (
    r"ip=([\d.]+)",
    rf"{_DATE}({_HOST})",
    rf"{_ISO}({_HOST}) kernel: ",
    rf"({_NODE[:-2]}): ",
    rf"^({_ADDRESS[:-2]}): ",
)  # the node in Ray's, syslog's and pdsh's prefixes
# Collectors write before a rank's mark: `2024-05-01T10:00:02Z stderr F ` (kubectl logs --timestamps, CRI, `ts`),
# `[pod/train-0/main] ` (kubectl logs --prefix), `trainer_1 | ` (Docker)
_COLLECTOR = rf"(?:{CONTAINER}|\[pod/[^\] ]{{1,200}}\] |[A-Za-z0-9_.-]+ +\| )"
# `2024-05-01T10:00:02Z [rank3]: `; the group is what stays
_BEHIND_COLLECTOR = rf"^{_COLLECTOR}{{1,2}}(?P<mark>(?:{_MARK}|{_RAY}))"
# a number or list behind `name: `: then the name is a metric's, not a node's
_VALUE = r"^(?:[-+.\d\[{('\"]|nan\b|inf\b)"

# Built once: few lines are described at a time and often, and building the expressions takes longer than running them
_PRINTED, _BEFORE = pl.col("printed"), pl.col("prefix")
_BODY = _PRINTED.str.strip_prefix(_BEFORE)
_IS_NO_NODE = _BEFORE.str.contains(_NO_NODE) | (_BEFORE.str.contains(rf"^{_NODE}$") & _BODY.str.contains(_VALUE))
_IS_NO_PREFIX = _IS_NO_NODE | _PRINTED.str.contains(_NO_RANK)
_STAGES = (
    (pl.col("text").str.replace(_BEHIND_COLLECTOR, "$mark").alias("printed"),),
    (_PRINTED.str.extract(rf"^({_PREFIX}+)").fill_null("").alias("prefix"),),
    (pl.when(_IS_NO_PREFIX).then(pl.lit("")).otherwise(_BEFORE).alias("prefix"),),
)
_DESCRIBED = (
    pl.col("text"),
    _BEFORE.str.strip_chars_end().alias("prefix"),  # the prefix may have taken a blank of an indented line
    _BODY.str.strip_suffix(_PLAIN).alias("body"),
    pl.coalesce(*(_BEFORE.str.extract(regex) for regex in _RANKS)).cast(pl.Int64, strict=False).alias("rank"),
    pl.coalesce(_BEFORE.str.extract(regex) for regex in _NODES).alias("node"),
)
_AS_WRITTEN = pl.QueryOptFlags.none()


def described(text: pl.Series) -> pl.DataFrame:
    """text, prefix (String, "" where there is none; without the words of a collector before it), body (the text after
    the prefix), rank and node of each row.
    """
    if not text.str.contains(f"^{_PREFIX}|{_BEHIND_COLLECTOR}").any():
        n = len(text)
        rank, node = constant(None, n, pl.Int64), constant(None, n, pl.String)
        return pl.DataFrame(
            {"text": text, "prefix": constant("", n, pl.String), "body": text, "rank": rank, "node": node}
        )
    rows = pl.DataFrame({"text": text}).lazy()
    for columns in _STAGES:
        rows = rows.with_columns_seq(*columns)
    return rows.select_seq(*_DESCRIBED).collect(optimizations=_AS_WRITTEN)
