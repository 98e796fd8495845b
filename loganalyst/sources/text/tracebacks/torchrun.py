"""The table that torchrun prints when a rank failed: one block for the first failure, one for each other rank."""

import polars as pl

ROOT = "Root Cause (first observed failure)"
MAX_TABLE_ROWS = 600  # rows of the list of other failures that are read
_KEYS = ("time", "host", "rank", "exitcode", "error_file", "traceback")
_ENTRY = r"^\[\d+\]:$"  # `[0]:`
# ` exitcode : -9 (pid: 77)`
_FIELD = rf"^\s*({'|'.join(_KEYS)})\s*: (.*)$"
_FAILED = r"^(.+) FAILED$"  # `train.py FAILED`
# The field `traceback` says nothing: `To enable traceback see: https://...`, or a traceback follows
_NO_TRACEBACK = r"^To enable traceback|^Traceback \(most recent|^$"


def find(rows: pl.DataFrame) -> pl.DataFrame:
    """The entries of the tables in `rows` (prefix, body), roots first: first and last row (positions), exception,
    message, rank, node and time (µs).

    `message` is the script, its exit code and the entry's own words. `cause` is the position of the rank's own
    traceback if the entry contains it. `root`: the rank failed first.
    """
    body = pl.col("body")
    field = body.str.extract_groups(_FIELD).struct
    numbered = rows.select("prefix", "body", row=pl.int_range(pl.len())).with_columns(
        entry=body.str.contains(_ENTRY).cum_sum().over("prefix"),
        table=body.str.contains(_FAILED).cum_sum().over("prefix"),
        root=pl.when(body.str.starts_with(ROOT)).then(True).when(body.str.contains(_FAILED)).then(False)
        .forward_fill().over("prefix").fill_null(value=False),
        script=body.str.extract(_FAILED, 1).forward_fill().over("prefix"),
        key=field.field("1"), value=field.field("2").str.strip_chars(),
    )  # fmt: skip
    fields = numbered.filter(pl.col("entry") > 0, pl.col("key").is_not_null())
    values = {key: pl.col("value").filter(pl.col("key") == key).first() for key in _KEYS}
    entries = fields.group_by("prefix", "table", "entry", maintain_order=True).agg(
        pl.col("row").first().alias("first"), pl.col("row").last().alias("last"), pl.col("root", "script").first(),
        at=pl.col("row").filter(pl.col("key") == "traceback").first(), **values,
    )  # fmt: skip
    entries = entries.drop_nulls("rank").sort("root", descending=True, maintain_order=True)
    inline = pl.col("traceback").str.starts_with("Traceback (most")
    return entries.select(
        kind=pl.lit("torchrun"), first="first", last="last", exception=pl.lit("ChildFailedError"), message=_message(),
        root="root", cause=pl.when(inline).then("at"),
        rank=pl.col("rank").str.extract(r"^(\d+)", 1).cast(pl.Int64, strict=False), node="host",
        time=pl.col("time").str.to_datetime("%Y-%m-%d_%H:%M:%S", strict=False, time_unit="us").cast(pl.Int64),
    )  # fmt: skip


def _message() -> pl.Expr:
    """`train.py: exit code -9 (SIGKILL); Signal 9 (SIGKILL) received; error file /tmp/…/error.json`."""
    code = pl.col("exitcode").str.extract(r"^(-?\d+)", 1)
    signal = pl.col("exitcode").str.extract(r"(\(SIG\w+\))", 1)
    words = pl.when(~pl.col("traceback").str.contains(_NO_TRACEBACK)).then(
        pl.col("traceback").str.replace(r" by PID \d+", "")
    )
    file = pl.when(pl.col("error_file") != "<N/A>").then(pl.format("error file {}", "error_file"))
    how = pl.concat_str([pl.format("exit code {}", code), signal], separator=" ", ignore_nulls=True)
    failed = pl.when(how == "").then(pl.lit("failed")).otherwise(how)
    ended = pl.concat_str([pl.col("script").fill_null("a rank"), failed], separator=": ")
    return pl.concat_str([ended, words, file], separator="; ", ignore_nulls=True)
