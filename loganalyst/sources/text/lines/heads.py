"""Text before the message of a line: progress bars, and the heads that loggers and containers write."""

import re

import polars as pl

# Every bar contains one of these
_BAR_MARKS = ("%|", "it/s", "s/it", "[=", "[>", "━")
_UNIT = r"(?:[mµu]?s(?:/\w+)?\b)?"  # `s`, `ms`, `µs/step`
_NUMBER = rf"[-+.:\de]*\d{_UNIT}"  # `5s`, `12ms/step`, `0:01:02`, `-0.25`
# Keras's metrics behind its bar: ` - loss: 0.5 - accuracy: 0.9`
_METRICS = rf"(?: - (?:[\w ]+: )?{_NUMBER}(?: {_NUMBER})?)*"
# Everything up to the last bar of a line
_BAR = (
    r"^.*(?:"
    r"\d(?:/\d+|[a-z]+) \[\d+:\d\d[^\]]*\](?::|, )?"  # tqdm: `5/10 [00:01<00:01, 3.2it/s]`
    rf"|\d/\d+ \[[=>.]+\]{_METRICS}"  # Keras 2: `5/10 [==>...] - 1s 5ms/step`
    rf"|\d/\d+ [━╸╺─]+(?: {_NUMBER})*{_METRICS}"  # Keras 3: `5/10 ━━━━── 1s 5ms/step`
    r")"
)
# `[2024-05-01 10:00:02,123]`, `05/01/2024 10:00:02`, `05-01 10:00:02`, `May 12 10:00:02`, `10:00:02.5+02:00`
_STAMP = (
    r"\[?(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _-]|[0-9]{2}/[0-9]{2}/[0-9]{4} |[0-9]{2}-[0-9]{2} "
    r"|[A-Z][a-z]{2} [ 0-9][0-9] )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?"
)
# A container's log: `2024-05-01T10:00:02.5Z stderr F `, `2024-05-01T10:00:02Z `
CONTAINER = rf"{_STAMP}:?(?: std(?:err|out) [FP])? +"
_BETWEEN = r"[\s\[\]|:,-]+"  # ` - `, `: `, `] [`
# Where in the program the message was logged: `train.py:33`, `train.py:main:33`, `train.py`, `__main__`, `root`
_PLACE = r"(?:[\w./<>-]+:(?:[\w<>]+:)?\d+|[\w./<>-]+\.py|__\w+__|root)"
# `2024-05-01 10:00:02 - train - ERROR - train.py:33 - `, and the heads that the comments below name
_HEAD = (
    r"^(?:"
    rf"(?:{_STAMP}(?:{_BETWEEN}[\w./<>:-]+){{0,2}}?{_BETWEEN})?(?:ERROR|CRITICAL|FATAL)\b{_BETWEEN}(?:{_PLACE}{_BETWEEN})?"
    rf"|{CONTAINER}"
    r"|[EF]\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] "  # absl, glog: `E0501 10:00:02.123456 77 file.cc:12] `
    r"|[\w.-]+[-_]\d+ +\| "  # docker compose: `trainer_1  | `
    r"|\[std(?:err|out)\] ?"  # `[stderr] `
    r")"
)

# The head of any record, whatever its level: `2024-05-01 10:00:02,123  INFO      `, `[INFO] train — `, `INFO:root:`,
# `12-Mar-24 10:00:02-INFO-[utils.py:160]  `, `I0501 10:00:02.123456 77 file.cc:12] `
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|Info|info|debug|VERBOSE|TRACE)"
_BEHIND_LEVEL = r"(?:\[[^\]]{1,60}\][ \t:—–-]*|[A-Za-z0-9_./<>-]{1,60}:[0-9]+[ \t:|—–-]+|[A-Za-z0-9_.]{1,40} [—–-] )?"
_ANY_HEAD = (
    r"^(?:"
    rf"[^|]{{0,90}}?(?:\| *[^|]{{1,40}})??(?-u:\b){_LEVEL}(?-u:\b)[\]):|]*(?:[ \t:|—–-]+|$){_BEHIND_LEVEL}"
    r"|[DIW][0-9]{4} [0-9:.]+ +[0-9]+ [A-Za-z0-9_.-]+:[0-9]+\] "
    rf"|[\[(]?{_STAMP}[\])]?(?:[ \t:|—–-]+|$)"
    r")"
)
# A head up to its level and Python's own name of a logger: `INFO `, `[INFO] `, `root - WARNING - `, `INFO:my.log:`
_TO_LEVEL = re.compile(rf"^.{{0,90}}?\b(?:{_LEVEL}|ERROR)\b[\]):|]*(?:(?<=:)[\w.]{{1,40}}:)?[ \t:|—–-]*")


def without_bars(text: pl.Series) -> pl.Series:
    """Each line without the progress bars before its message. Lines without a bar, and lines that are only a bar, stay
    as they are.
    """
    barred = text.str.contains_any(list(_BAR_MARKS)).arg_true()
    if not len(barred):
        return text
    lines = text.gather(barred)
    stripped = lines.str.replace(_BAR, "").str.strip_chars_start()
    return text.clone().scatter(barred, stripped.zip_with(stripped != "", lines))  # `scatter` writes into the series


def without_head(text: pl.Series) -> pl.Series:
    """Each line without indent, stamp and level before its message. Only error levels are removed: a message logged as
    a warning is no error.
    """
    return text.str.replace(_HEAD, "").str.strip_chars_start()


def before_cells(text: pl.Series) -> pl.Series:
    """Rows of a table without any head. Python's own head has no blank behind it: `INFO:root:3 | 0.5`."""
    return without_any_head(text.str.replace(r"^([A-Z]{4,8}):(?:root|__main__):", "$1: "))


def without_any_head(text: pl.Series) -> pl.Series:
    """Each line without indent, stamp, level and place before its message, whatever the level."""
    return text.str.strip_chars_start().str.replace(_ANY_HEAD, "").str.strip_chars_start()


def behind_level(text: str) -> str:
    """The text behind the level of a message, or the whole text if it has none.

    >>> behind_level("root - WARNING - Test: loss 0.5"), behind_level("Test: loss 0.5")
    ('Test: loss 0.5', 'Test: loss 0.5')
    """
    return _TO_LEVEL.sub("", text, count=1)
