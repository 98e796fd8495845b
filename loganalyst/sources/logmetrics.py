"""Metrics printed in the lines of a job log, recognised from the lines themselves.

Every number of a line becomes a slot; what is left is the line's shape. A log has few shapes: each is read once
(`logshapes`), the numbers are gathered column-wise and put on one step axis a session (`logsteps`).
"""

import polars as pl

from loganalyst.model import SCHEMAS, table
from loganalyst.sources import logshapes, logsteps, logtables
from loganalyst.sources.logshapes import BAR, CLOCK, JOIN, KERAS, RESULT, SLOT

_LONGEST = 10_000  # bytes; longer lines are dumps

_NUMBER = r"(^|[^\w.@+\-" + JOIN + r"])([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?)\b))"
_TIME = (
    r"\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|(?:\b\d{1,2}/\d{2} )?\b\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?\b"
)
# nan as a word ("number of nan iterations") is tied to what stands around it
_NAN_WORDS = (
    r"\b(of|skip(?:ped)?|found|detected|any|no|contains?|has|for|or|and|if|check) ((?i:nan|inf)\b)",
    r"(^| )((?i:nan|inf) (?:iterations?|batch(?:es)?|steps?|grad\w*|values?|detected|found|encountered|in)\b)",
)
_CLEANING = (
    (r"[\x00-\x08]", ""),
    (r"(IoU=[\d.]+):", "$1-"),
    (
        r"Average \w+ +\((A[PR])\) @\[ *IoU=([\d.-]+) *\| *area= *(\w+) *\| *maxDets= *(\d+) *\]",
        "$1@${2}_${3}_$4",
    ),
    (_TIME, CLOCK),
    (r"%\|[^|]*\|", "%" + BAR),
    (r"\[=*>?\.{3,}\]|\[=+>?\.*\]|━+[━╸╺─ ]*", KERAS),
    *((pattern, f"$1{JOIN}$2") for pattern in _NAN_WORDS),
    (r"\s+", " "),
)
# text that prints numbers which are not results: stack traces, source code, settings, package lists, totals
_NOISE = (
    r"^\s*File \"|^\s*(?:>>>|def |class |return |import |from |raise |assert |for |if |with |self\.|#|@)"
    r"|^[\w.]*(?:Error|Exception|Interrupt|Exit)\b|\w+Warning:|\b[A-Z]\w*\(\w+=|\b(?:Namespace|Config)\("
    r"|^(?:Requirement already|Collecting|Downloading|Using cached|Installing|wandb:|\+ |srun:|slurmstepd:)"
    r"|train_runtime|\bself\b|^\s*\*\s+Acc@1|\*\*\*\*\* (?:train|eval) metrics"
)
_WORTH = RESULT + r"|epoch|\bep\b"
_FLAGS = ("bar", "keras", "held_out", "header")


def parse(lines: pl.DataFrame) -> pl.DataFrame:
    """The numbers a training printed, in the `points` schema and in file order (`source` NULL).

    `lines` has line (Int64, from 1), text (String: decoded, without ANSI codes, CR refreshes as rows of their own that
    share a line number), session (Int32) and time (µs UTC or NULL). NaN and ±Inf are values. Lines without a position
    of their own take the last step seen, or a running index where the log has no steps. Never raises on any text.
    """
    lines = lines.with_row_index("row").with_columns(noise=_noise())
    lines = lines.filter(~pl.col("noise"), pl.col("text").str.len_bytes() <= _LONGEST).drop("noise")
    tables, numbers = logtables.cells(lines), _numbers(lines)
    numbers = pl.concat([numbers.join(tables, on="at", how="anti"), tables]).sort("row", maintain_order=True)
    if numbers.is_empty():
        return table("points")
    return _points(numbers, lines)


def _noise() -> pl.Expr:
    """Stack traces (to the line that is not indented and names the error) and other text without results."""
    text = pl.col("text").str.replace(r"^\[?(?:rank)?\d+\]?: ?", "")
    opens = text.str.starts_with("Traceback (most recent call last)")
    inside = pl.when(opens).then(True).when(text.str.contains(r"^\S")).then(False).forward_fill().fill_null(False)
    example = text.str.contains(r"^\s*>>>")
    return inside | (inside | example).shift(fill_value=False) | text.str.contains(_NOISE)


def _numbers(lines: pl.DataFrame) -> pl.DataFrame:
    """Every number that means something: row, shape, flags, role, name, value."""
    lines = lines.select("row", "session", "text").filter(pl.col("text").str.contains(r"\d|(?i:nan|inf)"))
    text = pl.col("text")
    for pattern, by in _CLEANING:
        text = text.str.replace_all(pattern, by)
    lines = lines.with_columns(text=text.str.strip_chars()).with_columns(
        form=pl.col("text").str.replace_all(_NUMBER, "${1}" + SLOT)
    )
    shapes = lines.group_by("form", maintain_order=True).agg(n=pl.len()).with_row_index("shape")
    words = pl.col("form").str.to_lowercase().str.replace_all("_", " ", literal=True)
    meanings = _meanings(shapes.filter((pl.col("n") >= 3) | words.str.contains(_WORTH)))
    placed = pl.col("role").is_in(["step", "batch", "epoch"]).any()
    kept = meanings.group_by("shape").agg(placed=placed)
    return (
        lines.join(shapes.select("form", "shape"), on="form", maintain_order="left")
        .join(kept, on="shape", how="inner", maintain_order="left")
        .filter(~_reprinted())
        .select("row", "shape", value=pl.col("text").str.extract_all(_NUMBER))
        .with_columns(slot=pl.int_ranges(pl.col("value").list.len()))
        .explode("value", "slot")
        .join(meanings, on=["shape", "slot"])
        .with_columns(_value())
        .select("row", pl.col("row").alias("at"), "shape", *_FLAGS, "role", "name", "value")
        .sort("row", maintain_order=True)
    )


def _reprinted() -> pl.Expr:
    """The same finite record at the same position once more: two log handlers, stdout and stderr in one file."""
    same = (pl.col("text") == pl.col("text").shift()) & (pl.col("session") == pl.col("session").shift())
    return (same & pl.col("placed") & ~pl.col("text").str.contains(r"(?i)\bnan\b")).fill_null(False)


def _value() -> pl.Expr:
    text = pl.col("value").str.replace(r"^[^-+.\dnNiI]", "").str.to_lowercase().str.strip_prefix("+")
    return text.str.replace("infinity", "inf", literal=True).cast(pl.Float64, strict=False).alias("value")


def _meanings(shapes: pl.DataFrame) -> pl.DataFrame:
    found = []
    for number, form, count in shapes.select("shape", "form", "n").iter_rows():
        if (shape := logshapes.read(form, count)) is not None:
            flags = (shape.bar, shape.keras, shape.held_out, shape.header)
            found += [(number, *flags, s.index, s.role, s.name) for s in shape.slots]
    schema = {
        "shape": pl.UInt32,
        **dict.fromkeys(_FLAGS, pl.Boolean),
        "slot": pl.Int64,
        "role": pl.String,
        "name": pl.String,
    }
    return pl.DataFrame(found, schema=schema, orient="row")


def _points(numbers: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    def of(role: str) -> pl.Expr:
        value = pl.col("value").filter(pl.col("role") == role).first()
        return pl.when(value.abs() < 2**53).then(value).alias(role)

    records = (
        numbers.group_by("row", maintain_order=True)
        .agg(
            pl.col(_FLAGS).first(),
            of("step"),
            of("batch"),
            of("total"),
            of("epoch"),
            series=pl.col("name").filter(pl.col("role") == "metric").first(),
        )
        .join(lines.select("row", "session"), on="row", maintain_order="left")
    )
    placed = logsteps.place(records)
    points = (
        numbers.filter(pl.col("role") == "metric")
        .select("row", "at", "value", metric="name")
        .join(placed, on="row", maintain_order="left")
        .join(lines.select("line", "time", at="row"), on="at", maintain_order="left")
        .pipe(_indexed)
        .pipe(_settled)
    )
    columns = [pl.col(k) if k != "source" else pl.lit(None, dtype=t).alias(k) for k, t in SCHEMAS["points"].items()]
    return points.select(columns)


def _indexed(points: pl.DataFrame) -> pl.DataFrame:
    """A running index a session and metric where there is no step at all."""
    index = pl.int_range(pl.len(), dtype=pl.Int64).over("session", "metric")
    return points.with_columns(step=pl.coalesce("step", index))


def _settled(points: pl.DataFrame) -> pl.DataFrame:
    """Of the refreshes of a bar within one step the last; of a Keras epoch the last over the training data."""
    key = ["session", "metric", "step"]
    refreshed = pl.col("bar") | (pl.col("held_out") & pl.col("batch").is_not_null())
    same_pass = (pl.col("total") == pl.col("total").first().over("session", "step")) | pl.col("total").is_null()
    points = points.filter(~pl.col("keras") | same_pass)
    last = pl.col("row") == pl.col("row").max().over(key)
    return points.filter(~refreshed | last)
