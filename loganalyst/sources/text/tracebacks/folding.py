"""The blocks of a log: blocks with the same content in one session are listed once, with all their ranks."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from loganalyst.model import table

MAX_BLOCKS_PER_END = 200  # blocks of a file that are kept from its beginning, and as many from its end
MAX_MESSAGE_CHARS = 2000  # characters of a message that are kept

_KEY = ("session", "kind", "exception", "frame", "fold")
# `0x7f3a`, `12`, `0.5`: numbers do not distinguish blocks
_NUMBER = r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?"
_FILE = r"; error file .*"  # `; error file /tmp/error.json` at the end of torchrun's message
# kinds whose block ends at the last line with the same content
_ONE_LINE_KINDS = ("cuda", "nccl", "srun", "stack", "xla")
_MAX_RANGE = 100_000  # numbers of one range; a longer range is no task list


class Block(NamedTuple):
    """A block of the file. `number` counts the blocks met, `parent` is such a number, `time` is in µs. Blocks with the
    same session, kind, exception, frame and `fold` are one block.
    """

    number: int
    session: int
    kind: str
    exception: str | None
    frame: str | None
    fold: str
    first_line: int
    last_line: int
    offset: int | None
    time: int | None
    rank: int | None
    node: str | None
    message: str | None
    ranks: Sequence[int]
    repeated: int
    parent: int | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that identify the block."""
        return tuple(getattr(self, name) for name in _KEY)


class Blocks:
    """The blocks met so far, in the order met."""

    def __init__(self, known: Sequence[Sequence[Any]] = (), met: int = 0, left_out: int = 0) -> None:
        blocks = [Block(*one) for one in known]
        self.known = {block.key: block for block in blocks}
        self.met, self.left_out = met, left_out

    def state(self) -> tuple[list[Block], int, int]:
        """The current state as plain JSON: the arguments of another `Blocks`."""
        return list(self.known.values()), self.met, self.left_out

    def add(self, blocks: pl.DataFrame) -> None:
        """Add the blocks of a batch: the columns of `stacks.FOUND` with session, first_line, last_line and offset."""
        groups = self._thinned(list(_distinct(blocks))) if blocks.height else []
        numbers: dict[int, int] = {}
        causes: list[tuple[tuple[Any, ...], int]] = []
        for block, firsts, cause in groups:
            known = self.known.get(block.key)
            if known is None:
                known = block._replace(number=self.met)
                self.met += 1
                causes += [(block.key, cause)] if cause is not None else []
            else:
                known = _merged(known, block)
            self.known[block.key] = known
            numbers |= dict.fromkeys(firsts, known.number)
        for key, cause in causes:
            parent = numbers.get(cause)
            if parent != self.known[key].number:
                self.known[key] = self.known[key]._replace(parent=parent)
        kept = self._thinned(list(self.known.values()))
        if len(kept) < len(self.known):
            self.known = {block.key: block for block in kept}

    def _thinned(self, some: list[Any]) -> list[Any]:
        """At most MAX_BLOCKS_PER_END from either end."""
        self.left_out += max(len(some) - 2 * MAX_BLOCKS_PER_END, 0)
        return (
            some if len(some) <= 2 * MAX_BLOCKS_PER_END else [*some[:MAX_BLOCKS_PER_END], *some[-MAX_BLOCKS_PER_END:]]
        )

    def summary(self, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The `blocks` table of the file `name`, and the gap that says how many blocks are not in it."""
        blocks = sorted(self.known.values(), key=lambda block: (block.first_line, block.number))
        place = {block.number: at for at, block in enumerate(blocks)}
        parents = [place.get(block.parent) if block.parent is not None else None for block in blocks]
        same = {column: [getattr(block, column) for block in blocks] for column in _COLUMNS}
        ranks = pl.Series("ranks", [block.ranks or None for block in blocks], pl.List(pl.Int64))
        found = table("blocks", {**same, "ranks": ranks, "file": name, "block": range(len(blocks)), "parent": parents})
        why = [f"{self.left_out} more tracebacks and stacks not listed"]
        return found, table("gaps", {"file": name, "offset": [0], "why": why} if self.left_out else None)


_COLUMNS = (
    "session", "kind", "first_line", "last_line", "offset", "time", "rank", "node", "exception", "message", "frame",
    "repeated",
)  # fmt: skip


def _distinct(blocks: pl.DataFrame) -> Iterator[tuple[Block, list[int], int | None]]:
    """The distinct blocks of a batch, with the rows where each begins and where its cause begins."""
    message = pl.col("message").str.slice(0, MAX_MESSAGE_CHARS)
    listed = (pl.col("kind") == "srun") & pl.col("ranks").is_not_null()  # its message is the exit code
    fold = pl.when(listed | (pl.col("kind") == "torchrun")).then(message.str.replace(_FILE, "")).otherwise(
        message.str.replace_all(_NUMBER, "#")
    )  # fmt: skip
    of_rank = pl.format("{} {}", pl.col("rank").cast(pl.String).fill_null(""), message)
    fold = pl.when(pl.col("kind") == "stack").then(of_rank).otherwise(fold)
    found = blocks.with_columns_seq(message, fold=fold.fill_null("")).sort("first", maintain_order=True)
    once = ("first_line", "offset", "time", "message", "cause")
    last = pl.when(pl.col("kind").is_in(_ONE_LINE_KINDS)).then("last_line")
    groups = found.group_by(_KEY, maintain_order=True).agg(
        *(pl.col(name).first() for name in once), *(pl.col(name).drop_nulls().first() for name in ("rank", "node")),
        last_line=pl.coalesce(last.max(), pl.col("last_line").first()),
        printers=pl.col("rank").drop_nulls().unique(), listed=pl.col("ranks").drop_nulls().unique(),
        firsts=pl.col("first"), repeated=pl.len().cast(pl.Int64),
    )  # fmt: skip
    for one in groups.iter_rows(named=True):
        firsts, cause, printers, listed = (one.pop(name) for name in ("firsts", "cause", "printers", "listed"))
        ranks = sorted({*printers, *(task for text in listed for task in _tasks(text))})
        rank = one.pop("rank")
        rank = ranks[0] if rank is None and ranks else rank
        yield Block(number=-1, **one, rank=rank, ranks=ranks), firsts, cause


def _merged(known: Block, again: Block) -> Block:
    """A known block and its repetition as one."""
    last = max(known.last_line, again.last_line) if known.kind in _ONE_LINE_KINDS else known.last_line
    return known._replace(
        repeated=known.repeated + again.repeated,
        ranks=sorted({*known.ranks, *again.ranks}),
        last_line=last,
        rank=again.rank if known.rank is None else known.rank,
        node=again.node if known.node is None else known.node,
    )


def _tasks(text: str) -> Iterator[int]:
    """The tasks in a list: `0-2,7` is 0, 1, 2 and 7."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and len(part) < 15 and (not last or last.isdecimal()):
            yield from range(int(first), min(int(last or first), int(first) + _MAX_RANGE) + 1)
