"""Logs whose lines are wrapped in JSON: by Docker, by collectors of a cluster's logs, by journald.

Each line is an object: one key holds what was printed, others when and by whom (Docker's `json-file`, fluent's `log`,
Google's `textPayload`, CloudWatch's `message`, journald's `MESSAGE`). The printed text goes to a temporary file
(TMPDIR) and is read like any log; lines are numbered as in the file itself.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from loganalyst.model import Tables
from loganalyst.opening import opened, temporary
from loganalyst.sources.text.lines import objectwords
from loganalyst.sources.text.lines.numberrecords import Integers

TEXT_KEYS = ("log", "message", "textPayload", "msg", "MESSAGE", "line", "event")
TIME_KEYS = ("time", "timestamp", "@timestamp", "asctime", "ts", "datetime", "date", "__REALTIME_TIMESTAMP", "created")
# keys of tracebacks
TRACE_KEYS = ("exc_info", "exception", "stack_trace", "traceback", "stack_info")
# Numbers that are no metrics. Any other number is one; then the keys are read instead of the text.
NOT_METRICS = {
    *TIME_KEYS, "ingestionTime", "pid", "process", "tid", "thread", "lineno", "line_number", "levelno", "level",
    "msecs", "relativeCreated", "severity", "v",
}  # fmt: skip
HEAD_LINES = 50  # lines at the head of a file that are examined
MIN_WRAPPED_SHARE = 0.9  # the smallest share of them that must be objects
BLOCK_BYTES = 8 << 20  # bytes read at once
MAX_LINE_BYTES = 64 << 20  # bytes of a line that are kept
# the smallest number of each unit (ns, µs, ms, s) and its µs
_MICROSECONDS = ((1e17, 1e-3), (1e14, 1.0), (1e11, 1e3), (0.0, 1e6))
_NUMBERED = ("line", "first_line", "last_line")


class Keys(msgspec.Struct, frozen=True):
    """The keys under which a log's objects hold the printed text and its time; `ends`: the text includes line ends."""

    text: str
    time: str | None = None
    ends: bool = False


def keys(head: bytes, *, metrics: bool = False) -> Keys | None:
    """The keys of a log that begins with `head`; None where it is not wrapped. With `metrics`: of a program's logger
    that writes numbers under their own keys.
    """
    if not head.startswith(b"{"):
        return None
    lines = [line for line in head[: head.rfind(b"\n") + 1].split(b"\n", 2 * HEAD_LINES) if line.strip()][:HEAD_LINES]
    if len(lines) < 2:
        return None
    objects = [o for o in map(_object, lines) if o is not None]
    numbers = any(_is_metric(k, v) for o in objects for k, v in o.items())
    if numbers is not metrics or len(objects) < MIN_WRAPPED_SHARE * len(lines):
        return None
    majority = len(objects) // 2 + 1
    text = _first_key(objects, TEXT_KEYS, str, majority)
    if text is None or (metrics and _first_key(objects, objectwords.LEVEL_KEYS, str | int, majority) is None):
        return None
    ends = any(str(o.get(text, "")).endswith("\n") for o in objects)
    return Keys(text, _first_key(objects, TIME_KEYS, str | int | float, majority), ends)


def _is_metric(key: str, value: object) -> bool:
    """Whether a number under this key is a metric."""
    return isinstance(value, int | float) and not isinstance(value, bool) and key not in NOT_METRICS


def _object(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, None where it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_key(objects: list[dict[str, Any]], names: tuple[str, ...], kind: Any, least: int) -> str | None:
    """The first name under which at least `least` objects hold a value of that kind."""
    return next((n for n in names if sum(isinstance(o.get(n), kind) for o in objects) >= least), None)


class Unwrapping:
    """Takes the lines of a wrapped log block by block."""

    def __init__(self, names: Keys) -> None:
        self._names = names
        self.row = 0  # lines taken
        self._goes_on = False  # the last line has no end yet
        self._lines: list[Integers] = []

    def take(self, block: list[str]) -> str:
        """The printed text of the lines, each under the time of its object."""
        held = self.held(block)
        printed = held.select("row", "stamp", text=pl.col("text").str.strip_suffix("\n").str.split("\n"))
        ended = held["text"].str.ends_with("\n") if self._names.ends else pl.repeat(True, held.height, eager=True)
        goes_on = np.concatenate([[self._goes_on], ~ended.to_numpy()])
        printed = printed.with_columns(first=~pl.Series(goes_on[:-1])).explode("text")
        begins = (pl.col("first") | (pl.col("row") == pl.col("row").shift())).fill_null(value=True)
        printed = printed.with_columns(begins=begins)
        self._lines.append(printed.filter("begins")["row"].to_numpy() + self.row + 1)
        self.row += len(block)
        self._goes_on = bool(goes_on[-1])
        pieces = pl.when("begins").then(pl.concat_str(pl.lit("\n"), "stamp", "text")).otherwise("text")
        return printed.select(pieces).to_series().str.join("")[0] if printed.height else ""

    def held(self, block: list[str]) -> pl.DataFrame:
        """Row, text and stamp of each line; a line that is no such object is its own text."""
        line = pl.Series("text", block, pl.String)
        text = pl.select(pl.coalesce(_at(line, self._names.text), line)).to_series()
        text = _with_words(line, text, self._names.text)
        text = with_trace(line, text)
        stamp = _stamp(_at(line, self._names.time)) if self._names.time else pl.repeat("", len(block), eager=True)
        return pl.DataFrame({"text": text, "stamp": stamp}).with_row_index("row").filter(line != "")

    def lines(self) -> Integers:
        """For each unwrapped line the line that held it (both from 1)."""
        return np.concatenate([*self._lines, [max(self.row, 1)]]).astype(np.int64)


def with_trace(line: pl.Series, text: pl.Series) -> pl.Series:
    """The texts; where the object also holds a traceback, that traceback follows."""
    some = line.str.contains_any([f'"{key}"' for key in TRACE_KEYS]).arg_true()
    if not len(some):
        return text
    asked = line.gather(some)
    trace = pl.coalesce(pl.lit(_at(asked, key)).replace(["", "null"], None) for key in TRACE_KEYS)
    both = pl.select(pl.concat_str([pl.lit(text.gather(some)), trace], separator="\n", ignore_nulls=True)).to_series()
    return text.scatter(some, both)


def _with_words(line: pl.Series, text: pl.Series, key: str) -> pl.Series:
    """The texts; where the object of a program's logger holds other words beside the text under `key`, all of them."""
    if key not in objectwords.EVENT_KEYS:
        return text
    some = (objectwords.has_more(line, key) & line.str.starts_with("{")).arg_true()
    return text.scatter(some, objectwords.words(line.gather(some))) if len(some) else text


def _at(lines: pl.Series, key: str) -> pl.Series:
    """The value under a key of each line's object."""
    return lines.str.json_path_match(f"$['{key}']")


def _stamp(time: pl.Series) -> pl.Series:
    """Times as printed, each followed by a space. Numbers (seconds since the epoch, or fractions of seconds) become
    dates.
    """
    number = pl.lit(time.cast(pl.Float64, strict=False))
    unit = pl.coalesce(pl.when(number >= least).then(micro) for least, micro in _MICROSECONDS)
    date = (number * unit).cast(pl.Int64, strict=False).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    return pl.select((pl.coalesce(date, pl.lit(time)) + " ").fill_null("")).to_series()


class Unwrapped(NamedTuple):
    """An unwrapped log, and for each of its lines the line of the file that held it."""

    file: Path
    line: Integers

    def placed(self, tables: Tables) -> Tables:
        """The tables with the lines of the original file; their byte offsets are not known."""
        frames = {name: self._placed(frame) for name, frame in vars(tables).items()}
        return Tables(**frames)

    def _placed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One table with the lines of the original file."""
        numbered = [c for c in _NUMBERED if c in frame.columns]
        if not frame.height or not numbered:
            return frame
        lines = pl.lit(pl.Series(self.line))
        known = [lines.gather(pl.col(c).clip(1, len(self.line)) - 1).alias(c) for c in numbered]
        blank = [pl.lit(None, pl.Int64).alias("offset")] if "offset" in frame.columns else []
        return frame.with_columns(*known, *blank)


@contextmanager
def unwrapped(path: Path, work: Unwrapping) -> Iterator[Unwrapped]:
    """The log at `path` as `work` prints it, below folders of the same names. Raises OSError."""
    with temporary() as folder:
        inner = Path(folder, *path.absolute().parts[1:][-3:])
        inner.parent.mkdir(parents=True, exist_ok=True)
        with opened(path) as packed, inner.open("w", encoding="utf-8", newline="") as out:
            for text in map(work.take, _blocks(packed)):
                out.write(text if out.tell() else text.removeprefix("\n"))
            out.write("\n")
        yield Unwrapped(inner, work.lines())


def plain(head: bytes, names: Keys) -> bytes:
    """The printed text of the lines of `head`."""
    lines = head[: head.rfind(b"\n")].decode("utf-8", "replace").split("\n")
    return Unwrapping(names).take(lines).removeprefix("\n").encode()


def _blocks(packed: IO[bytes]) -> Iterator[list[str]]:
    """Whole lines; a line above MAX_LINE_BYTES is cut there."""
    remaining = b""
    while data := packed.read(BLOCK_BYTES):
        cut = data.rfind(b"\n")
        if cut < 0:
            remaining = (remaining + data)[:MAX_LINE_BYTES]
            continue
        yield (remaining + data[:cut]).decode("utf-8", "replace").split("\n")
        remaining = data[cut + 1 :]
    if remaining:
        yield remaining.decode("utf-8", "replace").split("\n")
