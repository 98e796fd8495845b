"""Which rank and node said a line: what launchers and collectors write before it."""

import polars as pl

from loganalyst.model import constant
from loganalyst.sources.text.lines.heads import CONTAINER

_MARK = (
    r"\[rank:? ?[0-9]+\]:? ?"  # torch, lightning
    r"|\[default[0-9]+\]: ?"  # torchrun --tee
    r"|\[[0-9]+,(?:mpirank:)?[0-9]+[^\]]{0,40}\]<std(?:err|out)>:? ?"  # mpirun --tag-output
)
_LABEL = r" {0,4}[0-9]{1,5}: "  # srun --label, padded to the width of the last
_RANK = rf"{_MARK}|{_LABEL}"
_RANKS = (r"\[(?:rank:? ?|default)(\d+)\]", r"(?:^| )(\d+): ", r"\[\d+,(?:mpirank:)?(\d+)")
_RAY = r"\([A-Za-z_][A-Za-z0-9_.]*(?:,|, rank=[0-9]+,)? pid=[0-9]+(?:, ip=[0-9.]+)?\) ?"  # and SkyPilot
_NODE = r"[a-z][a-z-]*[0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*: "  # pdsh and other fan-out launchers
_DATE = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9] [0-9:]{8} "  # without a year
_HOST = r"[A-Za-z0-9][A-Za-z0-9.-]*"
_SYSLOG = rf"{_DATE}{_HOST} [A-Za-z0-9_.@/-]+(?:\[[0-9]+\])?: "  # and journalctl
_COLOUR = r"#033\[[0-9;]*m"  # as syslog and CloudWatch write the codes of terminals
_PLAIN = "#033[0m"
_PREFIX = rf"(?:{_RANK}|{_RAY}|{_NODE}|{_SYSLOG}|{_COLOUR})"
# What looks like a node's name and is none: `loss1: 0.5`, `epoch3: done`.
_NO_NODE = (
    r"^(?:epoch|step|iter|iteration|fold|batch|layer|block|stage|task|rank|trial|seed|run|exp|level|cuda|lr|loss|acc|top"
    r"|map|f|p|ap|ar|iou|param|group|attempt)[\d_-][^:]*: $|^slurm"
)
# nor is a rank: darknet's and CatBoost's counters before their values
_NO_RANK = rf"^{_LABEL}\s*(?:learn: |[-+.\w]+, [-+.\w]+ avg\b)"
_NODES = (r"ip=([\d.]+)", rf"{_DATE}({_HOST})", rf"({_NODE[:-2]}): ")
# behind what a collector writes stands a rank's mark: `kubectl logs --timestamps` and --prefix, Docker, CRI, `ts`
_COLLECTED = rf"(?:{CONTAINER}|\[pod/[^\] ]{{1,200}}\] |[A-Za-z0-9_.-]+ +\| )"
_BEHIND = rf"^{_COLLECTED}{{1,2}}(?P<mark>(?:{_MARK}|{_RAY}))"
_VALUE = r"^(?:[-+.\d\[{('\"]|nan\b|inf\b)"

# made once: a log's few lines are described many times, and to put these together takes longer than to answer them
_SAID, _BEFORE = pl.col("said"), pl.col("prefix")
_BODY = _SAID.str.strip_prefix(_BEFORE)
_IS_NO_NODE = _BEFORE.str.contains(_NO_NODE) | (_BEFORE.str.contains(rf"^{_NODE}$") & _BODY.str.contains(_VALUE))
_IS_NONE = _IS_NO_NODE | _SAID.str.contains(_NO_RANK)
_STAGES = (
    (pl.col("text").str.replace(_BEHIND, "$mark").alias("said"),),
    (_SAID.str.extract(rf"^({_PREFIX}+)").fill_null("").alias("prefix"),),
    (pl.when(_IS_NONE).then(pl.lit("")).otherwise(_BEFORE).alias("prefix"),),
)
_DESCRIBED = (
    pl.col("text"),
    _BEFORE.str.strip_chars_end().alias("prefix"),  # a line that is indented may have lost a blank to it
    _BODY.str.strip_suffix(_PLAIN).alias("body"),
    pl.coalesce(*(_BEFORE.str.extract(regex) for regex in _RANKS)).cast(pl.Int64, strict=False).alias("rank"),
    pl.coalesce(_BEFORE.str.extract(regex) for regex in _NODES).alias("node"),
)
_AS_WRITTEN = pl.QueryOptFlags.none()


def described(text: pl.Series) -> pl.DataFrame:
    """text, prefix (String, "" where none; without a collector's words before it), body (the text after it), rank and
    node of each row.
    """
    if not text.str.contains(f"^{_PREFIX}|{_BEHIND}").any():
        n = len(text)
        rank, node = constant(None, n, pl.Int64), constant(None, n, pl.String)
        return pl.DataFrame(
            {"text": text, "prefix": constant("", n, pl.String), "body": text, "rank": rank, "node": node}
        )
    rows = pl.DataFrame({"text": text}).lazy()
    for columns in _STAGES:
        rows = rows.with_columns_seq(*columns)
    return rows.select_seq(*_DESCRIBED).collect(optimizations=_AS_WRITTEN)
