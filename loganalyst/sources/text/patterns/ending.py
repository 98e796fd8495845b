"""How a log ends: in the middle of a line, or with an error that no pattern knows."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.opening import opened
from loganalyst.patterntraits import having
from loganalyst.sources.text.lines import gluedbars
from loganalyst.sources.text.lines.heads import without_any_head, without_bars, without_head
from loganalyst.sources.text.lines.loglines import head
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.patterns import handledfaults, results, unknownerrors
from loganalyst.sources.text.patterns.catalogue import Also, Pattern, match

TAIL_BYTES = 8192  # bytes of the log's end that are read
MAX_TEXT_CHARS = 200  # characters of a line that are kept
MAX_LAST_LINES = 12  # last lines that count if they state an error
MAX_UNKNOWN_LINES = 5  # last lines that count if they state an error of no known pattern or family
MAX_COMPLAINT_LINES = 3  # last lines that count if they only sound like an error
MIN_RECORDS_BEHIND = 3  # records of ordinary work behind an error that show that the program went on
_COMPLETE = r"100%\|"  # `100%|██████████| 2/2 [00:23<00:00, 11.74s/it]`
_INFO = r"(?:^|[\s\[|:(])INFO\b[\s\]:|-]"  # `INFO:root:start`, `2024-05-01 10:00:02 INFO tune.py:276 -- done`
ECHOED = '{"echoed":"true"}'  # captures of last words behind which a tool echoes the failed exit
UNKNOWN_ORDER = 4  # sort key of an error of no family: behind those of a family
_HARMLESS = ("advice", "work")  # parts whose lines may sound like an error and report none
_BAR_ENDINGS = (b"]", b"|", b"100%", b"\x1b[0m", b"\x1b[A")  # a progress bar needs no line end
_HEADING = r"^\S.*:$"  # `ERROR:`: the message is on the next line; an indented line is source code


def cut(path: Path, line: int, session: int) -> pl.DataFrame:
    """A row of `lines` (pattern `cut-line`, captures `bytes`: the size of the file) if the last line has no end and is
    no progress bar; else none. `line` and `session` are the last line's.
    """
    size, tail = _tail(path)
    last = tail[max(tail.rfind(b"\n"), tail.rfind(b"\r")) + 1 :]
    if not last.strip() or b"\0" in tail or last.rstrip().endswith(_BAR_ENDINGS):
        return table("lines")
    return table("lines", {
        "session": session, "file": path.name, "line": line, "offset": size - len(last), "pattern": "cut-line",
        "part": "advice", "captures": f'{{"bytes":"{size}"}}',
        "text": last.decode("utf-8", "replace")[-MAX_TEXT_CHARS:],
    })  # fmt: skip


def words(tail: pl.DataFrame, file: str, session: int, known: Sequence[Pattern], also: Also) -> pl.DataFrame:
    """A row of `lines` (part `confirm`) for the first of the file's last lines that reports an error; `tail` are those
    of `last_lines`.

    It has the pattern and label of its family (`wording`), else pattern `last-words` and no label. There is no row
    where a pattern of `known` explains more. `also` are the texts that were searched for with the patterns' literals.
    Where a tool such as make echoes that its command failed (captures ECHOED), the words of the command go before.
    """
    tail, echo = _without_wrappers(tail)
    last = tail.tail(MAX_LAST_LINES).with_columns(survived=_survived())
    if not last.height:
        return table("lines")
    body, message = last["body"], without_head(last["body"])
    claims = match(pl.concat([body, message.filter(message != body)]), known, also)
    claimed = set(claims["pattern"])
    hits = [pattern for pattern in known if pattern.id in claimed]
    if any(_explains_end(pattern) for pattern in hits):
        return table("lines")
    harmless = claims.filter(pl.col("pattern").is_in([p.id for p in hits if p.part in _HARMLESS]))["row"]
    last = spoken(last.filter(~pl.int_range(pl.len()).is_in(harmless.implode())))
    error = _reported_error(
        last, named=any(p.part in ("confirm", "cascade") or p.id in having("traceback") for p in hits)
    )
    if not error.height and echo.height:
        error = echo.with_columns(pl.lit(None, pl.String).alias(name) for name in ("pattern", "label"))
    return table("lines", {
        "session": session, "file": file, "line": error["line"],
        "pattern": error["pattern"].fill_null("last-words"), "label": error["label"], "part": "confirm",
        "captures": ECHOED if echo.height else "{}", "text": error["text"].str.head(MAX_TEXT_CHARS),
    })  # fmt: skip


def _without_wrappers(tail: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The last lines without those of tools that ran the program, and the first line with which such a tool says at
    the end of the log that the program failed (no row: none does).
    """
    body = tail["body"]
    echoes = body.str.contains(unknownerrors.speech("wrapper"))
    if not echoes.any():
        return tail, tail.head(0)
    own = ~(echoes | body.str.contains(unknownerrors.speech("wrapper_chat")))
    behind = own.cast(pl.Int64).cum_sum(reverse=True)
    return tail.filter(own), tail.filter(echoes & (behind <= MAX_UNKNOWN_LINES)).head(1)


def _explains_end(pattern: Pattern) -> bool:
    """Whether a line of this pattern says why a run ended, or that it ended well."""
    known = pattern.label not in (None, "other", "code_exception")
    return known or pattern.part in ("aside", "root", "stop", "peer", "end")


def _reported_error(last: pl.DataFrame, *, named: bool) -> pl.DataFrame:
    """The one of the last lines that reports an error: line, text, pattern and label of its family. `named`: a failed
    exit is known already, so only a family with a specific label adds anything.
    """
    lines = last.with_columns(
        back=pl.int_range(pl.len(), 0, -1), states_error=pl.col("error") & ~_reports_work(pl.col("message"))
    )
    complaint = pl.col("complaint") & (pl.col("back") <= MAX_COMPLAINT_LINES)
    lines = lines.filter(pl.col("states_error") | complaint, ~pl.col("survived"))
    if lines.height:  # a result behind an error shows that the program went on; finding it costs time
        message = without_any_head(last["body"]).str.strip_chars().str.to_lowercase()
        went_on = last.filter(results.are_results(message))["line"]
        lines = lines.filter(pl.col("line") >= (went_on[-1] if len(went_on) else 0))
    if not lines.height:
        return lines.with_columns(pl.lit(None, pl.String).alias(name) for name in ("pattern", "label"))
    lines = lines.hstack(unknownerrors.classify(lines["message"], lines["states_error"].to_numpy()))
    vague = pl.col("label").is_in(["code_exception", "other"])
    known = pl.when("states_error").then(0).otherwise(2) + vague
    unknown = pl.when(pl.col("states_error") & (pl.col("back") <= MAX_UNKNOWN_LINES)).then(UNKNOWN_ORDER)
    order = pl.when(pl.col("label").is_not_null()).then(known).otherwise(unknown)
    ordered = lines.with_columns(order=order).drop_nulls("order").sort("order", "line")
    return (ordered.filter(pl.col("order") < UNKNOWN_ORDER, ~vague) if named else ordered).head(1)


def _survived() -> pl.Expr:
    """Whether the program went on behind a line: a progress bar became complete, or it logged ordinary work."""
    complete, records = (
        pl.col("body").str.contains(regex).cast(pl.Int64).shift(-1, fill_value=0).cum_sum(reverse=True)
        for regex in (_COMPLETE, _INFO)
    )
    return (complete > 0) | (records >= MIN_RECORDS_BEHIND)


def _reports_work(message: pl.Expr) -> pl.Expr:
    """Whether only the level of a log record sounds like an error: `CRITICAL:__main__:Starting finetuning`."""
    level, work, error, complaint = (unknownerrors.speech(kind) for kind in ("level", "work", "error", "complaint"))
    record = message.str.replace(level, "")
    works = message.str.contains(level) & record.str.contains(work)
    return works & ~record.str.contains(error) & ~record.str.contains(complaint)


def last_lines(path: Path, line: int) -> pl.DataFrame:
    """The lines of a file's end that are not blank: text, body (the text behind the prefixes) and line number;
    `line` is the number of the last. None of a file in UTF-16.
    """
    _, tail = _tail(path)
    if b"\0" in tail:
        tail = b""
    lines = head(gluedbars.parted(tail)).removesuffix("\n").split("\n")
    whole = [message.rstrip("\r").rpartition("\r")[2] for message in lines]
    message = pl.DataFrame({"text": whole}).with_columns(line=pl.int_range(pl.len()) + (line - len(whole) + 1))
    found = message.filter(pl.col("text").str.strip_chars() != "", pl.col("line") > 0)
    return found.with_columns(without_bars(described(found["text"])["body"]))


def spoken(last: pl.DataFrame) -> pl.DataFrame:
    """The lines with their message (with the next line behind a heading), and whether it states an `error` or sounds
    like one (`complaint`). One that says, or whose next line says, what the program does about it is neither. A second
    call is cheap: the regexes are compiled.
    """
    body = last["body"].str.head(unknownerrors.MAX_MESSAGE_CHARS)
    message = (body + " " + body.shift(-1).fill_null("")).zip_with(body.str.contains(_HEADING), body)
    error, complaint = (message.str.contains(unknownerrors.speech(kind)) for kind in ("error", "complaint"))
    if error.any() or complaint.any():  # else two regexes less are compiled
        handled = handledfaults.says_handled(body)
        no_error = (
            message.str.contains(unknownerrors.speech("no_error")) | handled | handled.shift(-1, fill_value=False)
        )
        error &= ~no_error
        complaint &= ~no_error
    if complaint.any():
        complaint &= ~message.str.contains(unknownerrors.speech("no_complaint"))
    return last.with_columns(message=message, error=error, complaint=complaint)


def _tail(path: Path) -> tuple[int, bytes]:
    """The size of the file, and its last bytes."""
    size = path.stat().st_size
    with opened(path) as file:
        file.seek(max(size - TAIL_BYTES, 0))
        return size, file.read(TAIL_BYTES)
