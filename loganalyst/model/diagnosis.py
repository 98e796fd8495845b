"""The answer for one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import polars as pl

from loganalyst.model.baseline import Baseline
from loganalyst.model.causes import (
    Alternative,
    Cause,
    Decider,
    DecidingScript,
    Note,
    QuickFix,
    Rival,
    RuledOut,
    Symptom,
)
from loganalyst.model.features import Features
from loganalyst.model.restarts import Restart
from loganalyst.model.run import Run, SettingsFile
from loganalyst.model.shortrepr import Short
from loganalyst.model.signals import Curve, Metric
from loganalyst.model.tables import table
from loganalyst.model.trainingkinds import TrainingKind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Status = Literal["diagnosis_complete", "cause_unknown", "healthy", "insufficient_data", "unreadable"]


@dataclass(frozen=True)
class Onset:
    """When a metric left its usual course for the worse: first at `step`, within `low`..`high`.

    These are steps of the run's most frequent metric; `found` is the step of the finding in the metric's own steps.
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
        """The probability that this onset came before the other, each uniformly distributed in its interval.

        It is at most 0.99, because one onset in a hundred is misplaced (`tests/bench/onset_order.py`).
        """
        (low, high), (begin, end) = self._span(), other._span()

        def area(x: float) -> float:
            """Integral, up to x, of the share of this interval that lies below x."""
            inside = min(max(x - low, 0.0), high - low)
            return inside * inside / (2 * (high - low)) + max(x - high, 0.0)

        return min(max((area(end) - area(begin)) / (end - begin), 0.01), 0.99)

    def _span(self) -> tuple[float, float]:
        """The interval; a single step becomes one step wide."""
        return (self.low, self.high) if self.low < self.high else (self.low - 0.5, self.low + 0.5)


@dataclass(frozen=True, repr=False)
class TimelineEvent(Short):
    """One event, in causal order.

    If a metric left its usual course, it did so within `low`..`high` (steps). `after` names the metric that left before
    it, `lag` is the number of steps between them, `confidence` the probability of this order.
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
    """One session, for the report: its job, and the line that states why it ended, with rank, node, pattern and text.

    `last_step` is known of a run with several sessions.
    """

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
    pattern: str | None = None
    message: str | None = None
    last_step: int | None = None


@dataclass(frozen=True, repr=False)
class Excerpt(Short):
    """Lines of a log around the line that shows a cause.

    `lines` begin at line `first_line`; `marked` is the number of the line (both from 1).
    """

    file: str
    first_line: int
    lines: tuple[str, ...]
    marked: int


@dataclass(frozen=True, repr=False)
class Diagnosis(Short):
    """The answer for one run.

    `causes` is ranked (at most five), empty for a healthy run. `alternatives` are less likely causes that evidence
    supports, `ruled_out` are causes that evidence excludes, `not_supported` those that were looked for and not found,
    `unknown` those that were not checked for lack of data. `decide` says what would settle an unsure answer (below
    0.70). `trainer` is the title of the recognised trainer, `training_kind` the kind of training if something suggests
    one. `rivals` are causes that a run with doubtful health may have. `settings_obeyed` names the user's files and
    folders that took effect, `settings_ignored` those that did not, because they came with the run. `restart` is the
    verdict on a restart of a run that was broken off. `scripts` are diagnostic scripts that would settle an unsure
    answer.

    >>> import loganalyst as la
    >>> la.diagnose("fixtures/runs/nan-lr")
    <Diagnosis of nan-lr: FAILED at step 660 of 3,000 after 5 min 30 s
      diagnosis_complete, 89 % sure: Learning rate too high
      89 % lr-too-high: Learning rate too high (train/loss, step 626)
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
    alternatives: tuple[Alternative, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    not_supported: tuple[RuledOut, ...] = ()
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
    trainer: str | None = None
    training_kind: TrainingKind | None = None
    restart: Restart | None = None
    scripts: tuple[DecidingScript, ...] = ()

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
        """Draw the most relevant curves, or these `metrics`, over their steps, with their findings.

        Without `path` it returns the matplotlib figure, which is not registered with pyplot. With `path` it writes the
        figure there, in the format of the suffix (.png, .svg or .pdf), and returns nothing.

        Raises SourceError for a metric that the run does not have. Raises LogAnalystError if there is no curve, for
        another suffix, and for a path that is inside the run or cannot be written.

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
