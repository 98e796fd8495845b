"""Metrics printed in the lines of a job log, recognised from the lines themselves.

Every number of a line becomes a slot; what is left is the line's shape. A log has few shapes: each is read once
(`logshapes`), the numbers are gathered column-wise and put on one step axis a session (`logsteps`).
"""

from dataclasses import dataclass, field

import polars as pl

from loganalyst.model import table
from loganalyst.sources import logshapes, logsteps, logtables
from loganalyst.sources.logwords import BAR, CLOCK, JOIN, KERAS, RESULT, SLOT

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
_PLACED = pl.col("role").is_in(["step", "batch", "epoch"]).any()


def parse(lines: pl.DataFrame) -> pl.DataFrame:
    """The numbers a training printed, in the `points` schema and in file order (`source` NULL).

    `lines` has line (Int64, from 1), text (String: decoded, without ANSI codes, CR refreshes as rows of their own that
    share a line number), session (Int32) and time (µs UTC or NULL). NaN and ±Inf are values. Lines without a position
    of their own take the last step seen, or a running index where the log has no steps. Never raises on any text.
    """
    printed = Printed()
    printed.add(lines)
    return printed.points()


@dataclass
class Printed:
    """What `parse` does, for a log that comes in batches: steps and running indexes go on from one to the next."""

    kept: list[pl.DataFrame] = field(default_factory=list)
    rows: int = 0
    known: set[str] = field(default_factory=set)  # shapes that were often enough in an earlier batch

    def add(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Keep the numbers of a batch (as `parse` takes it); gives session and line of each."""
        rows = lines.with_row_index("row", offset=self.rows).with_columns(noise=_noise())
        self.rows += lines.height
        rows = rows.filter(~pl.col("noise"), pl.col("text").str.len_bytes() <= _LONGEST).drop("noise")
        tables, numbers = logtables.cells(rows), self._numbers(rows)
        numbers = pl.concat([numbers.join(tables, on="at", how="anti"), tables]).sort("row", maintain_order=True)
        origin = rows.select("session", "line", "time", at="row")
        self.kept.append(numbers.join(origin, on="at", maintain_order="left").drop("at"))
        return self.kept[-1].select("session", "line")

    def points(self) -> pl.DataFrame:
        """All points so far, in the `points` schema and in file order."""
        return logsteps.points(pl.concat(self.kept, rechunk=True)) if self.kept else table("points")

    def _numbers(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Every number that means something, in the schema of `logtables`."""
        lines = lines.select("row", "session", "text").filter(pl.col("text").str.contains(r"\d|(?i:nan|inf)"))
        text = pl.col("text")
        for pattern, by in _CLEANING:
            text = text.str.replace_all(pattern, by)
        lines = lines.with_columns(text=text.str.strip_chars()).with_columns(
            form=pl.col("text").str.replace_all(_NUMBER, "${1}" + SLOT)
        )
        meanings = self._meanings(lines.group_by("form", maintain_order=True).agg(n=pl.len()))
        return (
            lines.join(meanings.group_by("form").agg(placed=_PLACED), on="form", maintain_order="left")
            .filter(~_reprinted())
            .select("row", "form", value=pl.col("text").str.extract_all(_NUMBER))
            .with_columns(slot=pl.int_ranges(pl.col("value").list.len()))
            .explode("value", "slot")
            .join(meanings, on=["form", "slot"])
            .with_columns(_value(), at="row")
            .select(logtables.SCHEMA.names())
            .sort("row", maintain_order=True)
        )

    def _meanings(self, shapes: pl.DataFrame) -> pl.DataFrame:
        words = pl.col("form").str.to_lowercase().str.replace_all("_", " ", literal=True)
        found = []
        for form, count in shapes.filter((pl.col("n") >= 3) | words.str.contains(_WORTH)).iter_rows():
            shape = logshapes.read(form, 3 if form in self.known else count)
            if shape is not None:
                flags = (shape.bar, shape.keras, shape.held_out, shape.header)
                found += [(form, *flags, s.index, s.role, s.name) for s in shape.slots]
            if shape is not None and count >= 3:
                self.known.add(form)
        flag_types = dict.fromkeys(_FLAGS, pl.Boolean)
        schema = {"form": pl.String, **flag_types, "slot": pl.Int64, "role": pl.String, "name": pl.String}
        return pl.DataFrame(found, schema=schema, orient="row")


def _noise() -> pl.Expr:
    """Stack traces (to the line that is not indented and names the error) and other text without results."""
    text = pl.col("text").str.replace(r"^\[?(?:rank)?\d+\]?: ?", "")
    opens = text.str.starts_with("Traceback (most recent call last)")
    inside = pl.when(opens).then(True).when(text.str.contains(r"^\S")).then(False).forward_fill().fill_null(False)
    example = text.str.contains(r"^\s*>>>")
    return inside | (inside | example).shift(fill_value=False) | text.str.contains(_NOISE)


def _reprinted() -> pl.Expr:
    """The same finite record at the same position once more: two log handlers, stdout and stderr in one file."""
    same = (pl.col("text") == pl.col("text").shift()) & (pl.col("session") == pl.col("session").shift())
    return (same & pl.col("placed") & ~pl.col("text").str.contains(r"(?i)\bnan\b")).fill_null(False)


def _value() -> pl.Expr:
    text = pl.col("value").str.replace(r"^[^-+.\dnNiI]", "").str.to_lowercase().str.strip_prefix("+")
    return text.str.replace("infinity", "inf", literal=True).cast(pl.Float64, strict=False).alias("value")
