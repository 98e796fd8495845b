"""Decodes the records of an event file, and learns templates on the way."""

import struct

import msgspec
import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Tables, table
from loganalyst.sources.files import histograms
from loganalyst.sources.files.flatten import Leaf, config_table
from loganalyst.sources.files.gaps import Gap, gap_table
from loganalyst.sources.files.protobuf import BYTES, FIXED64, VARINT, fields, single
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.files.timestamps import from_seconds
from loganalyst.sources.tensorboard import eventmessages
from loganalyst.sources.tensorboard.pointframes import Columns, PointFrames
from loganalyst.sources.tensorboard.repeatedturns import Period, Records, find
from loganalyst.sources.tensorboard.settingstext import settings_in
from loganalyst.sources.tensorboard.shortrecords import FRAME
from loganalyst.sources.tensorboard.templates import Prefix, Templates, prefix
from loganalyst.sources.tensorboard.tfrecords import HEADER, Block, Mask

LEARN = 4  # events decoded one by one before templates are tried again; each time 4 times as many
SCALAR_PLUGINS, HISTOGRAM_PLUGINS = ("", "scalars"), ("", "histograms")
# plugins whose tensors are not reported as unread: they hold no data of the run
SILENT = ("hparams", "custom_scalars", "graph_keras_model", "graph_run_metadata", "graph_run_metadata_graph")
TEXT_SUFFIX = "/text_summary"  # torch adds this to the user's tag


class _Rows(msgspec.Struct):
    """The contents of events since the last batch; `scalars` are (event of the block, tag code, step, time, value)."""

    columns: list[Columns] = msgspec.field(default_factory=list)
    scalars: list[tuple[int, int, int, float, float]] = msgspec.field(default_factory=list)
    distributions: list[dict[str, object]] = msgspec.field(default_factory=list)
    settings: list[tuple[str, Leaf]] = msgspec.field(default_factory=list)
    gaps: list[Gap] = msgspec.field(default_factory=list)


class Decoder:
    """The state of reading a file: tags, their plugins, templates, and everything that a mark saves."""

    def __init__(self, name: str, mark: Mark | None, piece: int) -> None:
        state = mark.state if mark else {}
        self.name, self.piece = name, piece
        self.frames = PointFrames(name)
        self.templates = Templates()
        self.period: Period | None = None
        self.rows = _Rows()
        self.plugins: dict[str, str] = dict(state.get("plugins", {}))  # only a tag's first event must name it
        self.walls: list[float] = state.get("walls", [])  # of the first and last event
        self.skipped: dict[str, tuple[int, str]] = {k: tuple(v) for k, v in state.get("skipped", {}).items()}
        self.kept: dict[str, int] = dict(mark.kept) if mark else {"points": 0, "distributions": 0, "config": 0}
        self.lost: list[Gap] = []

    @property
    def stride(self) -> int:
        """The bytes of a turn of the training loop (0: not known)."""
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
            codes = [self.frames.codes[value.tag] for value in event.values]
            self.templates.learn(data[body:], [place - body for place in whole], codes)
        self.rows.scalars += found.scalars
        self.rows.distributions += found.distributions
        self.rows.settings += found.settings

    def batch(self, gaps: list[Gap]) -> Tables:
        """The tables of the records taken since the last batch, with the gaps in the framing."""
        rows, self.rows = self.rows, _Rows()
        tables = Tables(
            points=self.frames.points(rows.columns),
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
            rows.scalars.append((i, self.frames.code(tag), step, wall, single(data, value.simple)))
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
            rows.scalars.append((i, self.frames.code(tag), step, wall, float(tensor.numbers[0])))
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


def _is_standard(data: bytes, body: int) -> bool:
    """Whether an event is wall time, an optional step, and one summary, in this order and nothing else."""
    layout = [(number, wire) for number, wire, *_ in fields(data)]
    allowed = [
        (eventmessages.EVENT_WALL_TIME, FIXED64),
        (eventmessages.EVENT_STEP, VARINT),
        (eventmessages.EVENT_SUMMARY, BYTES),
    ]
    return layout in (allowed, [allowed[0], allowed[2]]) and body < len(data)
