"""The lines of a log that a pattern or a traceback claims: found batch by batch, described many at once."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import SCHEMAS, Time, table
from loganalyst.patterntraits import having
from loganalyst.sources.text import failedtrials
from loganalyst.sources.text.lines import heads, owners, pods, warninglines
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import NONE, Grouping, Integers, Mask, Table
from loganalyst.sources.text.patterns import catalogue as patterns
from loganalyst.sources.text.patterns import handledfaults, unknownerrors
from loganalyst.sources.text.patterns.catalogue import PARTS, Pattern

MAX_LINE_CHARS = 2000  # characters of a line that are kept
# matches of one pattern kept at either end of a session in a batch; how many are left out is reported
MAX_MATCHES_PER_END = 100
MIN_WAITING_LINES = 1000  # lines that wait to be described, about
MAX_WAITING_BYTES = 1 << 20  # bytes of them

_START, _ADVICE, _SYMPTOM = (PARTS.index(part) for part in ("start", "advice", "symptom"))
_FAULTS = [PARTS.index(part) for part in ("aside", "root", "stop", "peer", "cascade", "confirm")]
_CATCHABLE = [PARTS.index(part) for part in ("aside", "root", "peer")]
_FOLLOW_FROM_OTHERS = [PARTS.index("peer"), PARTS.index("cascade")]


@dataclass(frozen=True)
class Hits(Table):
    """Claimed lines, in file order: row in the batch; number of the line; places of its pattern in the catalogue and of
    its part in PARTS; captures (JSON); number of the chain of tracebacks whose exception it is (NONE: of none).
    """

    row: Integers
    line: Integers
    pattern: Integers
    part: Integers
    captures: NDArray[np.object_]
    chain: Integers

    def with_parts(self, *parts: str) -> Mask:
        """Which lines have one of these parts."""
        return np.isin(self.part, [place for place, part in enumerate(PARTS) if part in parts])

    def thinned(self, session: Integers) -> tuple["Hits", "Hits"]:
        """At most MAX_MATCHES_PER_END lines of a pattern from either end of a session, and the lines left out;
        `session` has the session of each.
        """
        if len(self) <= 2 * MAX_MATCHES_PER_END:
            return self, self[:0]
        groups = Grouping.by(session, self.pattern)
        place = np.arange(len(self)) - groups.spread(groups.starts, np.int64)
        kept = groups.rows(
            (place < MAX_MATCHES_PER_END) | (place >= groups.spread(groups.sizes, np.int64) - MAX_MATCHES_PER_END)
        )
        return self[kept], self[~kept]


class Catalogue:
    """The patterns and their properties, by place."""

    def __init__(self, known: Sequence[Pattern]) -> None:
        self.known = known
        self.ids = [pattern.id for pattern in known]
        self.labels = [pattern.label for pattern in known]
        self.generic = np.array([pattern.generic for pattern in known], bool)
        self.part = np.array([PARTS.index(pattern.part) for pattern in known], np.int64)
        vague = [p.generic and p.label in ("code_exception", "other") for p in known]
        self.vague = np.flatnonzero(vague)  # the words of such a line may say more
        self.of_job = np.array(["(?P<job" in pattern.regex for pattern in known], bool)
        self.place = {pattern.id: place for place, pattern in enumerate(known)}
        words: dict[str, Sequence[str | None]] = {"pattern": self.ids, "label": self.labels, "part": PARTS}
        self.words = {column: pl.Series(values, dtype=pl.String) for column, values in words.items()}

    def claimed(
        self, chunk: Chunk, rows: Integers, literals: Integers, ends: pl.DataFrame
    ) -> tuple[Hits, pl.DataFrame]:
        """The claimed rows of a batch, and all candidate rows as text.

        `literals` were found in `rows`. `ends` are tracebacks (row of the exception, exception, message, frame, rank,
        node, harmless, ignored, printer, outer, late, tried_again, chain), one a row, in order.
        """
        asked = np.union1d(rows, ends["row"].to_numpy()) if ends.height else np.unique(rows)
        if not len(asked):
            return self._hits(chunk, asked, asked, np.empty(0, object)), pl.DataFrame()
        text = chunk.rows(asked)
        found = self._claims(text["body"], np.searchsorted(asked, rows), literals)
        pattern = np.array([self.place[id_] for id_ in found["pattern"]], np.int64)
        captures = np.array(found["captures"].to_list(), object)
        hits = self._hits(chunk, asked[found["row"].to_numpy()], pattern, captures)
        hits = self._without_warnings(chunk, hits, text["body"].gather(found["row"]), ends)
        return (self._with_exceptions(chunk, hits, ends) if ends.height else hits), text

    def _claims(self, body: pl.Series, at: Integers, literals: Integers) -> pl.DataFrame:
        """As `patterns.claims`, for each line both as printed and without what precedes its message."""
        found = patterns.claims(body, at, literals, self.known)
        message = heads.without_head(heads.without_bars(body))
        other = ((message != body) & ~patterns.is_quoted_code(body)).to_numpy()[at]
        more = patterns.claims(message, at[other], literals[other], self.known) if other.any() else found[:0]
        if not more.height:
            return found
        both = pl.concat([found, more])
        order = both["pattern"].replace_strict(self.place, return_dtype=pl.Int64)
        return both.with_columns(order=order).sort("row", "order").unique("row", keep="first", maintain_order=True)

    @cached_property
    def _of_warnings(self) -> Mask:
        """The patterns, by place, whose own examples are warnings: their lines stay faults."""
        return self._with_examples(warninglines.warns)

    def _without_warnings(self, chunk: Chunk, hits: Hits, body: pl.Series, ends: pl.DataFrame) -> Hits:
        """The hits with the part `advice` for those faults that a warning only mentions, and for the line of source
        code below a warning of Python. The exceptions of tracebacks (`ends`) are no warnings.
        """
        faults = np.flatnonzero(np.isin(hits.part, _FAULTS) & ~np.isin(hits.row, ends["row"].to_numpy()))
        if not len(faults):
            return hits
        message = heads.without_bars(body.gather(faults))
        warned = warninglines.warns(message).to_numpy()
        warned = warned & ~self._of_warnings[hits.pattern[faults]] if warned.any() else warned
        below = np.flatnonzero(message.str.contains(r"^\s").to_numpy() & (hits.row[faults] > 0))
        if len(below):
            warned[below] |= warninglines.of_python(chunk.some(hits.row[faults[below]] - 1)).to_numpy()
        part = hits.part.copy()
        part[faults[warned | self._handled(chunk, hits[faults])]] = _ADVICE
        return replace(hits, part=part)

    def _handled(self, chunk: Chunk, faults: Hits) -> Mask:
        """Which faults outside tracebacks the program caught by its own words. The end of a process is none."""
        asked = np.flatnonzero(np.isin(faults.part, _CATCHABLE))
        told = np.zeros(len(faults), bool)
        told[asked] = handledfaults.told(chunk, faults.row[asked]) if len(asked) else False
        told = told & ~self._of_handled[faults.pattern] if told.any() else told
        told[asked] |= failedtrials.outlived(chunk)[faults.row[asked]] if len(asked) else False
        return told

    @cached_property
    def _of_handled(self) -> Mask:
        """The patterns, by place, whose own examples say so: their lines stay faults."""
        return self._with_examples(handledfaults.says_handled)

    def _with_examples(self, holds: Callable[[pl.Series], pl.Series]) -> Mask:
        """The patterns, by place, of which any example holds."""
        examples = pl.Series([line for pattern in self.known for line in pattern.match], dtype=pl.String)
        owner = np.repeat(np.arange(len(self.known)), [len(pattern.match) for pattern in self.known])
        return np.isin(np.arange(len(self.known)), owner[holds(examples).to_numpy()])

    def _hits(self, chunk: Chunk, row: Integers, pattern: Integers, captures: NDArray[np.object_]) -> Hits:
        return Hits(row, chunk.line[row], pattern, self.part[pattern], captures, np.full(len(row), NONE))

    def _with_exceptions(self, chunk: Chunk, hits: Hits, ends: pl.DataFrame) -> Hits:
        """The hits with the exceptions of tracebacks: those that no pattern claims are added, the others get what the
        traceback says.
        """
        block = _encoded(ends.with_columns(handled=pl.Series(_was_handled(chunk, ends)).replace(old=False, new=None)))
        rows, plain = ends["row"].to_numpy(), self.place[having("any_exception")[0]]
        alone = np.setdiff1d(rows, hits.row)
        more = self._hits(chunk, alone, np.full(len(alone), plain), np.full(len(alone), "{}", object))
        both = Hits.joined([hits, more])
        both = both[np.argsort(both.row, kind="stable")]
        at = np.searchsorted(both.row, rows)
        captures, chain, part = both.captures.copy(), both.chain.copy(), both.part.copy()
        pattern = both.pattern.copy()
        record = at[self.generic[pattern[at]] & (part[at] == _SYMPTOM)]  # only the level of its record is known
        pattern[record], part[record], captures[record] = plain, self.part[plain], "{}"
        by_pattern = ["{}" if n == plain else captured for n, captured in zip(pattern[at], captures[at], strict=True)]
        captures[at] = [
            more if captured == "{}" else f"{captured[:-1]},{more[1:]}"
            for captured, more in zip(by_pattern, block, strict=True)
        ]
        chain[at] = ends["chain"].to_numpy()
        idle = ends["harmless"].to_numpy() & (self.generic[pattern[at]] | np.isin(part[at], _FOLLOW_FROM_OTHERS))
        part[at[idle | ends["ignored"].to_numpy()]] = _ADVICE
        return replace(both, pattern=pattern, captures=captures, chain=chain, part=part)


def _was_handled(chunk: Chunk, ends: pl.DataFrame) -> Mask:
    """Which exceptions a program printed itself, and then said on the next line what it did instead."""
    asked = ends["printer"].is_in(["logger", "handler", "library"]).fill_null(value=False).to_numpy(writable=True)
    row = ends["row"].to_numpy()[asked]
    if len(row):
        asked[asked] = handledfaults.told(chunk, row)
    return asked


def _encoded(ends: pl.DataFrame) -> list[str]:
    """What each traceback says, as captures; with its printer and outermost frame where they are known, and with rank
    and node where the log says that another process raised it.
    """
    captures = ends.select(pl.struct("exception", "message", "frame").struct.json_encode()).to_series().to_list()
    names = ("rank", "node", "printer", "outer", "late", "tried_again", "handled")
    for i, values in enumerate(zip(*(ends[name] for name in names), strict=True)):
        known = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        if known:
            captures[i] = f"{captures[i][:-1]},{json.dumps(known, separators=(',', ':'))[1:]}"
    return captures


class Lines:
    """Claimed lines of the file `name` that wait until there are enough to describe. `rank` and `node` wrote the log;
    they apply where a line names none.
    """

    def __init__(self, name: str, rank: int | None, node: str | None, catalogue: Catalogue) -> None:
        self.name, self.rank, self.node, self.catalogue = name, rank, node, catalogue
        self.waiting: list[tuple[Hits, Integers, NDArray[np.datetime64]]] = []
        self.texts: list[pl.DataFrame] = []

    def add(self, hits: Hits, text: pl.DataFrame, session: Integers, time: NDArray[np.datetime64]) -> int:
        """Keep the hits of a batch, with the session and time of each; returns their number. `text` has their rows."""
        kept = np.flatnonzero(hits.part != _START)
        if len(kept):
            self.waiting.append((hits[kept], session[kept], time[kept]))
            self.texts.append(text[np.searchsorted(text["row"].to_numpy(), hits.row[kept])])
        return len(kept)

    def table(self, *, last: bool = False) -> pl.DataFrame:
        """The `lines` of those that wait; none while few wait and more may come."""
        enough = (
            sum(t.height for t in self.texts) >= MIN_WAITING_LINES
            or sum(t.estimated_size() for t in self.texts) > MAX_WAITING_BYTES
        )
        if not self.texts or not (last or enough):
            return table("lines")
        hits = Hits.joined([hits for hits, *_ in self.waiting])
        session, time = (np.concatenate([one[k] for one in self.waiting]) for k in (1, 2))
        texts = pl.concat(self.texts)
        self.waiting, self.texts = [], []
        return self._described(hits, texts, session, time)

    def _described(
        self, hits: Hits, texts: pl.DataFrame, session: Integers, time: NDArray[np.datetime64]
    ) -> pl.DataFrame:
        rank, node = owners.named(texts["body"])
        pod = pods.named(texts["text"])
        places = {"pattern": hits.pattern, "label": hits.pattern, "part": hits.part}
        described = {name: self.catalogue.words[name].gather(at) for name, at in places.items()}
        vague = np.flatnonzero(np.isin(hits.pattern, self.catalogue.vague))
        if len(vague):
            described |= _labelled_by_words(described, texts["body"], vague)
        return texts.with_columns_seq(captures=pl.Series(hits.captures.tolist(), dtype=pl.String)).select_seq(
            pl.Series("session", session), pl.lit(self.name).alias("file"), "line", "offset",
            pl.Series("time", time).cast(Time),
            rank=pl.coalesce(_captured("rank").cast(pl.Int64, strict=False), "rank", rank, pl.lit(self.rank)),
            node=pl.coalesce(_captured("node"), "node", node, pod, pl.lit(self.node)),
            **described,
            captures="captures",
            text=_shortened(pl.col("text")),
            block=pl.Series([None if chain == NONE else chain for chain in hits.chain.tolist()], dtype=pl.Int64),
        ).select_seq(SCHEMAS["lines"].names()).cast(SCHEMAS["lines"])  # fmt: skip


def _labelled_by_words(described: dict[str, pl.Series], body: pl.Series, rows: Integers) -> dict[str, pl.Series]:
    """Pattern and label of all lines; the `rows` get those of their family where their words belong to one."""
    family = unknownerrors.classify(body.gather(rows), np.zeros(len(rows), bool))
    known = np.flatnonzero(family["label"].is_not_null().to_numpy())
    return {name: described[name].scatter(rows[known], family[name].gather(known)) for name in ("pattern", "label")}


def _captured(name: str) -> pl.Expr:
    """The captured value of this name."""
    return pl.col("captures").str.json_path_match(f"$.{name}")


def _shortened(text: pl.Expr) -> pl.Expr:
    """The line cut to MAX_LINE_CHARS characters."""
    return pl.when(text.str.len_chars() <= MAX_LINE_CHARS).then(text).otherwise(text.str.head(MAX_LINE_CHARS))
