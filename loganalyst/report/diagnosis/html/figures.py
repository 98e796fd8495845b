"""The curves of a run on one step axis, with the timeline and the layers below them; and the script's data."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import polars as pl

from loganalyst.model import Curve, Diagnosis
from loganalyst.report.common.curvemarks import MARKS, ONSET, findings_on
from loganalyst.report.common.html.element import Child, Html, element
from loganalyst.report.common.sparkseries import course
from loganalyst.report.common.wording import clean, count, number, shortlist, span, step
from loganalyst.report.diagnosis.document import Document
from loganalyst.report.diagnosis.html import draw, heat, marks, plotlayout, strip
from loganalyst.report.diagnosis.html.axis import Axis
from loganalyst.report.diagnosis.html.curves import MAX_EMBEDDED_POINTS, MIN_EMBEDDED_POINTS, Panel, panels
from loganalyst.report.diagnosis.html.plotlayout import Plot, steps_axis

HELP = (
    "Drag across a plot to zoom, double-click to see all. With a plot in focus: the wheel or + and − zoom, "
    "← and → read out point by point, Esc shows all."
)
MAX_NAMED_STEPS = 3  # of one kind of finding
MAX_PANELS_BEFORE_TIMELINE = 4
MAX_EVENTS = 60


def figures(d: Diagnosis, doc: Document) -> tuple[list[Html], dict[str, Any]]:
    """Panels, timeline and heat map, and their data by panel id."""
    chosen = panels(d)
    if not chosen:
        return [], {}
    share = max(MAX_EMBEDDED_POINTS // sum(len(p.curves) for p in chosen), MIN_EMBEDDED_POINTS)
    common = [c for p in chosen if p.shared for c in p.curves]
    x = steps_axis(common or chosen[0].curves)
    onset = d.causes[0].onset_step if d.causes else None
    onset = onset if onset is not None and x.low <= onset <= x.high else None
    plots = [plotlayout.plot(p, x if p.shared else steps_axis(p.curves), share) for p in chosen]
    drawn = [_figure(f"p{i}", p, d, onset) for i, p in enumerate(plots)]
    packed: dict[str, Any] = {f"p{i}": draw.packed(p) for i, p in enumerate(plots)}
    first = min(sum(p.shared and not p.machine for p in chosen), MAX_PANELS_BEFORE_TIMELINE)
    layers = heat.heat(d, x)
    events = _timeline(d, doc, x)
    if layers is not None:
        packed["layers"] = heat.packed(layers)
    parts: list[Child] = [element("div", _legend(drawn), element("p", HELP, class_="help")), drawn[:first], events]
    parts += [_layers(layers, onset)] if layers is not None else []
    judged = [f for f, p in zip(drawn, chosen, strict=True) if not p.machine][first:]
    machine = [f for f, p in zip(drawn, chosen, strict=True) if p.machine]
    parts += [judged, [element("h3", "The machine"), machine] if machine else None]
    return [element("div", parts, class_="figures")], packed


def _figure(id_: str, plot: Plot, d: Diagnosis, onset: int | None) -> Html:
    """One panel: title, curves with their read-out, picture, and a description."""
    sentences = [_described(c, d.findings) for c in plot.panel.curves]
    if plot.outside:
        sentences.append(f"{count(plot.outside, 'value')} outside the picture, up to {number(plot.farthest)}.")
    words = " ".join(sentences)
    picture = draw.svg(plot, d.findings, onset, f"{plot.panel.title}. {words}")
    return _framed(id_, plot.panel, picture, words)


def _framed(id_: str, panel: Panel, picture: Html, words: str) -> Html:
    keys = [
        element("li", element("span", class_=f"key k{i}"), element("span", clean(c.metric, 80)), " ", element("output"))
        for i, c in enumerate(panel.curves)
    ]
    unit = None if panel.shared else "steps as this metric counts them"
    return element(
        "figure",
        element("div", element("h3", panel.title), element("ul", keys, class_="keys"), class_="head"),
        _stage(panel.title, picture),
        element("figcaption", words, element("em", f" {unit}") if unit else None),
        class_="panel",
        data_panel=id_,
        data_axis="run" if panel.shared else id_,
    )


def _stage(title: str, picture: Html) -> Html:
    """The element that takes the focus and the pointer."""
    return element(
        "div",
        picture,
        class_="stage",
        tabindex="0",
        role="group",
        aria_label=f"{title}: plot",
        aria_roledescription="plot",
    )


def _described(curve: Curve, findings: pl.DataFrame) -> str:
    """A sentence about a curve: its course, and the findings on it."""
    steps = span(int(curve.steps[0]), int(curve.steps[-1]))
    text = f"{clean(curve.metric, 80)}: {course(curve.values)} over steps {steps}"
    found = findings_on(curve, findings)
    by_kind = {kind: found.filter(pl.col("kind") == kind)["step"].to_list() for kind in MARKS}
    found_words = [
        f"{MARKS[kind][2]} at step {shortlist([*map(step, steps)], MAX_NAMED_STEPS)}"
        for kind, steps in by_kind.items()
        if steps
    ]
    return "; ".join([text, *found_words]) + "."


def _legend(drawn: Iterable[Html]) -> Html:
    """A sign for each kind of mark that any panel shows."""
    text = "".join(chain.from_iterable(drawn))
    words = {"onset": ONSET, **{kind: mark[2] for kind, mark in MARKS.items()}}
    there = [kind for kind in words if f' m-{kind}"' in text]
    items = [element("li", element("span", class_=f"key m-{kind}"), words[kind]) for kind in there]
    return element("ul", items, class_="keys marks-legend") if items else Html()


def _timeline(d: Diagnosis, doc: Document, x: Axis) -> Html | None:
    """The strip of numbered signs, and the list of events below it."""
    events = d.timeline[:MAX_EVENTS]
    if not events:
        return None
    height = strip.height(events, x)
    words = f"{count(len(events), 'event')} at their steps, numbered as in the list below."
    stage = _stage("Timeline", strip.svg(events, x, _ticks(x, height), words)) if height else None
    items = [
        element("li", element("b", f"{row.label}: ") if row.label else None, row.text)
        for row in doc.timeline[: len(events)]
    ]
    return element(
        "figure",
        element("div", element("h3", "What happened, in order"), class_="head"),
        stage,
        element("ol", items, class_="events"),
        class_="panel timeline",
        data_axis="run",
    )


def _ticks(x: Axis, height: int) -> Html:
    return Html("".join(draw.step_ticks(x, height)))


def _layers(h: heat.Heat, onset: int | None) -> Html:
    words = heat.words(h)
    foot = element("path", d=f"M0 0V{h.height}")
    mark = marks.at_step(h.x, onset, [foot], "onset") if onset is not None else None
    key = element("li", element("output"))
    return element(
        "figure",
        element(
            "div", element("h3", "Gradient by layer"), element("ul", key, class_="keys"), heat.legend(h), class_="head"
        ),
        _stage("Gradient by layer", heat.svg(h, _ticks(h.x, h.height), mark, words)),
        element("figcaption", words),
        class_="panel layers",
        data_panel="layers",
        data_axis="run",
    )
