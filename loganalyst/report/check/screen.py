"""Checked settings on a terminal: the verdict, each finding with its source, what is usual, and what was not found."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loganalyst.model import SettingFinding, SettingsCheck
from loganalyst.report.check import sentences
from loganalyst.report.common.jsonvalues import dumps, plain
from loganalyst.report.common.layout import LABEL, MAX_WIDTH, cells, field, printed, text, two_ended, wrapped
from loganalyst.report.common.wording import clean, shortlist

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["SCHEMA_ID", "data", "render", "render_json"]

SCHEMA_ID = "loganalyst/check/1"
VERDICTS = {"wrong": ("✗ ", "bold red"), "unusual": ("· ", "bold yellow"), "fine": ("✓ ", "bold green")}
MARKS = {"wrong": ("✗ wrong  ", "bold red"), "unusual": ("· unusual  ", "yellow")}
MAX_MISSING = 8  # settings that were not found, on the screen


def render(found: SettingsCheck, *, width: int = 100, colour: bool = False, ascii_only: bool = False) -> str:
    """The report for a terminal, at most `width` columns wide."""
    width = max(min(width, MAX_WIDTH), 40)
    lines = list(_head(found, width))
    for finding in found.findings:
        if finding.severity != "record":
            lines += [text(), *_finding(finding, width)]
    closing = list(_closing(found, width))
    return printed(
        [*lines, *([text(), *closing] if closing else [])], width=width, colour=colour, ascii_only=ascii_only
    )


def _head(found: SettingsCheck, width: int) -> "Iterator[Text]":
    words, weight = sentences.headline(found)
    mark, style = VERDICTS[weight]
    yield from two_ended(text((mark + words, style)), text((clean(found.path, 200), "dim")), width)
    yield from wrapped(text((sentences.kind(found), "dim")), width, indent=2)
    if found.facts:
        yield from wrapped(text(sentences.described(found)), width, indent=2)


def _finding(finding: SettingFinding, width: int) -> "Iterator[Text]":
    title = text(MARKS[finding.severity], (clean(finding.title, 120), "bold"))
    yield from two_ended(title, text((finding.topic, "dim")), width)
    yield from field("Found", sentences.found_and_usual(finding), width, 2)
    yield from field("Why", finding.why, width, 2)
    yield from field("Change", clean(finding.change, 400), width, 2)
    sources = " · ".join(map(sentences.short_source, finding.sources))
    yield from field("Source", text((sources, "dim")), width, 2)


def _closing(found: SettingsCheck, width: int) -> "Iterator[Text]":
    records = [f"{f.text}: {f.change}" for f in found.findings if f.severity == "record"]
    if records:
        yield from field("To record", " · ".join(records), width)
    yield from _usual(found, width)
    if found.missing:
        names = shortlist([sentences.missing(one) for one in found.missing], MAX_MISSING, " · ")
        yield from field("Not found", text((names, "dim")), width)
    for fault in found.faults:
        yield from field("Fault", clean(fault), width)


def _usual(found: SettingsCheck, width: int) -> "Iterator[Text]":
    """A line for each setting within its range: value, what it is, and the range."""
    rows = [sentences.usual(one) for one in found.usual]
    room = max((cells(value) for _, value, _ in rows), default=0)
    for i, (title, value, range_) in enumerate(rows):
        lead = text(("" if i else "Usual", "bold green"))
        lead.pad_right(LABEL - lead.cell_len)
        line = two_ended(text(f"{value:>{room}}  {title}"), text((range_, "dim")), width - LABEL, room + 2)
        for part in line:
            yield lead.append_text(part)
            lead = text(" " * LABEL)


def render_json(found: SettingsCheck, *, indent: int | None = 2) -> str:
    """The JSON text."""
    return dumps(data(found), indent)


def data(found: SettingsCheck) -> dict[str, Any]:
    """The JSON object, whose contract is `schema`."""
    return plain({"schema": SCHEMA_ID, "wrong": found.wrong, **asdict(found)})  # type: ignore[no-any-return]
