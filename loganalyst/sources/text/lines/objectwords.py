"""What an object of a structured log says in words: `{"event": "stop", "status": "failed"}` is `stop: FAILED`.

A program's own log holds measurements and words in objects of the same file. The words say how it ended.
"""

import re

import polars as pl

from loganalyst.sources.text.lines.numberwords import RESULT

LEVEL_KEYS = ("level", "levelname", "severity", "log_level", "lvl")
EVENT_KEYS = ("event", "message", "msg", "MESSAGE")
STATUS_KEYS = ("status", "state", "outcome")
REASON_KEYS = ("error", "err", "reason", "detail", "error_message")
WORD_KEYS = (*EVENT_KEYS, *STATUS_KEYS, *REASON_KEYS)
MAX_CHARS = 300  # of each value
_KEYED = rf'"(?:{"|".join(WORD_KEYS)})"\s*:\s*"[^"]'  # `"status": "failed"`
_RESULT = rf'(?i)"[^"]{{0,60}}(?:{RESULT})[^"]{{0,60}}"\s*:\s*-?[\dNI]'  # `"train_loss": 0.5`
# `"level": "error"`
_ERROR = rf'"(?:{"|".join(LEVEL_KEYS)})"\s*:\s*"(?i:error|critical|fatal)"'
_OF_ERROR = re.compile(_ERROR.encode())
_NAME = r"^\w+(?:[._-]\w+)+$"  # `job_done`, `checkpoint.failed`


def reports_error(data: bytes) -> bool:
    """Whether one of the objects has the level of an error.

    >>> reports_error(b'{"level": "ERROR", "step": 3}'), reports_error(b'{"level": "info"}')
    (True, False)
    """
    return _OF_ERROR.search(data) is not None


def speaks(line: pl.Series) -> pl.Series:
    """Which objects hold words, and no result such as a loss."""
    keyed = line.str.contains(_KEYED)
    return keyed & ~line.str.contains(_RESULT) if keyed.any() else keyed


def has_more(line: pl.Series, key: str) -> pl.Series:
    """Which objects hold words beside the text under a key, or have the level of an error."""
    others = [f'"{name}"' for name in WORD_KEYS if name != key]
    return line.str.contains_any(others) | line.str.contains(_ERROR)


def words(line: pl.Series) -> pl.Series:
    """The words of each object, behind its level if it reports an error; "" if it has none.

    >>> words(pl.Series(['{"level": "error", "event": "save_failed", "reason": "no space"}'])).to_list()
    ['ERROR save failed: no space']
    """
    level = pl.when(pl.lit(line.str.contains(_ERROR))).then(pl.lit("ERROR "))
    said = [_said(line, key) for key in WORD_KEYS]
    joined = pl.concat_str([pl.lit(one) for one in said], separator=": ", ignore_nulls=True)
    return pl.select(pl.concat_str([level.fill_null(""), joined])).to_series()


def _said(line: pl.Series, key: str) -> pl.Series:
    """The text under a key, NULL for none: a name in plain words, a state in capitals."""
    value = line.str.json_path_match(f"$['{key}']").str.head(MAX_CHARS)
    value = pl.select(pl.when(pl.lit(value).str.contains(r"^[^{\[\d-]")).then(pl.lit(value))).to_series()
    value = value.replace(["null", "true", "false", "None"], None)
    if key in STATUS_KEYS:
        return value.str.to_uppercase()
    is_name = value.str.contains(_NAME).fill_null(value=False)
    return value.zip_with(~is_name, value.str.replace_all(r"[._-]", " "))
