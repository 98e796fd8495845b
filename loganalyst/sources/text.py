"""Job logs: SLURM output, stdout and stderr as text. Metrics, the lines a pattern knows, sessions, printed arguments."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.sources import logmetrics, patterns, textargs, textlines, tracebacks
from loganalyst.sources.textsessions import Sessions

NAME = "text"
CUT = 2000  # characters of a line that are kept
KEPT = 100  # matches of one pattern kept at either end of a batch; how many are left out is reported

_LOG_NAME = re.compile(
    r"^(slurm|output|stdout|stderr|nohup|console)\b|\.(out|err|log|[oe]\d+)(\.\d+)?$|^(stdout|stderr|std_log)", re.I
)
_SURE_NAME = re.compile(r"^slurm-[\d_]+\.(out|err)$|^(output|stdout|stderr)\.log$|\.[oe]\d{3,}$", re.I)
_TEXT_NAME = re.compile(r"^[^.]*$|\.(txt|md|text)$", re.I)
_SPEAKS = re.compile(
    r"Traceback \(most recent|srun:|slurmstepd|CUDA|\d(?:it/s|s/it)|\b(?:INFO|WARNING|ERROR)\b"
    r"|\b(?:loss|epoch|step|iter)\w*['\"]?\s*[:=]?\s*\[?[-+]?\d",
    re.I,
)
_OTHER_FORMAT = re.compile(
    r"\A\s*(?:#!|<\?xml|<!DOCTYPE|<html|%PDF|---\s*\n|import |from \w+ import |#include)|\A[^\n]*\t[^\n]*\t", re.I
)
_JOB_IN_NAME = re.compile(r"slurm-(\d+(?:_\d+)?)\.|[-_.](\d{3,}(?:_\d+)?)\.(?:out|err|log)$|\.[oe](\d{3,})$")
_CONTROL = bytes(range(1, 7)) + bytes(range(14, 27)) + bytes(range(28, 32)) + b"\x7f"


def sniff(path: Path, head: bytes) -> float:
    """How surely (0..1) a file whose first bytes are `head` is a job log."""
    named = 0.6 if _SURE_NAME.search(path.name) else 0.5 if _LOG_NAME.search(path.name) else 0.0
    if not named and not _TEXT_NAME.search(path.name):
        return 0.0
    plain = head.replace(b"\x00", b"")
    if head[:2] not in textlines.UTF16 and len(plain.translate(None, _CONTROL)) < 0.97 * len(plain):
        return 0.0
    text = textlines.head(head)
    if _OTHER_FORMAT.search(text) or _is_json(text) or _is_table(text):
        return 0.0
    return named or (0.4 if _SPEAKS.search(text) else 0.0)


def read(path: Path) -> Iterator[Tables]:
    """The tables of one log, in batches of about 1 MiB: points, lines, config, gaps, and at the end its sessions.

    `lines` holds the lines that a pattern of `rules/text` claims and the last lines of tracebacks (`block`: number of
    their chain). Raises OSError; no content raises.
    """
    reading = _Reading(path.name)
    rest: pl.DataFrame | None = None
    for rows in textlines.batches(path):
        rows = textlines.described(rows)
        rows = pl.concat([rest, rows]) if rest is not None else rows
        cut = tracebacks.unfinished(rows)
        rest = rows[cut:] if rows[cut:].estimated_size() < textlines.CHUNK else None
        yield reading.batch(rows[:cut] if rest is not None else rows)
    if rest is not None and rest.height:
        yield reading.batch(rest)
    yield Tables(sessions=reading.sessions.summary(reading.last_line))


class _Reading:
    """What passes from batch to batch: sessions, the number of traceback chains, the rank whose metrics are taken."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known = patterns.catalogue()
        hit = _JOB_IN_NAME.search(name)
        self.sessions = Sessions(name, next(filter(None, hit.groups()), None) if hit else None)
        self.chains = 0
        self.rank: int | None = None
        self.last_line = 0

    def batch(self, rows: pl.DataFrame) -> Tables:
        if not rows.height:
            return Tables()
        self.last_line = int(rows["line"][-1])
        marks, left_out = self._thinned(self._marks(rows))
        rows = rows.with_columns(session=self.sessions.number(rows, marks))
        marks = marks.with_columns(session=self.sessions.at(marks["line"]))
        points = logmetrics.parse(self._speaking(rows).select("line", "text", "session", "time"))
        self.sessions.add(marks, points, rows.select("session", "line", "time"))
        lines = marks.filter(pl.col("part") != "start").with_columns(file=pl.lit(self.name))
        return Tables(
            points=points,
            lines=lines.select(table("lines").columns).cast(dict(table("lines").schema)),
            config=textargs.arguments(rows["body"], self.name),
            gaps=left_out,
        )

    def _marks(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The matched rows with the columns of `lines`, and generic (Boolean)."""
        hits = patterns.match(rows["body"], self.known)
        found = tracebacks.find(rows).with_columns(chain=pl.col("chain") + self.chains)
        self.chains += found["chain"].n_unique()
        ends = found.drop_nulls("row").with_columns(pl.col("row").cast(pl.UInt32)).unique("row", keep="first")
        known = pl.DataFrame(
            [{"pattern": p.id, "label": p.label, "part": p.part, "generic": p.generic} for p in self.known]
        )
        marks = hits.join(ends, on="row", how="full", coalesce=True).with_columns(
            pl.col("pattern").fill_null("python-exception"), captures=_captures()
        )
        marks = marks.join(known, on="pattern", how="left").sort("row")
        marks = marks.with_columns(part=pl.when(pl.col("harmless")).then(pl.lit("advice")).otherwise("part"))
        placed = rows.with_row_index("row").rename({"node": "said_node", "rank": "said_rank"})
        return marks.join(placed, on="row", how="left", maintain_order="left").with_columns(
            rank=pl.coalesce(_captured("rank").cast(pl.Int64, strict=False), "said_rank"),
            node=pl.coalesce(_captured("node"), "said_node"),
            text=_shown(pl.col("text")),
            block=pl.col("chain"),
        )

    def _thinned(self, marks: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """At most KEPT matches of a pattern from either end, and the gaps that says so."""
        place = pl.int_range(pl.len()).over("pattern")
        kept = (place < KEPT) | (place >= pl.len().over("pattern") - KEPT)
        lost = marks.filter(~kept).group_by("pattern", maintain_order=True).agg(pl.len(), pl.col("offset").first())
        why = [f"{n} more lines like {pattern!r} not listed" for pattern, n, _ in lost.iter_rows()]
        return marks.filter(kept), table("gaps", {"file": self.name, "offset": lost["offset"], "why": why})

    def _speaking(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows metrics are taken from: one rank of several, without its prefix; not the tracker's closing summary."""
        if self.rank is None and rows["rank"].is_not_null().any():
            speaking = rows.filter(pl.col("rank").is_not_null() & pl.col("body").str.contains(r"\d\.\d"))
            self.rank = int(speaking["rank"][0]) if speaking.height else None
        mine = pl.col("rank").is_null() | (pl.col("rank") == self.rank) if self.rank is not None else pl.lit(value=True)
        return rows.filter(mine & ~pl.col("body").str.starts_with("wandb: ")).with_columns(text="body")


def _captures() -> pl.Expr:
    """The pattern's captures with the traceback's, as one JSON object."""
    own = pl.col("captures").fill_null("{}")
    block = pl.struct("exception", "message", "frame").struct.json_encode()
    both = pl.when(own == "{}").then(block).otherwise(own.str.head(-1) + pl.lit(",") + block.str.tail(-1))
    plain = pl.col("pattern") == "python-exception"
    return pl.when(pl.col("head").is_null()).then(own).when(plain).then(block).otherwise(both)


def _captured(name: str) -> pl.Expr:
    return pl.col("captures").str.json_path_match(f"$.{name}")


def _shown(text: pl.Expr) -> pl.Expr:
    """The line cut to CUT characters; of a longer one its end, where what was glued to it stands."""
    return pl.when(text.str.len_chars() <= CUT).then(text).otherwise(text.str.head(CUT))


def _is_json(text: str) -> bool:
    head = [line for line in text.split("\n") if line.strip()][:2]
    if not head or head[0].lstrip()[0] not in "{[":
        return False
    try:
        return isinstance(json.loads(head[0]), dict)
    except (ValueError, RecursionError):
        return bool(re.match(r"\s*[\[{]\s*(\"|$)", head[0]))


def _is_table(text: str) -> bool:
    """The same number of commas (two or more) in each of the first five lines, and no spaces around words."""
    head = text.split("\n")[:5]
    counts = {line.count(",") for line in head}
    return len(head) == 5 and len(counts) == 1 and counts.pop() >= 2 and not re.search(r"\w \w", head[0])
