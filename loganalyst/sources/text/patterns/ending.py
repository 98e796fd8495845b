"""How a log ends: in the middle of a line, or with words of an error that no pattern knows."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.opening import opened
from loganalyst.patterntraits import having
from loganalyst.sources.text.lines.heads import bare, behind
from loganalyst.sources.text.lines.loglines import head
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.patterns import unknownerrors
from loganalyst.sources.text.patterns.catalogue import Pattern, match

TAIL = 8192  # bytes of the log's end that are looked at
SHOWN = 200  # characters of a line that are kept
LAST = 12  # lines that are a log's last words, where they say that they tell of an error
LATEST = 5  # of these the ones that are, where no pattern and no family knows them
VERY_LAST = 3  # and where they only sound like one
UNKNOWN = 4  # rank of an error of no family, behind those of one
_HARMLESS = ("advice", "work")  # their words may sound like an error, and report none
_DONE = (b"]", b"|", b"100%", b"\x1b[0m", b"\x1b[A")  # a progress bar needs no line end
_HEADING = r"^\S.*:$"  # goes on in the next line; what is indented is a line of a program


def cut(path: Path, line: int, session: int) -> pl.DataFrame:
    """A row of `lines` (pattern `cut-line`, captures `bytes`: the size of the file) where the last line, of that number
    and session, has no end and is no progress bar; else none.
    """
    size, tail = _tail(path)
    last = tail[max(tail.rfind(b"\n"), tail.rfind(b"\r")) + 1 :]
    if not last.strip() or b"\0" in tail or last.rstrip().endswith(_DONE):
        return table("lines")
    return table("lines", {
        "session": session, "file": path.name, "line": line, "offset": size - len(last), "pattern": "cut-line",
        "part": "advice", "captures": f'{{"bytes":"{size}"}}', "text": last.decode("utf-8", "replace")[-SHOWN:],
    })  # fmt: skip


def words(path: Path, line: int, session: int, known: Sequence[Pattern], also: tuple[str, ...] = ()) -> pl.DataFrame:
    """A row of `lines` (part `confirm`): of the last few lines of the file, whose last is `line`, the first that tells
    of an error; with the pattern and label of its family (`wording`), else pattern `last-words` and no label. None
    where a pattern of `known` tells more of one of them; `also` were looked for beside those in the log.
    """
    _, tail = _tail(path)
    last = _last_lines(tail, line)
    if not last.height or b"\0" in tail:
        return table("lines")
    said, words = last["body"], bare(last["body"])
    claims = match(pl.concat([said, words.filter(words != said)]), known, also)
    claimed = set(claims["pattern"])
    hits = [pattern for pattern in known if pattern.id in claimed]
    if any(_telling(pattern) for pattern in hits):
        return table("lines")
    harmless = claims.filter(pl.col("pattern").is_in([p.id for p in hits if p.part in _HARMLESS]))["row"]
    last = last.filter(~pl.int_range(pl.len()).is_in(harmless.implode()))
    told = _told(last, named=any(p.part in ("confirm", "cascade") or p.id in having("traceback") for p in hits))
    return table("lines", {
        "session": session, "file": path.name, "line": told["line"], "pattern": told["pattern"].fill_null("last-words"),
        "label": told["label"], "part": "confirm", "captures": "{}", "text": told["text"].str.head(SHOWN),
    })  # fmt: skip


def _telling(pattern: Pattern) -> bool:
    """Whether a line of it says why a run ended, or that it ended well."""
    known = pattern.label not in (None, "other", "code_exception")
    return known or pattern.part in ("aside", "root", "stop", "peer", "end")


def _told(last: pl.DataFrame, *, named: bool) -> pl.DataFrame:
    """Of the last lines the one that tells of an error: line, text, pattern and label of its family. `named`: a failed
    exit is known, so only a family that tells more than a failure says more.
    """
    body = pl.col("body").str.head(unknownerrors.SAID)
    goes_on = pl.when(body.str.contains(_HEADING)).then(" " + body.shift(-1, fill_value="")).otherwise(pl.lit(""))
    said = pl.col("said")
    loud, low = (
        said.str.contains(unknownerrors.speech(kind)) & ~said.str.contains(unknownerrors.speech(f"no_{kind}"))
        for kind in ("error", "complaint")
    )
    very_last = low & ~said.str.contains(unknownerrors.speech("no_error")) & (pl.col("back") <= VERY_LAST)
    lines = last.select("line", "text", said=body + goes_on, back=pl.int_range(pl.len(), 0, -1))
    lines = lines.with_columns(loud=loud).filter(pl.col("loud") | very_last)
    if not lines.height:
        return lines.with_columns(pl.lit(None, pl.String).alias(name) for name in ("pattern", "label"))
    lines = lines.hstack(unknownerrors.told(lines["said"], lines["loud"].to_numpy()))
    vague = pl.col("label").is_in(["code_exception", "other"])
    known = pl.when("loud").then(0).otherwise(2) + vague
    unknown = pl.when(pl.col("loud") & (pl.col("back") <= LATEST)).then(UNKNOWN)
    rank = pl.when(pl.col("label").is_not_null()).then(known).otherwise(unknown)
    ranked = lines.with_columns(rank=rank).drop_nulls("rank").sort("rank", "line")
    return (ranked.filter(pl.col("rank") < UNKNOWN, ~vague) if named else ranked).head(1)


def _last_lines(tail: bytes, line: int) -> pl.DataFrame:
    """The last lines that are not blank: text, body (the text after the prefixes), number (`line`: the last one's)."""
    lines = head(tail).removesuffix("\n").split("\n")
    whole = [said.rstrip("\r").rpartition("\r")[2] for said in lines]
    said = pl.DataFrame({"text": whole}).with_columns(line=pl.int_range(pl.len()) + (line - len(whole) + 1))
    last = said.filter(pl.col("text").str.strip_chars() != "", pl.col("line") > 0).tail(LAST)
    return last.with_columns(behind(described(last["text"])["body"]))


def _tail(path: Path) -> tuple[int, bytes]:
    """The size of the file, and its last bytes."""
    size = path.stat().st_size
    with opened(path) as file:
        file.seek(max(size - TAIL, 0))
        return size, file.read(TAIL)
