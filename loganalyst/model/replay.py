"""The results of experiments on a checkpoint, and their effect on the causes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from loganalyst.model.diagnosis import Diagnosis
from loganalyst.model.inspection import Inspection
from loganalyst.model.shortrepr import Short


@dataclass(frozen=True, repr=False)
class Measured(Short):
    """One run of an experiment.

    `outcome` is one of its outcomes in rules/replay.yaml, or `inconclusive`. `text` says what was measured.
    `reproduced`: whether the unchanged replay shows the fault (None: not tested). `values` are named numbers or words.
    `series` are named losses with one value per step, from the training's step `start` (counted from 0) on.
    """

    outcome: str
    text: str
    reproduced: bool | None = None
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    start: int = 0


@dataclass(frozen=True, repr=False)
class Experiment(Short):
    """A finished experiment: its question, the meanings of its outcomes, stated before it ran, and its outcome.

    `outcome` is the outcome of most `runs` (one per seed). `weights` are its log-likelihood ratios for causes, by id:
    above 0 it confirms a cause, below 0 it refutes the cause.
    """

    name: str
    question: str
    means: Mapping[str, str]
    outcome: str
    text: str
    runs: tuple[Measured, ...]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def reproduced(self) -> bool | None:
        """Whether the unchanged replay shows the fault."""
        return next((run.reproduced for run in self.runs if run.outcome == self.outcome), None)


HypothesisVerdict = Literal["confirmed", "refuted", "open"]


@dataclass(frozen=True, repr=False)
class Hypothesis(Short):
    """A cause before and after its experiments.

    `verdict` is `open` if no experiment decided. `under` is the likelier cause whose consequence it is.
    """

    id: str
    label: str
    issue: str
    before: float
    after: float
    band: Literal["high", "medium", "low"]
    verdict: HypothesisVerdict
    under: str | None = None
    experiments: tuple[str, ...] = ()


ReplayEnd = Literal["decided", "all_tried", "three_refuted", "budget", "failed", "no_entry", "nothing_to_test"]


@dataclass(frozen=True, repr=False)
class Replay(Short):
    """The result of a replay.

    `before` and `after` are the diagnoses without and with the experiments; `hypotheses` are in their new order. The
    replay started from `checkpoint` (None: the start of the training) at `step`; `onset` is where the logs show the
    fault. `ended` is why it ended (`why` in words). `notes` name deviations from the request, `learned` and
    `next_steps` the conclusions. `inspection` is that of the checkpoints, made without the user's code.

    >>> import loganalyst as la
    >>> found = la.replay("fixtures/runs/nan-lr")
    >>> found.ended, found.why
    ('no_entry', 'an entry (--entry module:function) is needed for experiments')
    """

    before: Diagnosis
    after: Diagnosis
    ended: ReplayEnd
    why: str
    hypotheses: tuple[Hypothesis, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    entry: str | None = None
    checkpoint: Path | None = None
    step: int | None = None
    onset: int | None = None
    device: str | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    inspection: Inspection | None = None

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/replay/1).

        >>> import json
        >>> import loganalyst as la
        >>> json.loads(la.replay("fixtures/runs/nan-lr").to_json())["ended"]
        'no_entry'
        """
        from loganalyst.report.replay import screen

        return screen.render_json(self, indent=indent)

    def to_markdown(self) -> str:
        """The report as Markdown.

        >>> import loganalyst as la
        >>> la.replay("fixtures/runs/nan-lr").to_markdown()[:2]
        '# '
        """
        from loganalyst.report.replay import markdown

        return markdown.render(self)

    def plot(self, path: str | Path) -> None:
        """Write a figure of the reproduced fault and the counterfactuals to a .png, .svg or .pdf outside of the run.

        >>> import loganalyst as la
        >>> la.replay("fixtures/runs/nan-lr").plot("replay.png")
        Traceback (most recent call last):
        loganalyst.errors.LogAnalystError: fixtures/runs/nan-lr: no experiment to draw; an entry is needed: --entry
        """
        from loganalyst.report.replay import plot as replayplot

        replayplot.save(self, Path(path))
