"""Metrics printed in the lines of a job log, recognised from the lines themselves.

Every number of a line becomes a slot; the rest is the line's form (`lineforms`). Kinds of lines without results are
recognised once and then skipped; the numbers of the others are gathered column-wise.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.sources.text import failedtrials
from loganalyst.sources.text.lines.chunks import Chunk, chunk_of
from loganalyst.sources.text.lines.linekinds import Kinds, Look, Mask, Rows, kind_hashes
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics import barerows, headings, lineforms, printedforms, printedtables, quotedlines
from loganalyst.sources.text.metrics.lineforms import Form
from loganalyst.sources.text.metrics.linenumbers import PERCENTAGE_ROUNDED, Numbers
from loganalyst.sources.text.metrics.lineshapes import Shape
from loganalyst.sources.text.metrics.printedsteps import Steps

MAX_LINE_BYTES = 10_000  # bytes; longer lines are dumps
MIN_LINES_FOR_TEMPLATE = 16  # lines of one kind that are worth a regex of their own
MAX_FORMS = 8  # forms of one kind whose lines are parsed by a template; lines of more forms are cleaned one by one
COUNTS_STEPS = -1  # in place of a rank
# `tps`, `tflops`, `mfu`, `step_time`, `memory`: each rank has its own
_OWN = "tps|t?flops|mfu|mem(?:ory)?|(?:step_?)?time|speed|throughput"
_OF_RANK = re.compile(rf"(?i)(?:^|[^a-z])(?:{_OWN})(?:[^a-z]|$)")
_OF_RANK_IN_TEXT = rf"(?i)\b(?:{_OWN})[:=]? +[0-9.,]+"  # `tps: 10,050`
_MAX_RANKS = 16  # ranks that may print one line each, in order
_FLAGS = ("bar", "keras", "held_out", "header")
_POSITION_ROLES = ("step", "batch", "epoch")


def parse(lines: pl.DataFrame) -> pl.DataFrame:
    """The numbers that a training printed, in the `points` schema and in file order (`source` NULL).

    `lines` has line (Int64, from 1), text (String: decoded, without ANSI codes, CR refreshes as rows of their own that
    share a line number), session (Int32) and time (µs UTC or NULL). NaN and ±Inf are values. Lines without a position
    of their own take the last step seen, or a running index where the log has no steps. Never raises on any text.
    """
    steps = Steps()
    reader = Reader(Kinds(), steps.code)
    chunk = chunk_of("\n".join(lines["text"].to_list()).encode("utf-8", "replace"), lines["line"].to_numpy())
    session = lines["session"].to_numpy()
    if lines.height:
        found = reader.read(chunk, reader.kinds.look(chunk, kind_hashes(chunk.data)), session)
        steps.add(*found.placed(0, session, chunk.line, lines["time"].dt.replace_time_zone(None).to_numpy()))
    return pl.concat([table("points"), *steps.points()]).sort("session", "line", maintain_order=True)


_NO_LINES = pl.DataFrame(schema={"text": pl.String, "form": pl.String, "row": pl.Int64})


class _Taken(msgspec.Struct):
    """Lines of one form: their rows, and the numbers (float64) by slot."""

    form: Form
    rows: Rows
    slots: list[NDArray[np.float64]]


class Reader(msgspec.Struct):
    """Reads the numbers of batch after batch; `kinds` are those of the rows' `Look`, `code` numbers names of metrics.

    `often` are the forms known to be printed often. `rank` is the one of several ranks whose metrics are read
    (COUNTS_STEPS: prefixes that look like ranks are steps). Both pass from an earlier reading to the one that goes on.
    """

    kinds: Kinds
    code: Callable[[str], int]
    often: set[str] = msgspec.field(default_factory=set)
    rank: int | None = None
    forms: dict[str, Form] = msgspec.field(default_factory=dict)
    of_kind: list[list[Form]] = msgspec.field(default_factory=list)

    def read(self, chunk: Chunk, look: Look, session: NDArray[np.int64], quotes: Rows | None = None) -> Numbers:
        """The numbers of a batch that have a meaning; `session` is each row's. Tracebacks and examples begin only in
        the rows `quotes` (None: anywhere).
        """
        mine = ~quotedlines.quoted(chunk, look, np.arange(len(chunk)) if quotes is None else quotes)
        mine &= ~failedtrials.outlived(chunk)
        self._keep_one_rank(chunk, look, mine)
        self._learn(chunk)
        numeric = look.flags["numeric"] & mine
        rows = np.flatnonzero(self._may_mean()[look.kind] & numeric)
        rows = rows[chunk.starts[rows + 1] - chunk.starts[rows] <= MAX_LINE_BYTES]
        found = Numbers(self.code)
        if len(rows):
            marks = headings.marks(chunk, look.flags["heading"], look.flags["closes"], rows)
            taken, loose = self._parsed_lines(rows, self._bodies(chunk, rows, look), look.kind[rows], marks)
            counts = Counter(dict(loose.group_by("form").len().iter_rows()) if loose.height else {})
            for t in taken:
                counts[t.form.text] += len(t.rows)
            meant = [(t, shape) for t in taken if (shape := self._meaning(t.form, counts))]
            order = np.zeros(len(chunk), np.int64)
            if loose.height:
                meanings = self._meanings(loose["form"], counts)
                loose = loose.join(meanings.select("form", "placed").unique(), on="form", maintain_order="left")
                order[loose["row"].to_numpy()] = 1
            for t, _ in meant:
                order[t.rows] = 1
            order = np.cumsum(order)
            for t, shape in meant:
                left = ~_reprinted(t, shape, order, session)
                found.add(shape, *((t.rows, t.slots) if left.all() else (t.rows[left], [s[left] for s in t.slots])))
            if loose.height:
                found.add_long(_with_meanings(loose, meanings, order, session))
        self._tables(chunk, look, mine, session, found)
        found.count_answers()
        return found

    def _may_mean(self) -> Mask:
        """By kind, whether its numbers may have a meaning; the last element is for rows of no kind. For kinds met only
        once or twice that is decided when their numbers are read.
        """
        passing = set(self.kinds.passing.tolist())
        known = (k in passing or any(form.usual for form in forms) for k, forms in enumerate(self.of_kind))
        return np.array([*known, False])

    def _learn(self, chunk: Chunk) -> None:
        """Learn the forms of the new kinds."""
        if len(self.of_kind) > len(self.kinds) - len(self.kinds.fresh):
            self.of_kind, self.forms = [], {}
        rows = self.kinds.fresh
        if not len(rows):
            return
        at = rows.ravel()
        text = self._behind_prefix(chunk.some(at))
        dump = pl.Series(np.diff(chunk.starts)[at] > MAX_LINE_BYTES)
        text = text.set(dump, "")  # their numbers are not read, and cleaning them takes seconds
        forms = [self._representative(form) for form in lineforms.learn(text)]
        each = rows.shape[1]
        self.of_kind += [list(dict.fromkeys(forms[k : k + each])) for k in range(0, len(forms), each)]

    def _representative(self, form: Form) -> Form:
        """The form that represents all forms with the same text."""
        form.often = form.text in self.often
        return self.forms.setdefault(form.text, form)

    def _meaning(self, form: Form, counts: Counter[str]) -> Shape | None:
        """The meaning of a form; remembers whether it is printed often."""
        shape = form.meaning(counts[form.text])
        if form.often:
            self.often.add(form.text)
        return shape

    def _keep_one_rank(self, chunk: Chunk, look: Look, mine: Mask) -> None:
        """Restrict the rows that metrics are taken from (`mine`) to those of one rank."""
        prefixed = np.flatnonzero(look.flags["prefixed"])
        if len(prefixed):
            rank = chunk.rows(prefixed).select(
                "rank", "prefix", has_fraction=pl.col("body").str.contains(r"\d\.\d"), repeats=_OF_ANOTHER_NODE
            )
            mine[prefixed] &= ~rank["repeats"].to_numpy()
            if self.rank is None:
                speaking = rank.filter(pl.col("rank").is_not_null() & pl.col("has_fraction"))
                self.rank = COUNTS_STEPS if _are_steps(speaking) else next(iter(speaking["rank"]), None)
            if self.rank not in (None, COUNTS_STEPS):
                mine[prefixed] &= (rank["rank"].is_null() | (rank["rank"] == self.rank)).to_numpy()

    def _bodies(self, chunk: Chunk, rows: Rows, look: Look) -> tuple[Chunk, Rows]:
        """The text of the rows behind a prefix, and its place."""
        if not look.flags["prefixed"][rows].any():
            return chunk, rows
        text = self._behind_prefix(chunk.some(rows))
        return chunk_of("\n".join(text).encode(), rows), np.arange(len(rows))

    def _behind_prefix(self, text: pl.Series) -> pl.Series:
        return text if self.rank == COUNTS_STEPS else described(text)["body"]

    def _parsed_lines(
        self, rows: Rows, bodies: tuple[Chunk, Rows], kind: NDArray[np.int64], marks: pl.Series
    ) -> tuple[list[_Taken], pl.DataFrame]:
        """The lines parsed by templates, and the others cleaned: row, text, form. Their text is in `bodies`; `marks`
        stand before those under a heading.
        """
        held_out = (marks != "").to_numpy()
        taken: list[_Taken] = []
        loose: list[NDArray[np.int64]] = [np.flatnonzero(held_out)]
        order = np.argsort(kind, kind="stable")
        order = order[~held_out[order]]
        bounds = np.flatnonzero(np.diff(kind[order], prepend=-1, append=-1))
        for first, last in pairwise(bounds.tolist()):
            alike = order[first:last]
            few = len(alike) < MIN_LINES_FOR_TEMPLATE
            loose.append(alike if few else self._by_form(int(kind[alike[0]]), rows, bodies, alike, taken))
        at = np.sort(np.concatenate(loose))
        if not len(at):
            return taken, _NO_LINES
        chunk, place = bodies
        text = chunk.some(place[at])
        marked = marks.gather(at) + text.str.strip_chars_start() if held_out.any() else text
        clean = lineforms.cleaned(marked).with_columns(pl.Series("row", rows[at]), raw=text)
        return taken, clean.filter(~lineforms.is_noise(pl.col("raw"))).drop("raw")

    def _by_form(self, kind: int, rows: Rows, bodies: tuple[Chunk, Rows], at: Rows, taken: list[_Taken]) -> Rows:
        """Parse the lines of one kind; returns the positions of those that no template matches."""
        forms, tried = self.of_kind[kind], 0
        chunk, place = bodies
        while len(at):
            if tried == len(forms):
                (form,) = lineforms.learn(chunk.some(place[at[:1]]))
                if len(forms) >= MAX_FORMS or form.text in {f.text for f in forms}:
                    break
                forms.append(self._representative(form))
            form, tried = forms[tried], tried + 1
            if form.template is None:
                continue
            matched, slots = lineforms.take(form, chunk, place[at])
            if form.usual is not None and matched.any():
                taken.append(_Taken(form, rows[at[matched]], slots))
            at = at[~matched]
        return at

    def _meanings(self, forms: pl.Series, counts: Counter[str]) -> pl.DataFrame:
        """The meaning of the numbers of cleaned lines: form, its flags, and slot, role and name of each."""
        meant = []
        for form in self._forms(forms, counts):
            if shape := self._meaning(form, counts):
                flags = (getattr(shape, flag) for flag in _FLAGS)
                head = (form.text, *flags, any(s.role in _POSITION_ROLES for s in shape.slots))
                meant += [(*head, s.index, s.role, s.name, s.over, s.count) for s in shape.slots]
        types = {"form": pl.String, **dict.fromkeys((*_FLAGS, "placed"), pl.Boolean)}
        slot = {"slot": pl.Int64, "role": pl.String, "name": pl.String, "over": pl.Int64, "count": pl.Int64}
        return pl.DataFrame(meant, {**types, **slot}, orient="row")

    def _forms(self, text: pl.Series, counts: Counter[str]) -> list[Form]:
        """The forms of cleaned lines that may have a meaning."""
        forms = text.unique(maintain_order=True).rename("form").to_frame()
        forms = forms.with_columns(worth=printedforms.is_worth(pl.col("form")))
        out = []
        for form, worth in forms.iter_rows():
            if worth or counts[form] >= 3:
                out.append(self.forms.get(form) or self._representative(Form(form, worth, noise=False)))
        return out

    def _tables(self, chunk: Chunk, look: Look, mine: Mask, session: NDArray[np.int64], found: Numbers) -> None:
        """Add the numbers of tables over several lines; the lines of a table have no other numbers."""
        bare = look.flags["bare"] & mine
        headed = bool((look.flags["header"] & mine).any())
        rows = np.flatnonzero(mine if headed else mine & (look.flags["table"] | barerows.with_names(bare)))
        rows = rows[np.diff(chunk.starts)[rows] <= MAX_LINE_BYTES]
        if not len(rows):
            return
        bodies, place = self._bodies(chunk, rows, look)
        text = printedtables.without_heads(bodies.some(place))
        lines = pl.DataFrame({"row": rows, "text": text, "session": session[rows]})
        # names above rows of numbers are often a comment: `#iter loss`
        names = pl.col("text").str.replace(r"^\s*#+\s*", "")
        cells = printedtables.cells(lines.filter(~lineforms.is_noise(names)), bare=bool(bare.any()))
        if cells.height:
            found.drop(cells["at"].to_numpy().astype(np.int64))
            found.add_long(cells)


# The line before it is the same, of another node: each node prints the metrics
_OF_ANOTHER_NODE = ((pl.col("node") != pl.col("node").shift()) & (pl.col("body") == pl.col("body").shift())).fill_null(
    value=False
)


def _are_steps(lines: pl.DataFrame) -> bool:
    """Whether the ranks (rank, prefix) of lines are in fact steps: each is above the last, and some are skipped, or
    there are many, or they are padded wider than the last needs.
    """
    ranks = lines["rank"].to_numpy()
    gaps = np.diff(ranks)
    if not len(gaps) or gaps.min() <= 0:
        return False
    padded = lines["prefix"].str.extract(r"^( +\d+):$").str.len_chars()  # `   7:`
    inset = (padded > len(str(ranks[-1]))).any()
    return bool(inset or len(ranks) > _MAX_RANKS or (len(gaps) > 3 and gaps.max() > 1))


def _with_meanings(
    loose: pl.DataFrame, meanings: pl.DataFrame, order: NDArray[np.int64], session: NDArray[np.int64]
) -> pl.DataFrame:
    """The numbers of cleaned lines that have a meaning, in the schema of `printedtables`."""
    at = loose["row"].to_numpy()
    lines = loose.with_columns(pl.Series("order", order[at]), pl.Series("session", session[at]))
    shared = pl.col("text").str.replace_all(_OF_RANK_IN_TEXT, "")
    same = (pl.col("order").diff() == 1) & (pl.col("session").diff() == 0) & (shared == shared.shift())
    again = same & pl.col("placed") & ~pl.col("text").str.contains(r"(?i)\bnan\b")
    return (
        lines.filter(~again.fill_null(value=False))
        .select("row", "form", value=lineforms.values(pl.col("text")))
        .with_columns(slot=pl.int_ranges(pl.col("value").list.len()), all="value")
        .explode("value", "slot")
        .join(meanings, on=["form", "slot"])
        .with_columns(lineforms.value("value"), *(_number_at(slot) for slot in ("over", "count")), at="row")
        .with_columns(_share())
        .select(pl.col(name).cast(dtype) for name, dtype in printedtables.SCHEMA.items())
        .sort("row", maintain_order=True)
    )


def _number_at(slot: str) -> pl.Expr:
    """The number of a line at the slot in a column."""
    return lineforms.value(pl.col("all").list.get(slot)).alias(slot)


def _share() -> pl.Expr:
    """As `linenumbers` has it, for numbers one a row."""
    value, count, total = (pl.col(name) for name in ("value", "count", "over"))
    exact = 100 * count / total
    whole = pl.when((exact - value).abs() <= PERCENTAGE_ROUNDED).then(exact).otherwise(value)
    return (
        pl.when(total.is_null()).then(value).when(count.is_null()).then(value / total).otherwise(whole).alias("value")
    )


def _reprinted(taken: _Taken, shape: Shape, order: NDArray[np.int64], session: NDArray[np.int64]) -> Mask:
    """Which rows repeat the finite record at the same position: two log handlers, stdout and stderr in one file, or
    ranks that print the same losses, each with its own speed.

    `order` counts the rows that have a meaning.
    """
    again = np.zeros(len(taken.rows), bool)
    if not any(slot.role in _POSITION_ROLES for slot in shape.slots) or len(again) < 2:
        return again
    rows = taken.rows
    same = (np.diff(order[rows]) == 1) & (np.diff(session[rows]) == 0)
    own = {slot.index for slot in shape.slots if slot.role == "metric" and _OF_RANK.search(slot.name)}
    for index, slot in enumerate(taken.slots):
        same &= (slot[1:] == slot[:-1]) if index not in own else True
    again[1:] = same
    return again
