"""`loganalyst show`: what was read of a run, one of its metrics, or its features, in columns for a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loganalyst.errors import SourceError, nearest
from loganalyst.model import Curve, Diagnosis, Feature, HealthyPlace, Metric
from loganalyst.report import featurerows
from loganalyst.report.common.layout import MAX_WIDTH, bars, cells, cut, padded, printed, text, wrapped
from loganalyst.report.common.sparkseries import chart
from loganalyst.report.common.wording import clean, count, number, shortlist, size, span, step
from loganalyst.report.diagnosis.document import Document, document

if TYPE_CHECKING:
    from rich.text import Text

MAX_SETTINGS = 40
MAX_TITLES = 4  # causes named for one missing metric
MIN_WIDTH_FOR_REASON = 80  # columns from which on the reason for a role has room
MIN_LAST_COLUMN = 20  # columns of a table's last column
MAX_ENDS = 5  # first and last values of a metric that are shown
AMONG = ", with the percentile among healthy runs of its kind"
COVERAGE = {"full": "examined in full", "screened": "screened only", "skipped": "shape not judged"}


def render(diagnosis: Diagnosis, *, width: int = 100, colour: bool = False, ascii_only: bool = False) -> str:
    """Sources, metrics with their roles and reasons, config, gaps and coverage."""
    width = max(min(width, MAX_WIDTH), 40)
    doc = document(diagnosis)
    lines = wrapped(text((doc.name, "bold"), "   ", doc.headline), width)
    lines += _table(
        [("Training", doc.training or "kind not known"), *((row.label, row.text) for row in doc.facts)], width
    )
    lines += _section("Sources", _table(_sources(diagnosis), width))
    metrics = [row if width >= MIN_WIDTH_FOR_REASON else row[:-1] for row in _metrics(diagnosis)]
    lines += _section("Metrics", _table(metrics, width, whole=False))
    lines += _section("Config", _table(_config(diagnosis.run.config), width))
    lines += _section("Not read", _table([(r.label, r.text) for r in doc.gaps], width))
    lines += _section("Settings", _table([(r.label, r.text) for r in doc.settings], width))
    lines += _section("Coverage", _coverage(diagnosis, doc, width))
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def render_metric(
    diagnosis: Diagnosis, metric: str, *, width: int = 100, colour: bool = False, ascii_only: bool = False
) -> str:
    """One metric: its curve, statistics, findings, and first and last values.

    Raises SourceError for a name the run does not have.
    """
    curve = _curve(diagnosis, metric)
    width = max(min(width, MAX_WIDTH), 40)
    logged = next((m for m in diagnosis.metrics if m.name == metric), None)
    role, why = (_role(logged), logged.why) if logged else (curve.role.name, "made of logged metrics")
    lines = wrapped(text((clean(metric, 120), "bold"), f"   {role} ({clean(why, 120)})"), width)
    lines += [text("  ").append_text(bars(s)) for s in chart([curve], None, width - 4)]
    lines += _section("Statistics", _table(_statistics(curve), width))
    found = diagnosis.findings.filter(pl.col("metric") == metric).sort("step")
    lines += _section("Found", _table([*_findings(found)], width))
    lines += _section("Values", _table([*_values(curve)], width))
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def render_features(
    diagnosis: Diagnosis,
    declared: Mapping[str, Feature],
    healthy: Mapping[str, HealthyPlace],
    *,
    width: int = 100,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """Every feature with value, unit, place among healthy runs, and origin. An unknown feature names what to log."""
    width = max(min(width, MAX_WIDTH), 40)
    listed = list(featurerows.rows(diagnosis, declared, healthy))
    known: list[Sequence[str]] = [
        (r.feature.name, f"{_value(r.value)} {clean(r.feature.unit)}".rstrip(), *_among(r, healthy), r.origin())
        for r in listed
        if r.value is not None
    ]
    head: list[Sequence[str]] = [("feature", "value", "percentile", "seen in")] if healthy else []
    unknown = [
        (r.feature.name, f"needs {clean(r.feature.needs)}", clean(r.feature.meaning)) for r in listed if r.value is None
    ]
    lines = _section(f"Known ({len(known)}){AMONG if healthy else ''}", _table(head + known, width))[1:]
    lines += _section(f"Not known ({len(unknown)})", _table(unknown, width))
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def _section(title: str, lines: "list[Text]") -> "list[Text]":
    return [text(), text((title, "bold")), *lines] if lines else []


def _table(rows: Sequence[Sequence[str]], width: int, *, whole: bool = True) -> "list[Text]":
    """Columns as wide as their widest cell. The widest columns shrink until the last column has room.

    A last cell that is too long wraps if `whole`, and is cut otherwise.
    """
    if not rows:
        return []
    widths = [max(cells(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    while sum(widths) + 2 * len(widths) + 2 > width - min(MIN_LAST_COLUMN, max(cells(row[-1]) for row in rows)):
        widths[widths.index(max(widths))] -= 1
    lines: list[Text] = []
    for row in rows:
        first = text("  " + "".join(f"{padded(cell, w)}  " for cell, w in zip(row, widths, strict=False)))
        last = row[-1] if whole else cut(row[-1], max(width - first.cell_len, MIN_LAST_COLUMN))
        lines += wrapped(text(last), width, first, first.cell_len)
    return lines


def _sources(d: Diagnosis) -> list[Sequence[str]]:
    return [
        (
            clean(s.path, 120),
            s.format or "not read",
            size(s.bytes),
            " ".join(count(n, unit) for n, unit in ((s.points, "point"), (s.lines, "line")) if n),
        )
        for s in d.run.sources
    ]


def _metrics(d: Diagnosis) -> list[Sequence[str]]:
    """Name, role, number of points, first and last value, number of non-finite values, and the reason for the role."""
    curves = {c.metric: c for c in d.curves if len(c.values)}
    rows = [
        (clean(m.name, 120), _role(m), f"{m.points:,}", _ends(curves.get(m.name), m.nonfinite), clean(m.why))
        for m in d.metrics
    ]
    return [("metric", "role", "points", "values", "why this role"), *rows] if rows else []


def _role(metric: Metric) -> str:
    return f"{metric.role} (unsure)" if metric.role_unsure else metric.role


def _ends(curve: Curve | None, nonfinite: int) -> str:
    if curve is None:
        return ""
    ends = dict.fromkeys((number(float(curve.values[0])), number(float(curve.values[-1]))))
    return " → ".join(ends) + (f" ({nonfinite:,} not finite)" if nonfinite else "")


def _config(config: pl.DataFrame) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [
        (clean(r["key"], 120), clean(r["value"], 120), clean(r["origin"] or "", 120))
        for r in config.head(MAX_SETTINGS).iter_rows(named=True)
    ]
    left_out = config.height - MAX_SETTINGS
    return [*rows, ("…", "", f"and {left_out:,} more")] if left_out > 0 else rows


def _coverage(d: Diagnosis, doc: Document, width: int) -> "list[Text]":
    """How many curves were examined, and which causes cannot be judged."""
    examined = [f"{d.coverage[k]} {words}" for k, words in COVERAGE.items() if d.coverage.get(k)]
    lines = _table([("curves", ", ".join(examined))], width) if examined else []
    for n in doc.not_judged:
        titles = shortlist(n.titles, MAX_TITLES)
        lines += wrapped(text(f"{n.why}: ", (f"not judged: {titles}", "dim")), width, text("  - "), 4)
    return lines


def _curve(d: Diagnosis, metric: str) -> Curve:
    names = {c.metric: c for c in d.curves}
    if metric not in names:
        hint = nearest(metric, names) or f"loganalyst show {d.run.path} lists them"
        raise SourceError(d.run.path, f"no metric {metric!r}", hint)
    return names[metric]


def _statistics(curve: Curve) -> list[Sequence[str]]:
    finite = curve.values[np.isfinite(curve.values)]
    rows = [
        ("points", f"{len(curve.values):,}"),
        ("not finite", f"{len(curve.values) - len(finite):,}"),
        ("steps", span(int(curve.steps[0]), int(curve.steps[-1])) if len(curve.steps) else "none"),
    ]
    if len(finite):
        names = ("min", "5 %", "median", "95 %", "max")
        rows += list(zip(names, map(number, np.quantile(finite, [0, 0.05, 0.5, 0.95, 1])), strict=True))
    return list(rows)


def _findings(found: pl.DataFrame) -> Iterable[Sequence[str]]:
    for f in found.iter_rows(named=True):
        extent = f"step {span(f['step'], f['end_step'])}"
        yield f["kind"], extent, f"effect {number(f['effect'])}, significance {number(f['significance'])}"


def _values(curve: Curve) -> Iterable[Sequence[str]]:
    """The first and last points."""
    n = len(curve.values)
    shown = sorted({*range(min(MAX_ENDS, n)), *range(max(n - MAX_ENDS, 0), n)})
    for before, i in zip([-1, *shown], shown, strict=False):
        if i > before + 1:
            yield "…", f"{i - before - 1:,} more"
        yield f"step {step(int(curve.steps[i]))}", number(float(curve.values[i]))


def _among(row: featurerows.Row, healthy: Mapping[str, HealthyPlace]) -> tuple[str, ...]:
    """The cell with the place among healthy runs, `93 of 212 detection`. No cell if no feature has one."""
    place = row.healthy
    if place is None:
        return ("",) if healthy else ()
    percentile = 50 * (1 + place.below - place.above)
    return (f"{percentile:.0f} of {place.runs:,} {place.kind}".rstrip(),)


def _value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return clean(value, 60)
    return number(value)
