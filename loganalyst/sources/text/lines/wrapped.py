"""Logs whose lines are wrapped in JSON: by Docker, by agents that gather a cluster's logs, by journald.

An object a line, of which one key holds what was printed, others when and by whom (Docker's `json-file`, fluent's
`log`, Google's `textPayload`, CloudWatch's `message`, journald's `MESSAGE`). What was printed goes to a temporary file
(TMPDIR) and is read as any log is; lines are numbered as in the file itself.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl

from loganalyst.model import Tables
from loganalyst.opening import opened, temporary
from loganalyst.sources.text.lines.numberrecords import Integers

TEXTS = ("log", "message", "textPayload", "msg", "MESSAGE", "line", "event")
TIMES = ("time", "timestamp", "@timestamp", "asctime", "ts", "datetime", "date", "__REALTIME_TIMESTAMP", "created")
TRACES = ("exc_info", "exception", "stack_trace", "traceback", "stack_info")  # said beside the text
LEVELS = ("level", "levelname", "severity", "log_level", "lvl")
NUMBERS = {
    *TIMES, "ingestionTime", "pid", "process", "tid", "thread", "lineno", "line_number", "levelno", "level", "msecs",
    "relativeCreated", "severity", "v",
}  # fmt: skip  # any other number is a metric: then the keys tell, and not the text
LOOKED_AT = 50  # lines at the head of a file
WRAPPED = 0.9  # of them, at least
BLOCK = 8 << 20  # bytes read at once
LONGEST = 64 << 20  # bytes of a line that are kept
_MICROSECONDS = ((1e17, 1e-3), (1e14, 1.0), (1e11, 1e3), (0.0, 1e6))  # a time from so large a number on is in so many
_NUMBERED = ("line", "first_line", "last_line")


@dataclass(frozen=True)
class Keys:
    """Under which keys a log's objects hold what was printed, and when; whether line ends are held, too."""

    text: str
    time: str | None = None
    ends: bool = False


def keys(head: bytes, *, metrics: bool = False) -> Keys | None:
    """The keys of a log that begins with `head`; None where it is no such log. With `metrics`: of a program's logger
    that holds numbers beside what it says.
    """
    if not head.startswith(b"{"):
        return None
    lines = [line for line in head[: head.rfind(b"\n") + 1].split(b"\n", 2 * LOOKED_AT) if line.strip()][:LOOKED_AT]
    if len(lines) < 2:
        return None
    objects = [o for o in map(_object, lines) if o is not None]
    numbers = any(_is_metric(k, v) for o in objects for k, v in o.items())
    if numbers is not metrics or len(objects) < WRAPPED * len(lines):
        return None
    most = len(objects) // 2 + 1
    text = _first(objects, TEXTS, str, most)
    if text is None or (metrics and _first(objects, LEVELS, str | int, most) is None):
        return None
    ends = any(str(o.get(text, "")).endswith("\n") for o in objects)
    return Keys(text, _first(objects, TIMES, str | int | float, most), ends)


def _is_metric(key: str, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and key not in NUMBERS


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first(objects: list[dict[str, Any]], names: tuple[str, ...], kind: Any, fewest: int) -> str | None:
    """The first of the names under which so many objects hold a value of that kind."""
    return next((n for n in names if sum(isinstance(o.get(n), kind) for o in objects) >= fewest), None)


class Unwrapping:
    """Takes lines of a wrapped log one block after another."""

    def __init__(self, of: Keys) -> None:
        self._of = of
        self._row = 0
        self._goes_on = False  # the last line has no end yet
        self._lines: list[Integers] = []

    def take(self, block: list[str]) -> str:
        """What the lines hold, each under the time of its object."""
        held = self._held(block)
        said = held.select("row", "stamp", text=pl.col("text").str.strip_suffix("\n").str.split("\n"))
        ended = held["text"].str.ends_with("\n") if self._of.ends else pl.repeat(True, held.height, eager=True)
        goes_on = np.concatenate([[self._goes_on], ~ended.to_numpy()])
        said = said.with_columns(first=~pl.Series(goes_on[:-1])).explode("text")
        begins = (pl.col("first") | (pl.col("row") == pl.col("row").shift())).fill_null(value=True)
        said = said.with_columns(begins=begins)
        self._lines.append(said.filter("begins")["row"].to_numpy() + self._row + 1)
        self._row += len(block)
        self._goes_on = bool(goes_on[-1])
        pieces = pl.when("begins").then(pl.concat_str(pl.lit("\n"), "stamp", "text")).otherwise("text")
        return said.select(pieces).to_series().str.join("")[0] if said.height else ""

    def _held(self, block: list[str]) -> pl.DataFrame:
        """Row, text and stamp of each line; one that is no such object is its own text."""
        line = pl.Series("text", block, pl.String)
        text = pl.select(pl.coalesce(_at(line, self._of.text), line)).to_series()
        text = _with_trace(line, text)
        stamp = _stamp(_at(line, self._of.time)) if self._of.time else pl.repeat("", len(block), eager=True)
        return pl.DataFrame({"text": text, "stamp": stamp}).with_row_index("row").filter(line != "")

    def lines(self) -> Integers:
        """For each line that was taken out, the line that held it (both from 1)."""
        return np.concatenate([*self._lines, [max(self._row, 1)]]).astype(np.int64)


def _with_trace(line: pl.Series, text: pl.Series) -> pl.Series:
    """The texts, behind those whose object holds a traceback, too, that traceback."""
    some = line.str.contains_any([f'"{key}"' for key in TRACES]).arg_true()
    if not len(some):
        return text
    asked = line.gather(some)
    trace = pl.coalesce(pl.lit(_at(asked, key)).replace(["", "null"], None) for key in TRACES)
    both = pl.select(pl.concat_str([pl.lit(text.gather(some)), trace], separator="\n", ignore_nulls=True)).to_series()
    return text.scatter(some, both)


def _at(lines: pl.Series, key: str) -> pl.Series:
    return lines.str.json_path_match(f"$['{key}']")


def _stamp(time: pl.Series) -> pl.Series:
    """Times as they are said, seconds and parts of them since the epoch as dates; each with a space behind."""
    number = pl.lit(time.cast(pl.Float64, strict=False))
    unit = pl.coalesce(pl.when(number >= least).then(micro) for least, micro in _MICROSECONDS)
    date = (number * unit).cast(pl.Int64, strict=False).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    return pl.select((pl.coalesce(date, pl.lit(time)) + " ").fill_null("")).to_series()


class Unwrapped(NamedTuple):
    """A log without its wrapping, and the line of the file that holds each of its lines."""

    file: Path
    line: Integers

    def placed(self, tables: Tables) -> Tables:
        """The tables with lines of the file; where in its bytes they stand is not known."""
        frames = {name: self._placed(frame) for name, frame in vars(tables).items()}
        return Tables(**frames)

    def _placed(self, frame: pl.DataFrame) -> pl.DataFrame:
        numbered = [c for c in _NUMBERED if c in frame.columns]
        if not frame.height or not numbered:
            return frame
        of = pl.lit(pl.Series(self.line))
        known = [of.gather(pl.col(c).clip(1, len(self.line)) - 1).alias(c) for c in numbered]
        blank = [pl.lit(None, pl.Int64).alias("offset")] if "offset" in frame.columns else []
        return frame.with_columns(*known, *blank)


@contextmanager
def unwrapped(path: Path, of: Keys) -> Iterator[Unwrapped]:
    """The log at `path` without its wrapping, below folders of the same names. Raises OSError."""
    with temporary() as folder:
        inner = Path(folder, *path.absolute().parts[1:][-3:])
        inner.parent.mkdir(parents=True, exist_ok=True)
        work = Unwrapping(of)
        with opened(path) as packed, inner.open("w", encoding="utf-8", newline="") as out:
            for text in map(work.take, _blocks(packed)):
                out.write(text if out.tell() else text.removeprefix("\n"))
            out.write("\n")
        yield Unwrapped(inner, work.lines())


def plain(head: bytes, of: Keys) -> bytes:
    """What the lines of `head` hold."""
    lines = head[: head.rfind(b"\n")].decode("utf-8", "replace").split("\n")
    return Unwrapping(of).take(lines).removeprefix("\n").encode()


def _blocks(packed: IO[bytes]) -> Iterator[list[str]]:
    """Whole lines, without what is longer than LONGEST of one."""
    rest = b""
    while data := packed.read(BLOCK):
        cut = data.rfind(b"\n")
        if cut < 0:
            rest = (rest + data)[:LONGEST]
            continue
        yield (rest + data[:cut]).decode("utf-8", "replace").split("\n")
        rest = data[cut + 1 :]
    if rest:
        yield rest.decode("utf-8", "replace").split("\n")
