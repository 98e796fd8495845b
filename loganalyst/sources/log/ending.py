"""How a log ends: in the middle of a line, or with words of an error that no pattern knows."""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.sources.log.lines import described
from loganalyst.sources.log.patterns import Pattern, match

TAIL = 4096  # bytes of the last line that are looked at
SHOWN = 200  # characters of it that are kept
LAST = 5  # lines that are a log's last words
_ERROR = re.compile(
    r"(?:^|[\s\[|:])(?:FATAL|CRITICAL|ERROR|PANIC|[Ff]atal|[Ee]rror|[Ee]xception)(?: error)?(?:\[\w+\])?"
    r"\s?[:!\]|-]\s*\S*[A-Za-z]"
    r"|(?:^|[\s\[|])(?:FATAL|CRITICAL|ERROR|PANIC) +(?:\d+ +)?[\[(]?[A-Za-z][\w.$/]*[\])]?:\s+\S*[A-Za-z]"
    r"|^(?:.{0,80}[:\]] )?(?:Unable to|Cannot|Can't|Could not|Couldn't|Failed to|Aborting|Aborted)\b"
    r"|\b(?:exit|terminat|fail|die|ende|quit)\w* (?:unexpectedly|abnormally)"
    r"|\b(?:unexpectedly|abnormally) (?:exit|terminat|fail|die|ende|quit)"
)
_NO_ERROR = re.compile(r"(?i)\b(?:no|0|zero|without) errors?\b|errors?\s?[:=]\s*[-+.\d]|warning|retry|ignor|skip")
_DONE = (b"]", b"|", b"100%", b"\x1b[0m", b"\x1b[A")  # a progress bar needs no line end


def cut(path: Path, line: int, session: int) -> pl.DataFrame:
    """A row of `lines` (pattern `cut-line`, captures `bytes`: the size of the file) where the last line, of that number
    and session, has no end and is no progress bar; else none.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(size - TAIL, 0))
        tail = file.read(TAIL)
    last = tail[max(tail.rfind(b"\n"), tail.rfind(b"\r")) + 1 :]
    if not last.strip() or b"\0" in tail or last.rstrip().endswith(_DONE):
        return table("lines")
    return table("lines", {
        "session": session, "file": path.name, "line": line, "offset": size - len(last), "pattern": "cut-line",
        "part": "advice", "captures": f'{{"bytes":"{size}"}}', "text": last.decode("utf-8", "replace")[-SHOWN:],
    })  # fmt: skip


def words(path: Path, line: int, session: int, known: Sequence[Pattern]) -> pl.DataFrame:
    """A row of `lines` (pattern `last-words`, part `confirm`): of the last few lines of the file, whose last is `line`,
    the first that tells of an error; none where a pattern of `known` that says more than that claims one of them.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(size - TAIL, 0))
        tail = file.read(TAIL)
    whole = [said.rpartition("\r")[2] for said in tail.decode("utf-8", "replace").removesuffix("\n").split("\n")]
    said = pl.DataFrame({"text": whole}).with_columns(line=pl.int_range(pl.len()) + (line - len(whole) + 1))
    last = said.filter(pl.col("text").str.strip_chars() != "", pl.col("line") > 0).tail(LAST)
    body = described(last["text"])["body"]
    told = last.filter(
        pl.Series([bool(_ERROR.search(said)) and not _NO_ERROR.search(said) for said in body], dtype=pl.Boolean)
    )
    if not told.height or b"\0" in tail:
        return table("lines")
    mere = [p.id for p in known if p.generic and p.part == "symptom"]  # they say no more than that it is an error
    if not match(body, known)["pattern"].is_in(mere).all():
        return table("lines")
    return table("lines", {
        "session": session, "file": path.name, "line": told["line"][:1].to_list(), "pattern": "last-words",
        "part": "confirm", "captures": "{}", "text": told["text"].str.head(SHOWN)[0],
    })  # fmt: skip
