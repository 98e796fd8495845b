"""What stands behind a progress bar on its line: a bar ends in no line feed, so the next words are glued to it."""

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


def behind(text: pl.Series) -> pl.Series:
    """Each line without the bars before its words; lines that hold none, and bars alone, as they are."""
    barred = text.str.contains_any(list(_MARKS)).arg_true()
    if not len(barred):
        return text
    lines = text.gather(barred)
    rest = lines.str.replace(_BAR, "").str.strip_chars_start()
    return text.scatter(barred, rest.zip_with(rest != "", lines))
