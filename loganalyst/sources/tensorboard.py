"""TensorBoard event files (`*tfevents*`): scalars, histograms, text and hparams in every encoding writers use.

Most events hold one scalar and differ from the last of the same tag in wall time, step and value only. So the reader
takes those three out of all events of a block at once, and looks the bytes around the value up among the templates it
has learned; only an event that matches none is decoded message by message.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Tables, table
from loganalyst.sources import buckets, tfevent
from loganalyst.sources.flatten import Leaf, config_table
from loganalyst.sources.gaps import Gap, gap_table
from loganalyst.sources.protobuf import BYTES, FIXED64, VARINT, fields, single
from loganalyst.sources.tfrecord import FRAME, HEADER, Block, blocks, payload_length
from loganalyst.sources.timestamps import from_seconds

NAME = "tensorboard"
LONGEST_TEXT = 4096  # characters of a logged text that are kept
WALL_TIME, STEP = 0x09, 0x10  # first bytes of an event, and of the field behind its wall time
LEARN = 64  # events of a block that are decoded one by one before templates are tried again; then 4x as many
REST = 9  # offset of what follows the wall time
SCALAR_PLUGINS, HISTOGRAM_PLUGINS = ("", "scalars"), ("", "histograms")
TEXT_SUFFIX = "/text_summary"  # torch adds it to the tag its user gave


def sniff(path: Path, head: bytes) -> float:
    """1 for a proved event record at the start, 0.9 for an event file's name (it may be empty or damaged)."""
    length = payload_length(head[: HEADER.size])
    if length is not None and head[HEADER.size : HEADER.size + 1] == bytes([WALL_TIME]):
        return 1.0 if "tfevents" in path.name or b"brain.Event:" in head[: HEADER.size + length] else 0.5
    return 0.9 if "tfevents" in path.name else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The file's tables, block by block; the last batch holds the session. Raises OSError."""
    decoder = _Decoder(path.name)
    with path.open("rb") as file:
        for block in blocks(file):
            yield decoder.decode(block)
    yield decoder.ending(path.stat().st_size)


@dataclass
class _Rows:
    """What events decoded one by one hold; scalars are (event of the block, tag code, step, wall time, value)."""

    scalars: list[tuple[int, int, int, float, float]] = field(default_factory=list)
    distributions: list[dict[str, object]] = field(default_factory=list)
    settings: list[tuple[str, Leaf]] = field(default_factory=list)


class _Decoder:
    """What is known of a file from its earlier blocks: tags, their plugins, templates of events with one scalar."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes: dict[str, int] = {}
        self.plugins: dict[str, str] = {}  # only a tag's first event need name its plugin
        # length of what stands behind the value -> (bytes around the value -> tag code)
        self.templates: dict[int, dict[bytes, int]] = {0: {}}
        self.walls: list[float] = []  # of the first and last event

    def decode(self, block: Block) -> Tables:
        """The block's tables."""
        gaps = list(block.gaps)
        raw, starts, ends = np.frombuffer(block.data, np.uint8), block.starts, block.ends
        walls, steps, rest = _standard(raw, starts, ends)
        codes, tails, rows = np.full(len(rest), -1), np.zeros(len(rest), np.int64), _Rows()
        left, few = self._match(block, rest, (codes, tails), np.arange(len(rest))), LEARN
        while len(left):  # a few teach the templates that the others are matched by at once
            for i in left[:few].tolist():
                start, end, at = int(starts[i]), int(ends[i]), int(rest[i])
                tails[i], codes[i] = self._look_up(block.data, at, end)
                if codes[i] < 0:
                    try:
                        walls[i] = self._event(block.data, i, (start, end, at), rows)
                    except (ValueError, IndexError, struct.error, RecursionError) as error:
                        gaps.append(Gap(block.base + start - HEADER.size, end - start + FRAME, f"no event ({error})"))
            left, few = self._match(block, rest, (codes, tails), left[few:]), 4 * few
        known = walls[walls > 0]
        self.walls = [*self.walls[:1], *known[:1], *known[-1:]] if len(known) else self.walls
        hit = np.flatnonzero(codes >= 0)
        values = raw[(ends[hit] - tails[hit] - 4)[:, None] + np.arange(4)].view("<f4")[:, 0]
        with np.errstate(invalid="ignore"):  # a signalling NaN is one more NaN
            values = values.astype(np.float64)
        fast = (hit, codes[hit], steps[hit], walls[hit], values)
        return Tables(
            points=self._points(fast, rows.scalars),
            distributions=buckets.frame(rows.distributions, self.name),
            config=config_table(rows.settings, self.name),
            gaps=gap_table(gaps, self.name),
        )

    def ending(self, size: int) -> Tables:
        """The session's row; for a file without an event the gap that says so."""
        if not self.walls:
            why = "no event is intact" if size else "empty event file"
            return Tables(gaps=gap_table([Gap(0, size, why)], self.name))
        times = from_seconds([self.walls[0], self.walls[-1]])
        row = {"session": [0], "source": self.name, "started": times[:1], "ended": times[1:]}
        return Tables(sessions=table("sessions", row))

    def _match(
        self,
        block: Block,
        rest: NDArray[np.int64],
        found: tuple[NDArray[np.int64], NDArray[np.int64]],
        left: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Enter into `found` (tag code, length of what stands behind the value) the events of `left` that a template
        fits; returns the others.
        """
        data, (codes, tails) = block.data, found
        for tail, known in self.templates.items():
            if not (known and len(left)):
                continue
            begin, end = rest[left].tolist(), block.ends[left].tolist()
            get = known.get
            if tail:
                hits = [get(data[a : b - tail - 4] + data[b - tail : b], -1) for a, b in zip(begin, end, strict=True)]
            else:
                hits = [get(data[a : b - 4], -1) for a, b in zip(begin, end, strict=True)]
            codes[left], tails[left] = hits, tail
            left = left[codes[left] < 0]
        return left

    def _look_up(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        """(tail, code) of one event by the templates known by now."""
        for tail, known in self.templates.items():
            code = known.get(data[at : end - tail - 4] + data[end - tail : end], -1)
            if code >= 0:
                return tail, code
        return 0, -1

    def _event(self, data: bytes, i: int, place: tuple[int, int, int], rows: _Rows) -> float:
        """Decode event `i` of the block into `rows`, learn its template if it has one; returns its wall time."""
        start, end, at = place
        event = tfevent.event(data, start, end)
        found = _Rows()
        for value in event.values:
            where = self._value(data, value, (i, event.step, event.wall), found)
            if where is not None and len(event.values) == 1 and _is_standard(data, start, end, at):
                tail = end - where - 4
                self.templates.setdefault(tail, {})[data[at:where] + data[where + 4 : end]] = self.codes[value.tag]
        rows.scalars += found.scalars
        rows.distributions += found.distributions
        rows.settings += found.settings
        return event.wall

    def _value(self, data: bytes, value: tfevent.Value, place: tuple[int, int, float], rows: _Rows) -> int | None:
        """Add what a value holds; where it is a float32 scalar, the offset of its four bytes."""
        tag, (i, step, wall) = value.tag, place
        plugin = value.plugin or self.plugins.get(tag, "")
        self.plugins[tag] = plugin
        if plugin == "hparams":
            rows.settings += tfevent.hparams(value.content)
        if value.simple is not None:
            rows.scalars.append((i, self._code(tag), step, wall, single(data, value.simple)))
            return value.simple
        if value.histogram:
            moments, left, right, counts = tfevent.histogram(data, *value.histogram)
            described = buckets.describe(left, right, counts, moments)
            rows.distributions.append({"metric": tag, "step": step, "time": wall, **described})
        if value.tensor:
            return self._tensor(tfevent.tensor(data, *value.tensor), tag, plugin, place, rows)
        return None

    def _tensor(
        self, tensor: tfevent.Tensor, tag: str, plugin: str, place: tuple[int, int, float], rows: _Rows
    ) -> int | None:
        i, step, wall = place
        if plugin == "text":
            text = "\n".join(s.decode(errors="replace") for s in tensor.strings)
            rows.settings.append((tag.removesuffix(TEXT_SUFFIX), text[:LONGEST_TEXT]))
        elif plugin in SCALAR_PLUGINS and len(tensor.numbers) == 1:
            rows.scalars.append((i, self._code(tag), step, wall, float(tensor.numbers[0])))
            return tensor.lone
        elif plugin in HISTOGRAM_PLUGINS and len(tensor.shape) == 2 and tensor.shape[1] == 3:
            described = buckets.describe(*tensor.numbers.reshape(-1, 3).T)
            rows.distributions.append({"metric": tag, "step": step, "time": wall, **described})
        return None

    def _code(self, tag: str) -> int:
        return self.codes.setdefault(tag, len(self.codes))

    def _points(
        self, fast: tuple[NDArray[np.generic], ...], slow: list[tuple[int, int, int, float, float]]
    ) -> pl.DataFrame:
        """Both kinds of rows (event, code, step, wall time, value) in the file's order."""
        columns = fast
        if slow:
            columns = tuple(
                np.concatenate([a, np.array(b, a.dtype)]) for a, b in zip(fast, zip(*slow, strict=True), strict=True)
            )
            order = np.argsort(columns[0], kind="stable")
            columns = tuple(c[order] for c in columns)
        _, codes, steps, walls, values = columns
        names = pl.Series(list(self.codes), dtype=pl.String)
        return table("points", {
            "session": np.zeros(len(codes), np.int32),
            "metric": names.gather(codes),
            "step": steps,
            "time": from_seconds(walls),
            "value": values,
            "source": self.name,
        })  # fmt: skip


def _standard(
    raw: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Wall time and step of events in the order all writers use, and the offset behind them (for others: the end)."""
    n = len(starts)
    walls, steps, rest = np.zeros(n), np.zeros(n, np.uint64), ends.copy()
    fit = np.flatnonzero(ends - starts > REST)
    fit = fit[raw[starts[fit]] == WALL_TIME]
    walls[fit] = raw[(starts[fit] + 1)[:, None] + np.arange(8)].view("<f8")[:, 0]
    at = starts[fit] + REST
    more = raw[at] == STEP
    at += more
    for shift in range(0, 70, 7):
        if not more.any():
            break
        byte = raw[np.minimum(at, len(raw) - 1)]
        steps[fit] |= np.where(more, (byte & 0x7F).astype(np.uint64) << np.uint64(shift), np.uint64(0))
        at += more
        more &= byte >= 0x80
    rest[fit] = np.where(more | (at > ends[fit]), ends[fit], at)
    return walls, steps.view(np.int64), rest


def _is_standard(data: bytes, start: int, end: int, rest: int) -> bool:
    """Whether an event is wall time, perhaps step, and one summary with one value, in this order and nothing else."""
    layout = [(number, wire) for number, wire, *_ in fields(data, start, end)]
    allowed = [(tfevent.EVENT_WALL_TIME, FIXED64), (tfevent.EVENT_STEP, VARINT), (tfevent.EVENT_SUMMARY, BYTES)]
    return layout in (allowed, [allowed[0], allowed[2]]) and rest < end
