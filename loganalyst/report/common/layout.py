"""Lines of styled text for a terminal: hanging indents, two-ended lines, sparklines and an ASCII fallback."""

from collections.abc import Iterable, Sequence
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING

from loganalyst.report.common.sparkseries import EMPTY, NONFINITE, Series

if TYPE_CHECKING:
    from rich.text import Text

BARS = "▁▂▃▄▅▆▇█"
MAX_WIDTH = 108  # longer lines are hard to read
NO_BREAK = "\ue000"  # a private character that replaces a blank where no line may break
LABEL = 11  # columns of a label such as "Evidence"

_PLAIN = ["✓+", "✗x", "▲^", "–-", "—-", "×x", "≈~", "│|", '“"', '”"', "‘'", "’'"]
ASCII = str.maketrans(
    dict(zip(BARS, "_.-~=+*#", strict=True))
    | {"─": "-"}
    | {pair[0]: pair[1] for pair in _PLAIN}
    | {"→": "->", "·": " ", "\u00a0": " ", "…": "...", "≤": "<=", "≥": ">=", "±": "+-", "°": " deg"}
)


def text(*parts: str | tuple[str, str]) -> "Text":
    """Text of plain and (words, style) parts, in which markup has no effect."""
    from rich.text import Text

    return Text.assemble(*parts)


def wrapped(content: "Text", width: int, first: "Text | None" = None, indent: int = 0) -> "list[Text]":
    """`content` in lines of `width` columns. `first` (`indent` columns) opens the first line, blanks the others."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width)
    held = content.copy()
    held.plain = held.plain.replace(" %", f"{NO_BREAK}%")
    lines = list(held.wrap(console, max(width - indent, 20), overflow="fold")) or [text()]
    for line in lines:
        line.plain = line.plain.replace(NO_BREAK, " ")
    lead = first if first is not None else text(" " * indent)
    lead.pad_right(max(indent - lead.cell_len, 0))
    return [(lead if i == 0 else text(" " * indent)).append_text(line) for i, line in enumerate(lines)]


def field(label: str, content: "str | Text", width: int, margin: int = 0) -> "list[Text]":
    """A labelled paragraph with a hanging indent."""
    body = text(content) if isinstance(content, str) else content
    return wrapped(body, width, text(" " * margin, (label, "bold")), margin + LABEL)


def two_ended(left: "Text", right: "Text", width: int, indent: int = 2) -> "list[Text]":
    """`left`, and `right` at the end of the line if both fit, otherwise on a line of its own."""
    if left.cell_len + 2 + right.cell_len <= width:
        left.pad_right(width - left.cell_len - right.cell_len)
        return [left.append_text(right)]
    first, *rest = wrapped(left, width - indent)
    return [first, *(text(" " * indent).append_text(line) for line in rest), *wrapped(right, width, indent=indent)]


def bars(series: Series) -> "Text":
    """The curve as one line, with another colour from the onset on."""
    onset = len(series.cells) if series.onset is None else series.onset
    cells = ((i >= onset, *_cell(level)) for i, level in enumerate(series.cells))
    out = text()
    for (late, style), group in groupby(cells, key=lambda cell: (cell[0], cell[2])):
        out.append("".join(cell[1] for cell in group), style or ("yellow" if late else "cyan"))
    return out


def _cell(level: int) -> tuple[str, str]:
    """Sign and style of one cell; the style is empty where the side of the onset decides it."""
    special = {NONFINITE: ("✗", "bold red"), EMPTY: ("·", "dim")}
    return special[level] if level in special else (BARS[level], "")


def cells(words: str) -> int:
    """The width of the words in columns of a terminal; a Chinese character takes two."""
    from rich.cells import cell_len

    return len(words) if words.isascii() else cell_len(words)


def cut(words: str, limit: int) -> str:
    """The words in at most `limit` columns, with `…` for a cut end."""
    from rich.cells import set_cell_size

    return words if cells(words) <= limit else f"{set_cell_size(words, limit - 1).rstrip()}…"


def shortened(name: str, limit: int) -> str:
    """A long name without its middle, because both ends distinguish metrics."""
    if cells(name) <= limit:
        return name
    if cells(name) > len(name):
        return cut(name, limit)
    return name[: limit // 2 - 1] + "…" + name[len(name) - (limit - limit // 2) :]


def padded(words: str, width: int) -> str:
    """The words in exactly `width` columns, padded or shortened."""
    shown = shortened(words, width)
    return shown + " " * (width - cells(shown))


def curves(series: Sequence[Series], onset: str, width: int) -> "list[Text]":
    """The curves in rows with their values, and the onset marked below them."""
    if not series:
        return []
    limit = max(width // 4, 10)
    name_width = min(max(len(s.metric) for s in series), limit)
    lines = []
    for s in series:
        row = text("  ", f"{shortened(s.metric, limit):{name_width}}  ").append_text(bars(s))
        lines += two_ended_left(row, s.values + ("" if s.aligned else " (own axis)"), width, name_width + 4)
    marked = next((s for s in series if s.onset is not None), None)
    if marked is not None and marked.onset is not None:
        label = onset + (f" (enlarged {marked.enlarged} it)" if marked.enlarged else "")
        column = name_width + 4 + marked.onset
        fits = column + 2 + len(label) <= width
        parts = [" " * column, "▲ ", label] if fits else [" " * (column - len(label) - 1), label, " ▲"]
        lines.append(text(parts[0], ("".join(parts[1:]), "yellow")))
    return lines


def two_ended_left(row: "Text", values: str, width: int, indent: int) -> "list[Text]":
    """A curve followed by its values, which go to the next line if they do not fit."""
    if row.cell_len + 3 + len(values) <= width:
        return [row.append("   " + values, "dim")]
    return [row, *wrapped(text((values, "dim")), width, indent=indent)]


def printed(lines: "Iterable[Text]", *, width: int, colour: bool, ascii_only: bool) -> str:
    """The lines as a string, with ANSI colours or plain, without trailing blanks."""
    lines = list(lines)
    for line in lines:
        line.rstrip()
    out = _coloured(lines, width) if colour else "".join(f"{line.plain}\n" for line in lines)
    return out.replace(" · ", "; ").replace(" ·\n", ";\n").translate(ASCII) if ascii_only else out


def _coloured(lines: "Iterable[Text]", width: int) -> str:
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        force_terminal=True,
        color_system="standard",
        width=max(width, 400),
        highlight=False,
        markup=False,
        emoji=False,
    )
    for line in lines:
        console.print(line, soft_wrap=True)
    return out.getvalue()
