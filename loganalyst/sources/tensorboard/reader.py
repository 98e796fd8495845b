"""TensorBoard event files (`*tfevents*`): scalars, histograms, text and hparams, in every encoding that writers use.

Most events contain one scalar, and differ from the last event of the same tag only in wall time, step and value. So the
reader extracts these three from all events of a block at once, and looks up the remaining bytes among the templates it
has learned. Only an event without a template is decoded message by message.
"""

import struct
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import SCHEMAS, Tables, constant, table
from loganalyst.opening import opened
from loganalyst.sources.files import histograms
from loganalyst.sources.files.flatten import Leaf, config_table
from loganalyst.sources.files.gaps import Gap, gap_table
from loganalyst.sources.files.protobuf import BYTES, FIXED64, VARINT, fields, single
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.files.timestamps import from_seconds
from loganalyst.sources.tensorboard import eventmessages, smallfiles
from loganalyst.sources.tensorboard.repeatedturns import PIECE, Period, Records, find
from loganalyst.sources.tensorboard.settingstext import settings_in
from loganalyst.sources.tensorboard.shortrecords import FRAME
from loganalyst.sources.tensorboard.smallfiles import MAX_SMALL
from loganalyst.sources.tensorboard.templates import WALL_TIME, Prefix, Templates, prefix
from loganalyst.sources.tensorboard.tfrecords import CHUNK, HEADER, MAX_RECORD, Block, Mask, payload_length, scan

NAME = "tensorboard"
LEARN = 4  # events decoded one by one before templates are tried again; each time 4 times as many
SCALAR_PLUGINS, HISTOGRAM_PLUGINS = ("", "scalars"), ("", "histograms")
# plugins whose tensors are not reported as unread: they hold no data of the run
SILENT = ("hparams", "custom_scalars", "graph_keras_model", "graph_run_metadata", "graph_run_metadata_graph")
TEXT_SUFFIX = "/text_summary"  # torch adds this to the user's tag


def sniff(path: Path, head: bytes) -> float:
    """1 for an intact event record at the start; 0.9 for an event file's name, as the file may be damaged."""
    length = payload_length(head[: HEADER.size])
    if length is not None and head[HEADER.size : HEADER.size + 1] == bytes([WALL_TIME]):
        return 1.0 if "tfevents" in path.name or b"brain.Event:" in head[: HEADER.size + length] else 0.5
    return 0.9 if "tfevents" in path.name else 0.0


def read(path: Path, **limits: int) -> Iterator[Tables]:
    """The file's tables, block by block; the last batch holds the session. Raises OSError."""
    yield from resume(path, None, **limits)


def resume(
    path: Path,
    mark: Mark | None,
    *,
    chunk: int = CHUNK,
    piece: int = PIECE,
    max_record: int = MAX_RECORD,
    max_small: int = MAX_SMALL,
) -> Generator[Tables, None, Mark]:
    """The tables of the records behind `mark` (None: all), and the mark from which to resume.

    Limits in bytes: `chunk` is read and `piece` compared at a time, longer records than `max_record` are skipped, and
    files up to `max_small` take the path for small files.
    """
    if mark is None and (found := smallfiles.read(path, max_small)):
        yield found.tables(path.name)
        kept = {"points": len(found.steps), "distributions": 0, "config": 0, "gaps": 0}
        state = {"plugins": dict.fromkeys(found.tags, found.plugin), "walls": found.walls, "skipped": {}}
        return Mark(found.size, kept, state)
    decoder = _Decoder(path.name, mark, piece)
    with opened(path) as file:
        records = scan(file, decoder, mark.offset if mark else 0, chunk=chunk, max_record=max_record)
        while True:
            try:
                gaps = next(records)
            except StopIteration as done:
                offset: int = done.value
                break
            yield decoder.batch(gaps)
    yield decoder.ending(path.stat().st_size)
    return decoder.mark(offset)


Columns = tuple[NDArray[Any], ...]  # tag code, step, wall time and value of scalars


class _Rows(msgspec.Struct):
    """The contents of events since the last batch; `scalars` are (event of the block, tag code, step, time, value)."""

    columns: list[Columns] = msgspec.field(default_factory=list)
    scalars: list[tuple[int, int, int, float, float]] = msgspec.field(default_factory=list)
    distributions: list[dict[str, object]] = msgspec.field(default_factory=list)
    settings: list[tuple[str, Leaf]] = msgspec.field(default_factory=list)
    gaps: list[Gap] = msgspec.field(default_factory=list)


class _Decoder:
    """The state of reading a file: tags, their plugins, templates, and everything that a mark saves."""

    def __init__(self, name: str, mark: Mark | None, piece: int) -> None:
        state = mark.state if mark else {}
        self.name, self.piece = name, piece
        self.codes: dict[str, int] = {}
        self.templates = Templates()
        self.period: Period | None = None
        self.rows = _Rows()
        self.constants: dict[str, pl.Series] = {}
        self.named: tuple[NDArray[np.int64] | None, pl.Series] = None, pl.Series(dtype=pl.String)
        self.plugins: dict[str, str] = dict(state.get("plugins", {}))  # only a tag's first event must name it
        self.walls: list[float] = state.get("walls", [])  # of the first and last event
        self.skipped: dict[str, tuple[int, str]] = {k: tuple(v) for k, v in state.get("skipped", {}).items()}
        self.kept: dict[str, int] = dict(mark.kept) if mark else {"points": 0, "distributions": 0, "config": 0}
        self.lost: list[Gap] = []

    @property
    def stride(self) -> int:
        return self.period.size if self.period else 0

    def leap(self, raw: NDArray[np.uint8], at: int, size: int) -> int:
        """Take the turns of the training loop that repeat the last one."""
        turns = self.period.take(raw, at, size) if self.period else None
        if turns is None:
            return at
        self.rows.columns.append(turns[:4])
        self._span(turns.walls)
        return at + turns.size

    def take(self, block: Block) -> Mask:
        """Decode the records of a block whose checksums are right. Returns which they are."""
        known = prefix(block.raw, block.starts, block.ends)
        intact = np.zeros(len(block.starts), np.bool_)
        place, code = np.full(len(intact), -1), np.full(len(intact), -1)
        parts: list[Columns] = []
        left, few = np.arange(len(intact)), LEARN
        while len(left):
            found = self.templates.match(block.raw, block.starts[left], block.ends[left], known.subset(left))
            intact[left] = found.matched
            event = left[found.events]
            place[event], code[event] = found.places, found.codes
            place[np.bincount(event, minlength=len(place)) > 1] = -1  # turns have one value per event
            parts.append((event, found.codes, known.steps[event], known.walls[event], found.values))
            left = left[~found.matched]
            some, left = left[:few], left[few:]  # a few events teach the templates for the others
            few *= 4
            intact[some] = good = block.intact(some)
            for i in some[good].tolist():
                self._event(block, i, known)
        self._keep(parts)
        self._span(known.walls[intact])
        self.period = find(block.data, Records(block.starts, block.ends, known.sizes, place, code), self.piece)
        return intact

    def _keep(self, parts: list[Columns]) -> None:
        """Put scalars matched in parallel, and scalars decoded one by one, into file order."""
        if self.rows.scalars:
            parts.append(tuple(np.array(column) for column in zip(*self.rows.scalars, strict=True)))
            self.rows.scalars = []
        parts = [part for part in parts if len(part[0])]
        if not parts:
            return
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            columns = parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts, strict=True)]
        if (columns[0][1:] < columns[0][:-1]).any():
            order = np.argsort(columns[0], kind="stable")
            columns = [column[order] for column in columns]
        self.rows.columns.append(tuple(columns[1:]))

    def _span(self, walls: NDArray[np.float64]) -> None:
        walls = walls[walls > 0]
        if len(walls):
            self.walls = [*(self.walls or [float(walls[0])])[:1], float(walls[-1])]

    def _event(self, block: Block, i: int, known: Prefix) -> None:
        """Decode one event, and learn its template if it has one."""
        start, end = int(block.starts[i]), int(block.ends[i])
        data, found, places = bytes(block.data[start:end]), _Rows(), list[int | None]()
        try:
            event = eventmessages.event(data, 0, len(data))
            for value in event.values:
                places.append(self._value(data, value, (i, event.step, event.wall), found))
        except (ValueError, IndexError, struct.error, RecursionError) as error:
            offset = block.base + start - HEADER.size
            self.rows.gaps.append(Gap(offset, end - start + FRAME, f"not an event ({error})"))
            return
        known.walls[i] = event.wall
        body = int(known.bodies[i]) - start
        whole = [place for place in places if place is not None]
        if whole and len(whole) == len(places) and known.plain[i] and _is_standard(data, body):
            codes = [self.codes[value.tag] for value in event.values]
            self.templates.learn(data[body:], [place - body for place in whole], codes)
        self.rows.scalars += found.scalars
        self.rows.distributions += found.distributions
        self.rows.settings += found.settings

    def batch(self, gaps: list[Gap]) -> Tables:
        """The tables of the records taken since the last batch, with the gaps in the framing."""
        rows, self.rows = self.rows, _Rows()
        tables = Tables(
            points=self._points(rows),
            distributions=histograms.frame(rows.distributions, self.name),
            config=config_table(rows.settings, self.name),
            gaps=gap_table([*gaps, *rows.gaps], self.name),
        )
        self.lost += [*gaps, *rows.gaps]
        for name in ("points", "distributions", "config"):
            self.kept[name] += getattr(tables, name).height
        return tables

    def ending(self, size: int) -> Tables:
        """The session's row, and gaps for what was not read or for a file without events."""
        unread = [
            Gap(0, 0, f"{n} of plugin {plugin!r} not read, the first under {tag!r}")
            for plugin, (n, tag) in self.skipped.items()
        ]
        if not self.walls:
            why = "no event is intact" if size else "empty event file"
            return Tables(gaps=gap_table([*unread, Gap(0, size, why)], self.name))
        times = from_seconds(self.walls)
        row = {"session": [0], "source": self.name, "started": times[:1], "ended": times[1:]}
        return Tables(sessions=table("sessions", row), gaps=gap_table(unread, self.name))

    def mark(self, offset: int) -> Mark:
        """The mark for resuming at `offset`."""
        gaps = self.kept.get("gaps", 0) + sum(gap.offset < offset for gap in self.lost)
        state = {"plugins": self.plugins, "walls": self.walls, "skipped": self.skipped}
        return Mark(offset, {**self.kept, "gaps": gaps}, state)

    def _value(self, data: bytes, value: eventmessages.Value, place: tuple[int, int, float], rows: _Rows) -> int | None:
        """Add the contents of a value. Returns the offset of its four bytes if it is a float32 scalar."""
        tag, (i, step, wall) = value.tag, place
        plugin = value.plugin or self.plugins.get(tag, "")
        self.plugins[tag] = plugin
        if plugin == "hparams":
            rows.settings += eventmessages.hparams(value.content)
        if value.simple is not None:
            rows.scalars.append((i, self._code(tag), step, wall, single(data, value.simple)))
            return value.simple
        if value.histogram:
            moments, left, right, counts = eventmessages.histogram(data, *value.histogram)
            described = histograms.describe(left, right, counts, moments)
            rows.distributions.append({"metric": tag, "step": step, "time": wall, **described})
        if value.media:
            self._skip(value.media, tag)
        if value.tensor:
            return self._tensor(eventmessages.tensor(data, *value.tensor), tag, plugin, place, rows)
        return None

    def _tensor(
        self, tensor: eventmessages.Tensor, tag: str, plugin: str, place: tuple[int, int, float], rows: _Rows
    ) -> int | None:
        i, step, wall = place
        if plugin == "text":
            text = "\n".join(s.decode(errors="replace") for s in tensor.strings)
            rows.settings += settings_in(tag.removesuffix(TEXT_SUFFIX), text)
        elif plugin in SCALAR_PLUGINS and len(tensor.numbers) == 1:
            rows.scalars.append((i, self._code(tag), step, wall, float(tensor.numbers[0])))
            return tensor.lone
        elif plugin in HISTOGRAM_PLUGINS and len(tensor.shape) == 2 and tensor.shape[1] == 3:
            described = histograms.describe(*tensor.numbers.reshape(-1, 3).T)
            rows.distributions.append({"metric": tag, "step": step, "time": wall, **described})
        elif plugin not in SILENT:
            self._skip(plugin or "tensors", tag)
        return None

    def _skip(self, plugin: str, tag: str) -> None:
        """Count a value that is not read; `ending` reports it."""
        count, first = self.skipped.get(plugin, (0, tag))
        self.skipped[plugin] = (count + 1, first)

    def _code(self, tag: str) -> int:
        return self.codes.setdefault(tag, len(self.codes))

    def _points(self, rows: _Rows) -> pl.DataFrame:
        """The scalars in file order."""
        if not rows.columns:
            return table("points")
        parts = rows.columns
        with np.errstate(invalid="ignore"):
            codes, steps, walls, values = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        n = len(codes)
        frame: dict[str, Any] = {
            "session": self._constant("session", 0, n),
            "metric": self._metrics(codes),
            "step": steps,
            "epoch": self._constant("epoch", None, n),
            "time": from_seconds(walls),
            "value": pl.Series(values).cast(pl.Float64),
            "source": self._constant("source", self.name, n),
            "line": self._constant("line", None, n),
        }
        return pl.DataFrame([pl.Series(name, column) for name, column in frame.items()])

    def _metrics(self, codes: NDArray[np.int64]) -> pl.Series:
        """The names of tags. Batches with the same array of codes share memory."""
        if codes is not self.named[0]:
            names = pl.Series(list(self.codes), dtype=pl.String)
            self.named = codes, names[codes.astype(np.uint32)]
        return self.named[1]

    def _constant(self, name: str, value: object, rows: int) -> pl.Series:
        """A column with the same value in all rows. It is made once, and batches share its memory."""
        if name not in self.constants or len(self.constants[name]) < rows:
            self.constants[name] = constant(value, rows, SCHEMAS["points"][name])
        return self.constants[name].head(rows)


def _is_standard(data: bytes, body: int) -> bool:
    """Whether an event is wall time, an optional step, and one summary, in this order and nothing else."""
    layout = [(number, wire) for number, wire, *_ in fields(data)]
    allowed = [
        (eventmessages.EVENT_WALL_TIME, FIXED64),
        (eventmessages.EVENT_STEP, VARINT),
        (eventmessages.EVENT_SUMMARY, BYTES),
    ]
    return layout in (allowed, [allowed[0], allowed[2]]) and body < len(data)
