"""A comparison of many runs for a terminal, as Markdown and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loganalyst.report import trust
from loganalyst.report.common.jsonvalues import plain
from loganalyst.report.common.layout import printed, text, wrapped
from loganalyst.report.common.markdowntext import bullets, escape, table
from loganalyst.report.comparison.part import Part
from loganalyst.report.comparison.sections import headline, parts

if TYPE_CHECKING:
    from rich.text import Text

    from loganalyst.comparing.comparisonresult import Comparison, Unrelated

SCHEMA_ID = "loganalyst/comparison/1"
MAX_WIDTH = 140
SINGLE = ("objective", "sensitivity", "corner", "seeds", "scaling")
MANY = ("duplicates", "regressions", "suggestions")


def render(
    found: "Comparison", *, width: int = 100, colour: bool = False, ascii_only: bool = False, top: int = 5
) -> str:
    """The report for a terminal, at most `width` columns wide, with the `top` best runs."""
    width = max(min(width, MAX_WIDTH), 40)
    first, *rest = headline(found)
    lines = [text((first, "bold")), *(line for note in rest for line in wrapped(text(note), width))]
    for part in parts(found, top):
        lines += [text(), *wrapped(text((part.title, "bold")), width), *_table(part, width)]
        lines += [line for note in part.notes for line in wrapped(text(note), width, text("  "), 4)]
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def _table(part: Part, width: int) -> "list[Text]":
    """Columns as wide as their widest cell. A line that is too long is cut."""
    if not part.rows:
        return []
    sizes = {i: max(len(row[i]) for row in (part.head, *part.rows)) for i in part.filled}
    lines = [_row(part.head, sizes, "dim"), *(_row(row, sizes, "") for row in part.rows)]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _row(cells: Sequence[str], sizes: dict[int, int], style: str) -> "Text":
    return text(("  " + "  ".join(f"{cells[i]:{size}}" for i, size in sizes.items()), style))


def render_markdown(found: "Comparison", *, top: int = 5) -> str:
    """The report as Markdown."""
    first, *rest = headline(found)
    blocks = [f"# {escape(first)}", *map(escape, rest)]
    for part in parts(found, top):
        blocks.append(f"## {escape(part.title)}")
        if part.rows:
            blocks.append(table([escape(name) for name in part.head], part.rows))
        blocks += [bullets(part.notes)] if part.notes else []
    return "\n\n".join(blocks) + "\n"


def data(found: "Comparison") -> dict[str, Any]:
    """The object of `compare --format json`."""
    whole = {
        "schema": SCHEMA_ID,
        "sets": found.sets,
        "runs": [_run(run) for run in found.runs.iter_rows(named=True)],
        "groups": found.groups.to_dicts(),
        "contrasts": found.contrasts.to_dicts(),
        **{name: _as_dict(getattr(found, name)) for name in SINGLE},
        **{name: [asdict(entry) for entry in getattr(found, name)] for name in MANY},
        "changed": found.changed,
        "unrelated": [_unrelated(group) for group in found.unrelated],
        **trust.counted(found.settings_obeyed, found.settings_ignored),
    }
    return plain(whole)  # type: ignore[no-any-return]


def _unrelated(group: "Unrelated") -> dict[str, Any]:
    """A group of unrelated runs: the names both groups share as counts, and its own comparison."""
    sides = {name: dict(zip(("shared", "of"), getattr(group, name), strict=True)) for name in ("settings", "metrics")}
    alone = None if group.comparison is None else data(group.comparison)
    return {"folder": group.folder, "runs": group.runs, **sides, "scale": group.scale, "comparison": alone}


def _as_dict(value: Any) -> dict[str, Any] | None:
    return None if value is None else asdict(value)


def _run(row: dict[str, Any]) -> dict[str, Any]:
    """A run, with its settings in an object `config`."""
    fields = {k: v for k, v in row.items() if not k.startswith("config.")}
    return {**fields, "config": {k.removeprefix("config."): v for k, v in row.items() if k.startswith("config.")}}
