"""How a log ends well, in any words: an end, a file that was written (`rules/closing.yaml`), or a result.

A line counts because nothing follows it. The same words inside a log belong to one part of the work.
"""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Literal

import polars as pl

from loganalyst.model import table
from loganalyst.rulefiles import Shape, Text, needed, ours
from loganalyst.sources.text.lines.heads import without_any_head
from loganalyst.sources.text.patterns import ending, results
from loganalyst.sources.text.patterns.words import Words

MAX_MESSAGE_CHARS = 300  # characters of a line that are searched
MAX_TEXT_CHARS = 200  # characters of a line that are kept
SAVED = "closing-saved"  # the kind of a file that was written
RESULT = "closing-result"  # the pattern of a result
_ALONE = '{"alone": "1"}'  # captures of a file that was written, or of one score: neither shows that all work was done
# Decoration: signs of ASCII, lines, arrows and emoji. Plain ranges compile ten times faster than classes of Unicode.
_SIGNS = r" \t!#$&*,:;<=>@\\^_`|~\x{A0}\x{AB}\x{B7}\x{BB}\x{2010}-\x{2025}\x{2027}-\x{2BFF}\x{FE0F}\x{1F000}-\x{1FAFF}"
_WORD = rf"[^{_SIGNS}%)'\"\]}}.?/+(\[{{-]"  # a line without one is decoration: `==========`
_DECORATION = rf"^[{_SIGNS}%)\]}}?/]+|[{_SIGNS}+(\[{{-]+$"  # `=== done ===`: the message is `done`

# `epoch [3/200]`, `3/200 `
_COUNTER = r"(?:^|\b(?:epoch|fold|run|trial|round|step|iteration|experiment)\b\W{0,3})(\d{1,9}) ?/ ?(\d{1,9})\b"


class Kind(Words, frozen=True, kw_only=True):
    """Lines that show that a job ended well: the id and part of the row of `lines` that they become."""

    id: Text
    part: Literal["end", "work"]


class Closing(Shape, frozen=True):
    """The file. An end is among the `last` lines, an epoch or a file among the `lines` last ones."""

    lines: Annotated[int, needed("a whole number above 0", ge=1)]
    last: Annotated[int, needed("a whole number above 0", ge=1)]
    kinds: Annotated[tuple[Kind, ...], needed("a list of kinds of lines", min_length=1)]
    begun: Words


@cache
def words() -> Closing:
    """The words of `rules/closing.yaml`. Raises RuleError.

    >>> [kind.id for kind in words().kinds]
    ['closing-end', 'closing-count', 'closing-epoch', 'closing-saved']
    """
    return ours("closing.yaml", Closing)


def found(tail: pl.DataFrame, file: str, session: int) -> pl.DataFrame:
    """One row of `lines` for the last lines of a session, if they show that its job ended well; else none.

    `tail` are the lines of `ending.last_lines`. Where one of the last lines reports an error, only a result behind it
    shows that the program went on.
    """
    known = words()
    tail = tail.with_columns(message=messages(tail["body"])).filter(pl.col("message").str.contains(_WORD))
    lines = tail.tail(known.lines)
    if not lines.height or _has_begun(lines["message"], known):
        return table("lines")
    complaint = _last_complaint(lines)
    hits = [_result(tail.filter(pl.col("line") > complaint))] if complaint else _hits(tail, known)
    row = next((hit for hit in hits if hit.height), None)
    if row is None:
        return table("lines")
    return table("lines", {
        "session": session, "file": file, "line": row["line"], "pattern": row["id"], "part": row["part"],
        "captures": row["captures"], "text": row["text"].str.head(MAX_TEXT_CHARS),
    })  # fmt: skip


def _hits(tail: pl.DataFrame, known: Closing) -> Iterator[pl.DataFrame]:
    """For each kind, then for results: the last of the lines that is one, with its pattern and part; else none."""
    lines = tail.tail(known.lines)
    for kind in known.kinds:
        yield _hit(kind, lines, known).with_columns(
            id=pl.lit(kind.id), part=pl.lit(kind.part), captures=_captures(kind.id == SAVED)
        )
    yield _result(tail)


def _hit(kind: Kind, lines: pl.DataFrame, known: Closing) -> pl.DataFrame:
    """The last of the lines that is of this kind, if it closes the log; else none."""
    if kind.part == "work":
        hits = lines.filter(kind.match(lines["message"]))
        return hits.tail(0 if hits.height and _is_in_between(lines["message"]) else 1)
    places = lines.tail(known.last)
    hits = places.filter(kind.match(places["message"])).tail(1)
    goes_on = hits.height and _goes_on(places, hits["line"][0], known)
    return hits.head(0) if goes_on else hits


def _result(tail: pl.DataFrame) -> pl.DataFrame:
    """The last of the lines that is a result, if no more was planned; else none."""
    hits = tail.filter(results.are_results(tail["message"]))
    alone = hits.height == 1 and bool(results.is_one_score(hits["message"])[0])
    hits = hits.tail(0 if hits.height and _is_in_between(tail["message"]) else 1)
    return hits.with_columns(id=pl.lit(RESULT), part=pl.lit("work"), captures=_captures(alone))


def _captures(alone: bool) -> pl.Expr:
    return pl.lit(_ALONE if alone else "{}")


def messages(body: pl.Series) -> pl.Series:
    """Each line in lower case, without the head that a logger writes and without decoration around it."""
    bare = without_any_head(body.str.head(MAX_MESSAGE_CHARS))
    return bare.str.replace_all(_DECORATION, "").str.strip_chars().str.to_lowercase()


def complains(lines: pl.DataFrame) -> bool:
    """Whether one of the lines reports an error."""
    return _last_complaint(lines) > 0


def _last_complaint(lines: pl.DataFrame) -> int:
    """The last of the lines that reports an error; 0: none does."""
    said = ending.spoken(lines)
    found = said.filter(pl.col("error") | pl.col("complaint"))["line"]
    return int(found[-1]) if len(found) else 0


def _has_begun(message: pl.Series, known: Closing) -> bool:
    """Whether the last line shows that something was begun, and nothing else."""
    last = message.tail(1)
    begun = bool(known.begun.match(last)[0]) and not results.are_results(last)[0]
    return begun and not any(kind.match(last)[0] for kind in known.kinds)


def _goes_on(places: pl.DataFrame, end: int, known: Closing) -> bool:
    """Whether lines behind the end show that the work goes on."""
    later = places.filter(pl.col("line") > end)["message"]
    return bool(known.begun.match(later).any())


def _is_in_between(message: pl.Series) -> bool:
    """Whether the last counter shows that more was planned: results of epoch 3 of 200 are not those of the job."""
    counted = message.filter(message.str.contains("/", literal=True))
    count = counted.str.extract_groups(_COUNTER).struct.unnest().cast(pl.Int64, strict=False).drop_nulls().tail(1)
    return bool(count.height) and count["1"][0] < count["2"][0]
