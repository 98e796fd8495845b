"""The lines of a job log: decoded, cleaned of terminal codes, with line numbers, byte offsets, rank, node and time."""

import codecs
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst.model import Time

CHUNK = 1 << 20  # bytes a batch; a line longer than this comes in pieces
ROWS = pl.Schema({"line": pl.Int64, "offset": pl.Int64, "text": pl.String})
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

ANSI = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
_RANK = (
    r"\[rank:? ?\d+\]:? ?"  # torch, lightning
    r"|\[default\d+\]: ?"  # torchrun --tee
    r"|\d{1,5}: "  # srun --label
)
_RAY = r"\([A-Za-z_][\w.]* pid=\d+(?:, ip=[\d.]+)?\) ?"
_NODE = r"[a-z][a-z-]*\d[a-z\d-]*(?:\.[a-z\d-]+)*: "  # pdsh and other fan-out launchers
PREFIX = rf"(?:{_RANK}|{_RAY}|{_NODE})"
# What looks like a node's name and is none: `loss1: 0.5`, `epoch3: done`.
_NO_NODE = (
    r"^(?:epoch|step|iter|iteration|fold|batch|layer|block|stage|task|rank|trial|seed|run|exp|level|cuda|lr|loss|acc|top"
    r"|map|f|p|ap|ar|iou|param|group|attempt)[\d_-][^:]*: $|^slurm"
)
_VALUE = r"^(?:[-+.\d\[{('\"]|nan\b|inf\b)"
_STAMP = r"(\d{4})[-/](\d{2})[-/](\d{2})[T _-](\d{2}:\d{2}:\d{2})(?:[.,](\d{1,6}))?"
_US_STAMP = r"(\d{2})/(\d{2})/(\d{4}) (\d{2}:\d{2}:\d{2})(?:[.,](\d{1,6}))?"
_STAMP_WITHIN = 120  # characters at the head of a line where its time stands


def batches(path: Path) -> Iterator[pl.DataFrame]:
    """The rows of a log in whole-line batches: line (Int64, from 1, counted at LF only), offset (Int64, bytes of the
    line's start; NULL in UTF-16), text (String). A line with CR gives a row for each refresh; so does one above CHUNK.

    Raises OSError.
    """
    line, offset, wide = 1, 0, _is_utf16(path)
    for data in _whole_lines(_utf8(path, wide)):
        yield _rows(data, line, None if wide else offset)
        line += data.count(b"\n")
        offset += len(data)


def head(data: bytes) -> str:
    """The first bytes of a file as text, cleaned."""
    text = data.decode("utf-16", "replace") if data[:2] in UTF16 else "\n".join(_decoded(data))
    return str(pl.select(_clean(pl.lit(text))).item())


def described(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with prefix (String, "" where none), body (text after it), rank, node and time of each."""
    rows = rows.with_columns(prefix=pl.col("text").str.extract(rf"^({PREFIX}+)").fill_null(""))
    prefix, body = pl.col("prefix"), pl.col("text").str.slice(pl.col("prefix").str.len_chars())
    no_node = prefix.str.contains(_NO_NODE) | (prefix.str.contains(rf"^{_NODE}$") & body.str.contains(_VALUE))
    rows = rows.with_columns(prefix=pl.when(no_node).then(pl.lit("")).otherwise(prefix))
    return rows.with_columns(
        body=body,
        rank=pl.coalesce(
            prefix.str.extract(r"\[(?:rank:? ?|default)(\d+)\]"), prefix.str.extract(r"(?:^| )(\d+): ")
        ).cast(pl.Int64, strict=False),
        node=pl.coalesce(prefix.str.extract(r"ip=([\d.]+)"), prefix.str.extract(rf"({_NODE[:-2]}): ")),
        time=_time(pl.col("text").str.slice(0, _STAMP_WITHIN)),
    )


def _time(text: pl.Expr) -> pl.Expr:
    """The date and time in a line's head, as written (logs rarely name a zone: taken as UTC)."""
    iso, us = text.str.extract_groups(_STAMP), text.str.extract_groups(_US_STAMP)

    def stamp(groups: pl.Expr, year: str, month: str, day: str) -> pl.Expr:
        part = groups.struct.field
        date = pl.concat_str([part(year), part(month), part(day)], separator="-")
        fraction = part("5").fill_null("0").str.pad_end(6, "0")
        return pl.concat_str([date, pl.lit(" "), part("4"), pl.lit("."), fraction])

    written = pl.coalesce(stamp(iso, "1", "2", "3"), stamp(us, "3", "1", "2"))
    return written.str.to_datetime("%Y-%m-%d %H:%M:%S%.6f", strict=False, time_unit="us").cast(Time)


def _is_utf16(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) in UTF16


def _utf8(path: Path, wide: bool) -> Iterator[bytes]:
    if wide:
        with path.open(encoding="utf-16", errors="replace", newline="") as text:
            while part := text.read(CHUNK):
                yield part.encode("utf-8", "replace")
        return
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            yield block


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks that end with a line; within a line above CHUNK with a refresh (CR), or where there is none anywhere."""
    rest = b""
    for block in blocks:
        data = rest + block
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) >= CHUNK:
            cut = data.rfind(b"\r") + 1 or len(data)
        if cut:
            yield data[:cut]
        rest = data[cut:]
    if rest:
        yield rest


def _rows(data: bytes, line: int, offset: int | None) -> pl.DataFrame:
    texts = _decoded(data)
    if data.endswith(b"\n"):
        texts.pop()
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    starts = np.concatenate([[0], ends])[: len(texts)] + (offset or 0)
    rows = pl.DataFrame(
        {
            "line": np.arange(line, line + len(texts)),
            "offset": starts if offset is not None else [None] * len(texts),
            "text": texts,
        },
        schema=ROWS,
    )
    if b"\x1b" in data or b"\x00" in data or b"\x08" in data or data.startswith(codecs.BOM_UTF8):
        rows = rows.with_columns(_clean(pl.col("text")))
    return _refreshes(rows) if b"\r" in data or b"\x08" in data else rows


def _refreshes(rows: pl.DataFrame) -> pl.DataFrame:
    """Every state a line was overwritten with, as a row of its own; empty ones are left out."""
    pieces = rows.with_columns(pl.col("text").str.strip_chars_end("\r").str.split("\r")).explode("text")
    return pieces.filter((pl.col("text") != "") | (pl.col("line").len().over("line") == 1))


def _decoded(data: bytes) -> list[str]:
    """The lines as UTF-8; a line that is not, as Latin-1."""
    try:
        return data.decode().split("\n")
    except UnicodeDecodeError:
        return [_line(part) for part in data.split(b"\n")]


def _line(part: bytes) -> str:
    try:
        return part.decode()
    except UnicodeDecodeError:
        return part.decode("latin-1")


def _clean(text: pl.Expr) -> pl.Expr:
    """Without terminal codes, NUL and byte order mark; backspaces are refreshes like CR."""
    bare = text.str.replace_all(ANSI, "").str.replace_all("[\x00\ufeff]", "")
    return bare.str.replace_all("\x08+", "\r")
