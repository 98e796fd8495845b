"""Results at a prompt and in a notebook: a diagnosis in at most ten lines, and small pieces of HTML.

The HTML has no script and loads nothing. All text of a run is escaped. The colours come from the page around it, which
may be light or dark.
"""

from collections.abc import Iterable, Sequence

from loganalyst.model import Cause, Diagnosis, Evidence, Run
from loganalyst.report.common.html.element import Child, Html, element
from loganalyst.report.common.sparkseries import EMPTY, LEVELS, NONFINITE, Series
from loganalyst.report.common.wording import clean, count, percent, size, step
from loganalyst.report.diagnosis.document import document

MAX_CAUSES = 5
MAX_LINE = 110  # columns
MAX_EVIDENCE = 3  # items of one cause
MAX_SOURCES = 8  # files of a run
CELL, HEIGHT = 5, 22  # pixels: width of a cell, height of a small curve
TONES = {"good": "#2a9d5c", "bad": "#d1495b", "unsure": "#c58b1b"}  # each readable on white and on black
BOX = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:60em;padding:.6em .9em"
QUIET = "opacity:.7"
TABLE = "border:0;border-collapse:collapse;margin:.4em 0;color:inherit;font:inherit"


def lines(d: Diagnosis) -> str:
    """The verdict, its confidence, the causes and their places, in at most ten lines."""
    doc = document(d, MAX_CAUSES)
    sure = f", {doc.sure} sure" if doc.sure else ""
    rows = [f"<Diagnosis of {doc.name}: {doc.headline}", f"  {d.status}{sure}: {doc.verdict}"]
    rows += [_line(cause) for cause in d.causes[:MAX_CAUSES]]
    if not d.causes and doc.symptoms:
        rows.append(f"  symptoms: {'; '.join(doc.symptoms[:2])}")
    rows.append(f"  read from {doc.path}")
    return "\n".join(_clean_line(row) for row in rows) + ">"


def _clean_line(row: str) -> str:
    """The line with its indent, in at most MAX_LINE visible characters."""
    indent = row[: len(row) - len(row.lstrip(" "))]
    return indent + clean(row, MAX_LINE - len(indent))


def _line(cause: Cause) -> str:
    where = _where(cause)
    return f"  {percent(cause.confidence)}  {cause.id}: {cause.issue}{f' ({where})' if where else ''}"


def _where(cause: Cause) -> str:
    """The place that shows the cause: `loss, step 660, train.log:12`, as far as these are known."""
    file = f"{cause.file}:{cause.line}" if cause.file and cause.line is not None else None
    at = f"step {step(cause.onset_step)}" if cause.onset_step is not None else None
    rank = f"rank {cause.rank}" if cause.rank is not None else None
    return ", ".join(filter(None, (cause.metric, at, file, rank)))


def diagnosis(d: Diagnosis) -> str:
    """A diagnosis as HTML: verdict, curves, causes with evidence and fix."""
    doc = document(d, MAX_CAUSES)
    colour = TONES[doc.tone]
    head = element(
        "div",
        element("b", doc.name),
        f" · {doc.headline}",
        element("div", element("b", doc.verdict, style=f"color:{colour}"), f" · {doc.sure} sure" if doc.sure else ""),
    )
    symptoms = [element("div", text) for text in doc.symptoms[:MAX_EVIDENCE]] if not d.causes else []
    drawn = element("table", map(_curve, doc.series), style=TABLE)
    advice = element("div", "Log next: ", "; ".join(doc.to_log[:3])) if doc.to_log and not d.causes else None
    more = ".plot() draws the curves, .to_html() is the whole report"
    return _box(
        colour, head, drawn if doc.series else None, symptoms, map(_cause, d.causes[:MAX_CAUSES]), advice, _quiet(more)
    )


def cause(found: Cause) -> str:
    """One cause as HTML: confidence, evidence and fix."""
    return _box(TONES["bad" if found.verdict == "likely" else "unsure"], _cause(found))


def run(read: Run) -> str:
    """What was read of a run, as HTML: its status, its files, and the amounts of data."""
    rows = [
        (clean(s.path, 80), s.format or "not read", size(s.bytes), count(s.points, "point") if s.points else "")
        for s in read.sources
    ]
    more = len(rows) - MAX_SOURCES
    metrics = read.points["metric"].n_unique() if read.points.height else 0
    amounts = [
        count(read.points.height, "point"), f"of {count(metrics, 'metric')}", count(read.config.height, "setting"),
        count(read.lines.height, "matched log line"), count(read.gaps.height, "gap"),
    ]  # fmt: skip
    return _box(
        "currentColor",
        element("div", element("b", clean(read.name, 80)), f" · {read.status}"),
        element("div", ", ".join(amounts).replace(", of", " of", 1)),
        _table(rows[:MAX_SOURCES]),
        _quiet(f"and {count(more, 'more file')}") if more > 0 else None,
    )


def _box(colour: str, *children: Child) -> Html:
    return element("div", *children, style=f"{BOX};border-left:4px solid {colour}")


def _quiet(text: str) -> Html:
    return element("div", text, style=QUIET)


def _cause(found: Cause) -> Html:
    """Title and confidence on one line; evidence and fix below."""
    where = _where(found)
    facts = [element("li", clean(e.text, 200), _place(e)) for e in _supporting(found.evidence)]
    fix = found.fix[0] if found.fix else None
    return element(
        "div",
        element("b", f"{percent(found.confidence)}  {clean(found.issue, 120)}"),
        element("span", f" {clean(where, 120)}", style=QUIET) if where else None,
        element("ul", facts, style="margin:.1em 0 .1em 1.2em;padding:0") if facts else None,
        element("div", element("b", "Change: "), clean(fix.change, 300)) if fix else None,
        style="margin:.5em 0",
    )


def _supporting(evidence: Iterable[Evidence]) -> Sequence[Evidence]:
    """The evidence for a cause, the strongest first, each text once."""
    held = {e.text: e for e in sorted(evidence, key=lambda e: e.weight) if e.holds and e.text}
    return [*held.values()][::-1][:MAX_EVIDENCE]


def _place(e: Evidence) -> Html | None:
    place = f" {clean(e.file, 80)}:{e.line}" if e.file and e.line is not None else ""
    return element("span", place, style=QUIET) if place else None


def _table(rows: Iterable[Sequence[str]]) -> Html:
    cell = "padding:0 1em 0 0;text-align:left;border:0"
    return element(
        "table",
        (element("tr", (element("td", text, style=cell) for text in row)) for row in rows),
        style=TABLE,
    )


def _curve(series: Series) -> Html:
    """The row of one curve: its name, its bars, and its first and last values."""
    cell = "padding:0 .8em 0 0;text-align:left;border:0"
    return element(
        "tr",
        element("td", clean(series.metric, 40), style=cell),
        element("td", _bars(series), style=cell),
        element("td", clean(series.values, 80), style=f"{cell};{QUIET}"),
    )


def _bars(series: Series) -> Html:
    """A bar for each cell, as high as its level; red where a value was NaN or infinite."""
    return element(
        "svg",
        (_bar(i, level) for i, level in enumerate(series.cells) if level != EMPTY),
        width=CELL * len(series.cells),
        height=HEIGHT,
        role="img",
        aria_label=f"curve of {clean(series.metric, 40)}",
    )


def _bar(i: int, level: int) -> Html:
    high = HEIGHT if level == NONFINITE else (level + 1) * (HEIGHT - 2) / LEVELS
    colour = TONES["bad"] if level == NONFINITE else "currentColor"
    return element("rect", x=CELL * i, y=HEIGHT - high, width=CELL - 1, height=high, fill=colour, opacity=0.75)
