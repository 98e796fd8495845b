"""Failed jobs in the scheduler's accounts, by node, user, partition and reason, week by week."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from typing import Annotated

import numpy as np
import polars as pl

from loganalyst.auditing.failurecontrasts import adjusted, fisher, odds_ratio
from loganalyst.model import Time
from loganalyst.rulefiles import Shape, Texts, needed, ours

# fmt: off
COLUMNS = pl.Schema({
    "by": pl.String(), "value": pl.String(),  # `node`, `user`, `partition` or `reason`; its name
    "jobs": pl.Int64(), "failed": pl.Int64(),  # jobs that ended well or failed; failed jobs. Equal for a reason
    "other_jobs": pl.Int64(), "other_failed": pl.Int64(),
    "odds_ratio": pl.Float64(), "q": pl.Float64(),  # as in `contrasts`, over rows of the same `by`; NULL for a reason
    "named": pl.Boolean(),  # fails significantly more often, by `rules/accounts.yaml`
    "first": Time, "last": Time,  # end of the first and the last job that failed
    "weeks": pl.List(pl.Struct({"week": Time, "jobs": pl.Int64(), "failed": pl.Int64()})),  # from Monday
})
# fmt: on
MAX_NODES = 4096  # of a job


class Named(Shape, frozen=True):
    """The largest false discovery rate, and the least number of failed jobs, at which a node is named."""

    rate: Annotated[float, needed("a share below 1", gt=0, lt=1)]
    least: int


class Judging(Shape, frozen=True):
    """`rules/accounts.yaml`: states of failed jobs, states of jobs that ended well, and which nodes are named."""

    failed: Texts
    well: Texts
    named: Named


@cache
def judging() -> Judging:
    """`rules/accounts.yaml`. RuleError where it is not valid."""
    return ours("accounts.yaml", Judging)


def accounts(jobs: pl.DataFrame) -> pl.DataFrame:
    """The failures among `jobs` (the store's table) by node, user, partition and reason, the most significant first.

    A job that several runs list counts once; each start of a requeued job counts. Job steps do not count, nor do jobs
    that neither failed nor ended well.
    """
    states = judging()
    word = pl.col("state").str.extract(r"^([A-Z_]+)")  # `CANCELLED by 1000`
    ended = (
        jobs.filter(~pl.col("job").str.contains(".", literal=True), word.is_in([*states.failed, *states.well]))
        .with_columns(bad=word.is_in(states.failed), reason=pl.coalesce("reason", word))
        .select("job", "nodes", "user", "partition", "reason", "bad", at=pl.coalesce("ended", "started"))
        .unique(["job", "at"], keep="first", maintain_order=True)
    )  # fmt: skip
    sides = [
        ended.select(*_JOB_COLUMNS, by=pl.lit("node"), value=_hosts(ended["nodes"])).explode("value"),
        *(ended.select(*_JOB_COLUMNS, by=pl.lit(name), value=name) for name in ("user", "partition")),
        ended.filter("bad").select(*_JOB_COLUMNS, by=pl.lit("reason"), value="reason"),
    ]
    found = _counted(pl.concat(sides).drop_nulls("value"), ended.height, int(ended["bad"].sum()))
    return found.sort("q", "failed", "by", "value", descending=[False, True, False, False], nulls_last=True)


_JOB_COLUMNS = ("job", "at", "bad")


def _counted(sides: pl.DataFrame, jobs: int, failed: int) -> pl.DataFrame:
    """One row per value, tested against all other jobs."""
    counts = {"jobs": pl.len().cast(pl.Int64), "failed": pl.col("bad").sum().cast(pl.Int64)}
    weeks = (
        sides.drop_nulls("at").group_by("by", "value", week=pl.col("at").dt.truncate("1w")).agg(**counts).sort("week")
        .group_by("by", "value").agg(weeks=pl.struct("week", "jobs", "failed"))
    )  # fmt: skip
    end = pl.col("at").filter("bad")
    found = sides.group_by("by", "value").agg(**counts, first=end.min(), last=end.max())
    found = found.with_columns(other_jobs=jobs - pl.col("jobs"), other_failed=failed - pl.col("failed"))
    tested = [_tested(part, jobs, failed) for part in found.sort("by", "value").partition_by("by")]
    every = pl.concat([part.with_columns(odds_ratio=odds_ratio("jobs")) for part in tested] or [_nothing()])
    reason = pl.col("by") == "reason"  # only failed jobs have a reason
    every = every.with_columns(pl.when(~reason).then(name).alias(name) for name in ("odds_ratio", "q"))
    every = every.with_columns(named=more_than_chance().fill_null(value=False))
    return every.join(weeks, on=["by", "value"], how="left").select(COLUMNS.names()).cast(COLUMNS)


def more_than_chance() -> pl.Expr:
    """Whether a row of `accounts` or `contrasts` fails significantly more often than the others."""
    named = judging().named
    return (pl.col("q") <= named.rate) & (pl.col("odds_ratio") > 1) & (pl.col("failed") >= named.least)


def _tested(part: pl.DataFrame, jobs: int, failed: int) -> pl.DataFrame:
    chance = fisher(part.select(runs="jobs", failed="failed"), jobs, failed)
    return part.with_columns(q=adjusted(pl.Series(np.nan_to_num(chance.to_numpy(), nan=1.0))))


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={k: t for k, t in COLUMNS.items() if k not in ("weeks", "named")})


def _hosts(lists: pl.Series) -> pl.Series:
    """The names in each list of nodes."""
    known = {text: list(hosts(text)) for text in lists.drop_nulls().unique()}
    return pl.Series("value", [known.get(text) for text in lists], pl.List(pl.String))


def hosts(text: str) -> Iterator[str]:
    """The names in a list of nodes such as `n[1-3,07],gpu01`, at most MAX_NODES."""
    # splits at commas outside of brackets: `n[1-3,07]`, `gpu01`
    names = (_expanded(name) for name in re.findall(r"(?:[^,\[]|\[[^\[\]]*\])+", text))
    return islice((host for hosts_ in names for host in hosts_), MAX_NODES)


def _expanded(name: str) -> Iterator[str]:
    pieces = re.split(r"\[([^\[\]]*)\]", name)  # `n[1-3]x` → `n`, `1-3`, `x`: odd pieces were in brackets
    choices = [list(islice(_numbers(p), MAX_NODES)) if i % 2 else [p] for i, p in enumerate(pieces)]
    return map("".join, product(*choices))


def _numbers(ranges: str) -> Iterator[str]:
    """`01-03,7` -> 01, 02, 03, 7."""
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            yield from (f"{i:0{len(first)}}" for i in range(int(first), int(last or first) + 1))
