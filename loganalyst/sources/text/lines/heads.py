"""What stands before the words of a line: progress bars, and the heads that loggers and containers write."""

import polars as pl

_MARKS = ("%|", "it/s", "s/it", "[=", "[>", "━")  # one of them is in every bar
_UNIT = r"(?:[mµu]?s(?:/\w+)?\b)?"
_NUMBER = rf"[-+.:\de]*\d{_UNIT}"
_METRICS = rf"(?: - (?:[\w ]+: )?{_NUMBER}(?: {_NUMBER})?)*"  # of Keras
_BAR = (  # the last of the line
    r"^.*(?:"
    r"\d(?:/\d+|[a-z]+) \[\d+:\d\d[^\]]*\](?::|, )?"  # tqdm
    rf"|\d/\d+ \[[=>.]+\]{_METRICS}"
    rf"|\d/\d+ [━╸╺─]+(?: {_NUMBER})*{_METRICS}"
    r")"
)
_STAMP = (
    r"\[?(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _-]|[0-9]{2}/[0-9]{2}/[0-9]{4} |[0-9]{2}-[0-9]{2} "
    r"|[A-Z][a-z]{2} [ 0-9][0-9] )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?"
)
CONTAINER = rf"{_STAMP}:?(?: std(?:err|out) [FP])? +"  # of a container's log
_BETWEEN = r"[\s\[\]|:,-]+"
_PLACE = r"(?:[\w./<>-]+:(?:[\w<>]+:)?\d+|[\w./<>-]+\.py|__\w+__|root)"  # where in the program it was said
_HEAD = (
    r"^(?:"
    rf"(?:{_STAMP}(?:{_BETWEEN}[\w./<>:-]+){{0,2}}?{_BETWEEN})?(?:ERROR|CRITICAL|FATAL)\b{_BETWEEN}(?:{_PLACE}{_BETWEEN})?"
    rf"|{CONTAINER}"
    r"|[EF]\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] "  # absl, glog
    r"|[\w.-]+[-_]\d+ +\| "  # docker compose
    r"|\[std(?:err|out)\] ?"
    r")"
)


def behind(text: pl.Series) -> pl.Series:
    """Each line without the bars before its words; lines that hold none, and bars alone, as they are."""
    barred = text.str.contains_any(list(_MARKS)).arg_true()
    if not len(barred):
        return text
    lines = text.gather(barred)
    rest = lines.str.replace(_BAR, "").str.strip_chars_start()
    return text.clone().scatter(barred, rest.zip_with(rest != "", lines))  # which writes into the series


def bare(text: pl.Series) -> pl.Series:
    """Each line without indent, stamp and level before its words. Of levels only those of errors: what is said as a
    warning is no error.
    """
    return text.str.replace(_HEAD, "").str.strip_chars_start()
