"""The answer for one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import polars as pl

from loganalyst.model.baseline import Baseline
from loganalyst.model.causes import Cause, Decider, Note, QuickFix, Rival, RuledOut, Symptom
from loganalyst.model.features import Features
from loganalyst.model.run import Run, SettingsFile
from loganalyst.model.shortrepr import Short
from loganalyst.model.signals import Curve, Metric
from loganalyst.model.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Status = Literal["diagnosis_complete", "cause_unknown", "healthy", "insufficient_data", "unreadable"]


@dataclass(frozen=True)
class Onset:
    """When a metric left its usual course for the worse: first at `step`, somewhere in `low`..`high`, in steps of the
    run's busiest metric; `found` is the step of the finding, in the metric's own.
    """

    metric: str
    role: str
    kind: str
    session: int
    step: int
    low: float
    high: float
    found: int
    file: str | None = None

    def before(self, other: "Onset") -> float:
        """The probability that this was before the other, each anywhere in its interval alike; where those do not
        overlap 0.99, for one onset in a hundred is placed wrong (`tests/bench/onset_order.py`).
        """
        (low, high), (begin, end) = self._span(), other._span()

        def area(x: float) -> float:
            """Integral, up to x, of the share of this interval that lies below."""
            inside = min(max(x - low, 0.0), high - low)
            return inside * inside / (2 * (high - low)) + max(x - high, 0.0)

        return min(max((area(end) - area(begin)) / (end - begin), 0.01), 0.99)

    def _span(self) -> tuple[float, float]:
        """The interval; of a single step half a step to either side."""
        return (self.low, self.high) if self.low < self.high else (self.low - 0.5, self.low + 0.5)


@dataclass(frozen=True, repr=False)
class TimelineEvent(Short):
    """One thing that happened, in causal order. Where a metric left its usual course, it did so within `low`..`high`
    (steps); `after` names the one that had done so before it, `lag` the steps between, `confidence` the probability of
    this order.
    """

    step: int | None
    time: datetime | None
    metric: str | None
    kind: str
    text: str
    low: float | None = None
    high: float | None = None
    after: str | None = None
    lag: int | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class SessionSummary:
    """One start of the program, for the report: its job, and the line that says why it ended, with rank and node."""

    index: int
    first_line: int | None
    last_line: int | None
    status: str
    label: str | None
    job: str | None = None
    file: str | None = None
    line: int | None = None
    rank: int | None = None
    node: str | None = None


@dataclass(frozen=True, repr=False)
class Excerpt(Short):
    """Lines of a log around the one that shows a cause: `lines` from line `first_line` on, `marked` that line's number
    (both from 1).
    """

    file: str
    first_line: int
    lines: tuple[str, ...]
    marked: int


@dataclass(frozen=True, repr=False)
class Diagnosis(Short):
    """The answer for one run. `causes` is ranked (at most five), empty for a healthy run. `decide` says what would
    settle it where it is not sure (below 0.70), `rivals` what a run may have that seems healthy and is doubted.
    `settings_obeyed` names every file and folder of the user's that had a say, `settings_ignored` those that had none,
    for they came with the run.

    >>> import loganalyst as la
    >>> la.diagnose("fixtures/runs/nan-lr")
    <Diagnosis of nan-lr: FAILED at step 660 of 3,000 after 5 min 30 s
      diagnosis_complete, 93 % sure: Learning rate too high
      93 % lr-too-high: Learning rate too high (train/loss, step 626)
      read from fixtures/runs/nan-lr>
    """

    run: Run
    status: Status
    confidence: float
    metrics: tuple[Metric, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=dict)
    sessions: tuple[SessionSummary, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    causes: tuple[Cause, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    unknown: tuple[RuledOut, ...] = ()
    timeline: tuple[TimelineEvent, ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    features: Features = field(default_factory=lambda: Features({}))
    findings: pl.DataFrame = field(default_factory=lambda: table("findings"))
    curves: Sequence[Curve] = ()
    baseline: Baseline | None = None
    ignored_findings: tuple[str, ...] = ()
    settings_obeyed: tuple[SettingsFile, ...] = ()
    settings_ignored: tuple[SettingsFile, ...] = ()
    notes: tuple[Note, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    decide: tuple[Decider, ...] = ()
    quick_fixes: tuple[QuickFix, ...] = ()
    rivals: tuple[Rival, ...] = ()

    def __repr__(self) -> str:
        from loganalyst.report import prompt

        return prompt.lines(self)

    def _repr_html_(self) -> str:
        """The diagnosis as a notebook shows it."""
        from loganalyst.report import prompt

        return prompt.diagnosis(self)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/diagnosis/1).

        >>> import json
        >>> import loganalyst as la
        >>> json.loads(la.diagnose("fixtures/runs/nan-lr").to_json())["root_causes"][0]["id"]
        'lr-too-high'
        """
        from loganalyst.report.diagnosis import asjson

        return asjson.render(self, indent=indent)

    def to_markdown(self) -> str:
        """The full report as Markdown.

        >>> import loganalyst as la
        >>> print(la.diagnose("fixtures/runs/nan-lr").to_markdown().splitlines()[0])
        # nan-lr: Learning rate too high
        """
        from loganalyst.report.diagnosis import markdown

        return markdown.render(self)

    def to_html(self) -> str:
        """The report as one HTML file, with plots; it loads nothing.

        >>> import loganalyst as la
        >>> la.diagnose("fixtures/runs/nan-lr").to_html()[:15]
        '<!doctype html>'
        """
        from loganalyst.report.diagnosis import html

        return html.render(self)

    @overload
    def plot(self, path: None = None, metrics: Sequence[str] = ()) -> "Figure": ...

    @overload
    def plot(self, path: str | Path, metrics: Sequence[str] = ()) -> None: ...

    def plot(self, path: str | Path | None = None, metrics: Sequence[str] = ()) -> "Figure | None":
        """Draw the curves that tell most, or these `metrics`, over their steps, with what was found on them.

        Without `path` the matplotlib figure is returned: a notebook shows it, and pyplot knows nothing of it. With
        `path` it is written there, as its suffix says (.png, .svg or .pdf), and nothing is returned.

        Raises SourceError for a metric that the run does not have, LogAnalystError where there is no curve, for another
        suffix, and for a path inside the run or one that cannot be written.

        >>> import loganalyst as la
        >>> figure = la.diagnose("fixtures/runs/nan-lr").plot(metrics=["train/loss"])
        >>> [ax.get_title(loc="left") for ax in figure.axes]
        ['train/loss']
        """
        from loganalyst.report.diagnosis import plot

        if path is None:
            return plot.drawn(self, metrics)
        plot.save(self, Path(path), metrics)
        return None
