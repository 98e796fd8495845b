"""The types every step shares: tables of what was read, findings, features, and the diagnosis they lead to.

Column schemas are the contract between readers, the store and `loganalyst query`. NULL means not known;
NaN and ±Inf are data and stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Time = pl.Datetime("us", "UTC")


def _schema(**columns: pl.DataType | type[pl.DataType]) -> pl.Schema:
    return pl.Schema(columns)


# fmt: off
SCHEMAS: dict[str, pl.Schema] = {
    # one row a logged number, in file order; `line` (from 1) only for line-based sources
    "points": _schema(
        session=pl.Int32, metric=pl.String, step=pl.Int64, epoch=pl.Float64, time=Time, value=pl.Float64,
        source=pl.String, line=pl.Int64,
    ),
    # one row a logged histogram; quantiles at 0, 5, 25, 50, 75, 95 and 100 %
    "distributions": _schema(
        session=pl.Int32, metric=pl.String, step=pl.Int64, time=Time, count=pl.Float64, mean=pl.Float64,
        std=pl.Float64, min=pl.Float64, max=pl.Float64, zeros=pl.Float64, nonfinite=pl.Float64,
        quantiles=pl.List(pl.Float64), source=pl.String,
    ),
    # matched log lines only; `line` from 1, `offset` in bytes; `captures` is a JSON object of text
    "lines": _schema(
        session=pl.Int32, file=pl.String, line=pl.Int64, offset=pl.Int64, time=Time, rank=pl.Int64, node=pl.String,
        pattern=pl.String, label=pl.String, part=pl.String, captures=pl.String, text=pl.String, block=pl.Int64,
    ),
    # tracebacks, stacks and launchers' tables of logs; `block` counts those of a file, `parent` is the one that led to
    # this one; `ranks` are all that printed it, `repeated` how often it was printed
    "blocks": _schema(
        session=pl.Int32, file=pl.String, block=pl.Int64, kind=pl.String, first_line=pl.Int64, last_line=pl.Int64,
        offset=pl.Int64, time=Time, rank=pl.Int64, node=pl.String, exception=pl.String, message=pl.String,
        frame=pl.String, parent=pl.Int64, ranks=pl.List(pl.Int64), repeated=pl.Int64,
    ),
    # dotted keys; `number` where the value is one
    "config": _schema(key=pl.String, value=pl.String, number=pl.Float64, origin=pl.String),
    # one row a job or step; memory in bytes: of the largest task, and what one node allows; `gpu_use` from 0 to 1
    "jobs": _schema(
        job=pl.String, name=pl.String, state=pl.String, exit_code=pl.Int64, signal=pl.Int64, started=Time, ended=Time,
        elapsed_s=pl.Float64, limit_s=pl.Float64, memory_used=pl.Float64, memory_limit=pl.Float64, nodes=pl.String,
        node_count=pl.Int64, tasks=pl.Int64, cpus=pl.Int64, cpu_s=pl.Float64, gpus=pl.Int64, gpu_use=pl.Float64,
        reason=pl.String, origin=pl.String,
    ),
    "checkpoints": _schema(path=pl.String, step=pl.Int64, size=pl.Int64, time=Time, readable=pl.Boolean),
    # a rank's last collective and point-to-point operations as its flight recorder has them; `state` is scheduled,
    # started or completed, `elements` are summed over the tensors, `frame` is the user's own, `record` counts what was
    # recorded
    "collectives": _schema(
        rank=pl.Int64, group=pl.String, sequence=pl.Int64, p2p=pl.Boolean, operation=pl.String, backend=pl.String,
        state=pl.String, input_sizes=pl.String, output_sizes=pl.String, input_elements=pl.Int64,
        output_elements=pl.Int64, dtype=pl.String, created=Time, started=Time, completed=Time, timeout_s=pl.Float64,
        frame=pl.String, record=pl.Int64, file=pl.String,
    ),
    # a group that a rank is in: all its ranks (NULL: not told), the last collective of it that this rank entered, and
    # when its dump was written at the latest (the time of the file)
    "process_groups": _schema(
        rank=pl.Int64, group=pl.String, description=pl.String, members=pl.List(pl.Int64), enqueued=pl.Int64,
        dumped=Time, file=pl.String,
    ),
    # what a reader could not use; `bytes` NULL where the extent is not known
    "gaps": _schema(file=pl.String, offset=pl.Int64, bytes=pl.Int64, why=pl.String),
    # one row a start of the program, numbered in time order; status as in RunStatus
    "sessions": _schema(
        session=pl.Int32, source=pl.String, first_line=pl.Int64, last_line=pl.Int64, started=Time, ended=Time,
        status=pl.String, job=pl.String,
    ),
    # written by signals; `index` counts the finite points of the curve, `step` is what the run logged
    "findings": _schema(
        session=pl.Int32, metric=pl.String, role=pl.String, kind=pl.String, index=pl.Int64, step=pl.Int64,
        end_step=pl.Int64, effect=pl.Float64, significance=pl.Float64, file=pl.String, line=pl.Int64,
    ),
    # the witness of each feature value
    "feature_sources": _schema(
        feature=pl.String, metric=pl.String, step=pl.Int64, file=pl.String, line=pl.Int64, rank=pl.Int64,
        node=pl.String,
    ),
}
RunStatus = Literal[
    "finished", "stopped_early", "failed", "killed", "preempted", "cancelled", "timeout", "node_fail", "running",
    "unknown",
]
Kind = Literal[
    "level_up", "level_down", "slope", "variance", "spike", "periodic", "divergence", "plateau", "nonfinite", "restart",
    "lr_drop",
]
# fmt: on
Verdict = Literal["likely", "possible", "unlikely", "unknown", "not_applicable"]
Status = Literal["diagnosis_complete", "cause_unknown", "healthy", "insufficient_data", "unreadable"]


def table(name: str, columns: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """A frame in the schema of table `name`: given columns (sequences or one scalar for all rows), the rest NULL.

    Values are cast strictly; an unknown column raises KeyError, an uncastable value polars' InvalidOperationError.
    """
    schema, columns = SCHEMAS[name], columns or {}
    if unknown := set(columns) - set(schema):
        raise KeyError(f"table {name!r} has no column {sorted(unknown)}; it has {list(schema)}")
    series = {
        k: pl.Series(k, v, strict=False) for k, v in columns.items() if hasattr(v, "__len__") and not isinstance(v, str)
    }
    if not columns or any(not len(v) for v in series.values()):
        return _blank(name).clone()
    rows = max((len(v) for v in series.values()), default=1)
    filled = [
        (series[k] if series[k].dtype == t else series[k].cast(t)) if k in series else constant(columns.get(k), rows, t)
        for k, t in schema.items()
    ]
    return pl.DataFrame([column.rename(k) for k, column in zip(schema, filled, strict=True)])


def constant(value: object, rows: int, dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    """A column of one value; without the query that `pl.repeat` makes, which costs more than a small table."""
    one = pl.Series([value], dtype=dtype) if value is not None else _null(dtype)
    return one.new_from_index(0, rows)


@cache
def _null(dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    return pl.Series([None], dtype=dtype)


def _in_one(name: str, frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Frames of table `name` after one another; not copied into one piece, which whoever needs it does once."""
    some = [frame for frame in frames if frame.height]  # mostly none or one: nothing is asked of polars then
    return pl.concat(some) if len(some) > 1 else some[0] if some else table(name)


@cache
def _blank(name: str) -> pl.DataFrame:
    """The table without rows: made once, for every batch of a reader has several."""
    return pl.DataFrame(schema=SCHEMAS[name])


def _empty(name: str) -> Any:
    return field(default_factory=lambda: _blank(name))


@dataclass(frozen=True)
class Tables:
    """One batch of what a reader found; every frame in the schema of its name. `session` counts from 0 per file."""

    points: pl.DataFrame = _empty("points")
    distributions: pl.DataFrame = _empty("distributions")
    lines: pl.DataFrame = _empty("lines")
    blocks: pl.DataFrame = _empty("blocks")
    config: pl.DataFrame = _empty("config")
    jobs: pl.DataFrame = _empty("jobs")
    checkpoints: pl.DataFrame = _empty("checkpoints")
    collectives: pl.DataFrame = _empty("collectives")
    process_groups: pl.DataFrame = _empty("process_groups")
    gaps: pl.DataFrame = _empty("gaps")
    sessions: pl.DataFrame = _empty("sessions")

    @classmethod
    def concat(cls, batches: Iterable["Tables"]) -> "Tables":
        """All batches after one another."""
        every = list(batches)
        return cls(**{f.name: _in_one(f.name, [getattr(batch, f.name) for batch in every]) for f in fields(cls)})


@dataclass(frozen=True)
class Source:
    """One file of a run. `path` is relative to the run (its name where the run is one file)."""

    path: str
    format: str | None
    bytes: int
    points: int = 0
    lines: int = 0


@dataclass(frozen=True)
class Run(Tables):
    """Everything read of one run: its tables (`session` counts over the whole run) and what is known of it in all.

    `framework` and `host` are what the files say of themselves, `basis` tells how separate places were joined,
    `suggested` names job logs that may belong to the run, `ignored` what was left out on purpose, such as copies. `job`
    is the id of the accounted job (in `jobs`) whose end is the run's, None where it is not known. `inspection` is of
    its checkpoints, where somebody asked for it.
    """

    id: str = ""
    path: Path = Path()
    name: str = ""
    sources: tuple[Source, ...] = ()
    status: RunStatus = "unknown"
    started: datetime | None = None
    ended: datetime | None = None
    host: str | None = None
    framework: str | None = None
    basis: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    job: str | None = None
    inspection: "Inspection | None" = None

    def block(self, file: str | None, line: int | None) -> dict[str, Any] | None:
        """The row of `blocks` that ends at a line of a file, or holds it; None where there is none. Where the exception
        that led to it is printed below it (a worker's, a group's member, a rank's in torchrun's table), that one.
        """
        if file is None or line is None:
            return None
        here = self.blocks.filter(pl.col("file") == file, pl.col("first_line") <= line, pl.col("last_line") >= line)
        if not here.height:
            return None
        near = here.sort(pl.col("last_line") != line, pl.col("last_line") - pl.col("first_line"), maintain_order=True)
        found = near.row(0, named=True)
        while found["parent"] is not None:
            inner = self.blocks.filter(file=file, block=found["parent"]).row(0, named=True)
            if inner["first_line"] <= found["first_line"]:
                break
            found = inner
        return found


@dataclass(frozen=True)
class Role:
    """What a metric is. `worse` is the direction of harm, `judged` whether rules look at its shape."""

    name: str
    meaning: str
    worse: Literal["up", "down"] | None
    judged: bool


@dataclass(frozen=True)
class Metric:
    """A metric of a run with the role it was given and why (the pattern or the user's correction)."""

    name: str
    role: str
    why: str
    points: int
    nonfinite: int


@dataclass(frozen=True)
class Curve:
    """One metric over the effective history of a run: arrays of equal length n, in order of `steps`.

    `steps` int64, `values` float64 (NaN and ±Inf kept), `times` float64 seconds since the epoch (NaN: not known),
    `sessions` int32, `epochs` float64 (NaN: not known), `lines` int64 (-1: not known). `weight` is the factor of a loss
    term in the total, as the user told.
    """

    metric: str
    role: Role
    steps: "NDArray[np.int64]"
    values: "NDArray[np.float64]"
    times: "NDArray[np.float64]"
    epochs: "NDArray[np.float64]"
    sessions: "NDArray[np.int32]"
    lines: "NDArray[np.int64]"
    source: str | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class ChangePoint:
    """A change in one curve. `index` is the first point of the new regime (position in the given array), `end` its
    last (inclusive; None where it lasts to the end). `effect` is in units of the local noise (robust standard
    deviations; for `periodic` the period in points, for `nonfinite` the number of such points), `significance` in 0..1
    (1 = certain).
    """

    index: int
    end: int | None
    kind: Kind
    effect: float
    significance: float


@dataclass(frozen=True)
class Feature:
    """Declaration of one feature. `needs` names the role or table it is computed from (what to log to know it)."""

    name: str
    dtype: Literal["float", "int", "bool", "text"]
    unit: str
    meaning: str
    needs: str


FeatureValue = float | int | bool | str | None


@dataclass(frozen=True)
class Witness:
    """Where a feature value was seen."""

    metric: str | None = None
    step: int | None = None
    file: str | None = None
    line: int | None = None
    rank: int | None = None
    node: str | None = None


@dataclass(frozen=True)
class Features:
    """One run's row: every declared feature (None = not known) and the witnesses of those that have one."""

    values: Mapping[str, FeatureValue]
    witnesses: Mapping[str, Witness] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """One item asked. `holds` None = not known; `weight` is the log-likelihood ratio that counted (0 if none)."""

    id: str
    kind: Literal["direct", "circumstantial"]
    holds: bool | None
    text: str
    weight: float = 0.0
    group: str = ""
    metric: str | None = None
    step: int | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Place:
    """Where a setting is written: `key` and `value` as they stand there, `line` from 1."""

    file: str
    line: int
    key: str
    value: str


@dataclass(frozen=True)
class Fix:
    """One change to make, filled with this run's values. `places` are where what it changes is written, as far as
    config and code were given to search.
    """

    change: str
    expected_impact: str
    verify: str
    if_not: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Decider:
    """What would settle an answer that is not sure: `what` to log (a role or table), or what to change and, in `check`,
    to look at then; and the titles of the causes (of a healthy run: of the symptoms) it would tell apart.
    """

    kind: Literal["log", "experiment"]
    what: str
    separates: tuple[str, ...] = ()
    check: str = ""


@dataclass(frozen=True)
class Cause:
    """A ranked root cause; the field names are those of the JSON contract."""

    id: str
    label: str
    issue: str
    severity: str
    confidence: float
    band: Literal["high", "medium", "low"]
    verdict: Verdict
    summary: str
    mechanism: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]
    will_not_fix: str = ""
    side_effects: str = ""
    prevention: str = ""
    references: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    onset_step: int | None = None
    metric: str | None = None
    file: str | None = None
    line: int | None = None
    rank: int | None = None
    node: str | None = None
    consequences: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    decide: tuple[Decider, ...] = ()


@dataclass(frozen=True)
class QuickFix:
    """The first change to make for a cause. `impact` (0 to 1): how severe it is, times the share of the symptoms it
    explains; `confidence` that of the cause.
    """

    cause: str
    change: str
    expected_impact: str
    severity: str
    impact: float
    confidence: float


@dataclass(frozen=True)
class Symptom:
    """Something seen to be wrong, before any cause."""

    id: str
    title: str
    metric: str | None
    step: int | None
    text: str


@dataclass(frozen=True)
class Told:
    """A symptom the user told, held against the logs: `seen` True (confirmed), False (contradicted: looked for and not
    there), None (what would show it is not logged, or the text was not understood). `symptoms` are the ids it was
    understood as, `evidence` the features they were judged by, with value and place.
    """

    text: str
    verdict: Literal["confirmed", "contradicted", "not_visible", "not_understood"]
    seen: bool | None
    answer: str
    symptoms: tuple[str, ...] = ()
    evidence: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Note:
    """What is worth knowing of a run and is no fault, such as time asked for and not used, and what to do about it."""

    id: str
    title: str
    text: str
    change: str


@dataclass(frozen=True)
class RuledOut:
    """A cause that was considered and why it is not one. `verdict` is unlikely, not_applicable or unknown;
    `rival` is True where a symptom it could cause is seen.
    """

    id: str
    title: str
    verdict: Verdict
    why: str
    rival: bool = False


Way = Literal["up", "down"]
Direction = Literal["worse", "better", "above", "below"]


@dataclass(frozen=True)
class Change:
    """What differs between two runs: a setting (dotted key) or a logged rate (its metric), as logged in either (None:
    not there). `kind` is one of rules/changes.yaml, `way` is told of numbers.
    """

    key: str
    kind: str
    section: Literal["config", "code", "versions", "place"]
    before: str | None
    after: str | None
    way: Way | None = None


@dataclass(frozen=True)
class Parted:
    """A metric that both runs logged and that parts from the baseline's at `step`: in which direction and by how many
    standard errors (`effect`). From `final_step` on it is apart to the end (None: not at the end any more), `ours` and
    `theirs` are the levels there, and up to `equal_until` all values are the same.
    """

    metric: str
    role: str
    step: int
    direction: Direction
    effect: float
    final_step: int | None
    final_direction: Direction | None
    ours: float
    theirs: float
    equal_until: int | None = None


@dataclass(frozen=True)
class Suspect:
    """The change most likely responsible: a cause of the run names it, or it is the only one, or it comes first of
    those that are known to matter.
    """

    change: Change
    basis: Literal["named", "only", "ranked"]
    why: str


@dataclass(frozen=True)
class Baseline:
    """A run beside the one it is compared with: what was changed (what matters most first), which metrics part, the
    first first, and which stay `together`; the suspect, or why there is none.
    """

    id: str
    path: str
    name: str
    status: str
    changes: tuple[Change, ...] = ()
    parted: tuple[Parted, ...] = ()
    together: tuple[str, ...] = ()
    suspect: Suspect | None = None
    unknown: str = ""
    not_logged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expectation:
    """What a fix promises, asked of the run made after it: `holds` None = not known, for want of `missing`."""

    change: str
    ask: str
    holds: bool | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class SymptomCheck:
    """A symptom that was seen before: whether it is gone (None: what would show it is not logged)."""

    id: str
    title: str
    gone: bool | None


VerifyOutcome = Literal["fixed", "partly", "not", "new_problem", "cannot_tell"]


@dataclass(frozen=True)
class CauseCheck:
    """What became of one cause. `applied` tells whether a change was seen that takes it back (`changes`; None: its fix
    is none that settings show, or they are not logged), `against` those changes of the same kind that do not.
    """

    id: str
    label: str
    issue: str
    confidence: float
    outcome: Literal["fixed", "partly", "not", "cannot_tell"]
    why: str
    expectations: tuple[Expectation, ...] = ()
    applied: bool | None = None
    changes: tuple[Change, ...] = ()
    against: tuple[Change, ...] = ()
    symptoms: tuple[SymptomCheck, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """What failed fixes of one cause teach: the cause is lowered from a confidence to another."""

    cause: str
    issue: str
    fixes: tuple[str, ...]
    before: float
    after: float
    text: str


@dataclass(frozen=True)
class Truth:
    """What a user confirmed of a run: the rule (None: only a label is known, or it is healthy) and its label."""

    run: str
    path: str
    cause: str | None
    label: str
    note: str
    time: datetime


@dataclass(frozen=True)
class Verification:
    """Whether a fix helped: an old run against the one made after it. `checks` has one entry a cause of the old run,
    the likeliest first; `new_causes` are likely in the new run and were none of the old one's.
    """

    old: "Diagnosis"
    new: "Diagnosis"
    outcome: VerifyOutcome
    checks: tuple[CauseCheck, ...]
    new_causes: tuple[Cause, ...] = ()
    lessons: tuple[Lesson, ...] = ()

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/verification/1)."""
        from loganalyst.report import verification

        return verification.render_json(self, indent=indent)


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

        def area(x: float) -> float:
            """Integral, up to x, of the share of this interval that lies below."""
            inside = min(max(x - self.low, 0.0), self.high - self.low)
            return inside * inside / (2 * (self.high - self.low)) + max(x - self.high, 0.0)

        return min(max((area(other.high) - area(other.low)) / (other.high - other.low), 0.01), 0.99)


@dataclass(frozen=True)
class TimelineEvent:
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


@dataclass(frozen=True)
class Excerpt:
    """Lines of a log around the one that shows a cause: `lines` from line `first_line` on, `marked` that line's number
    (both from 1).
    """

    file: str
    first_line: int
    lines: tuple[str, ...]
    marked: int


@dataclass(frozen=True)
class Diagnosis:
    """The answer for one run. `causes` is ranked (at most five), empty for a healthy run. `decide` says what would
    settle it where it is not sure (below 0.70).
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
    notes: tuple[Note, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    decide: tuple[Decider, ...] = ()
    quick_fixes: tuple[QuickFix, ...] = ()

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/diagnosis/1)."""
        from loganalyst.report import json

        return json.render(self, indent=indent)

    def to_markdown(self) -> str:
        """The full report as Markdown."""
        from loganalyst.report import markdown

        return markdown.render(self)

    def to_html(self) -> str:
        """The report as one HTML file, with plots; it loads nothing."""
        from loganalyst.report import html

        return html.render(self)

    def plot(self, path: str | Path, metrics: Sequence[str] = ()) -> None:
        """Write a figure of the run, or of these metrics, to a .png, .svg or .pdf outside of the run."""
        from loganalyst.report import plot

        plot.save(self, Path(path), metrics)


@dataclass(frozen=True)
class TensorStats:
    """What the numbers of one stored tensor are. `min` to `norm` (L2) are of its finite values, None where it has none;
    `tiny` counts |x| below 1e-8, zeros among them (of Adam's second moment: below eps squared). `dead_rows` are all
    zeros: outputs that never change. The largest singular value and the effective rank (of the first axis against all
    others) are there if asked for, and of a matrix with finite values that are not all 0.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    count: int
    nan: int
    inf: int
    zeros: int
    tiny: int
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    norm: float | None
    dead_rows: int = 0
    spectral_norm: float | None = None
    effective_rank: float | None = None

    @property
    def nonfinite(self) -> int:
        """NaN and infinite values."""
        return self.nan + self.inf

    @property
    def embedding(self) -> bool:
        """Whether it is a table of embeddings, by its module's name and its two axes."""
        words = (self.name.rpartition(".")[0] or self.name).lower().replace("_", ".").split(".")
        return len(self.shape) == 2 and any(w.startswith("emb") or w in ("wte", "wpe") for w in words)


@dataclass(frozen=True)
class ModuleShare:
    """The parameters below one module, their share of the model's, and their L2 norm (None where one has none)."""

    name: str
    parameters: int
    share: float
    norm: float | None


@dataclass(frozen=True)
class OptimizerScan:
    """The state of one optimiser. `blown_up` are second moments whose largest value is far above the other tensors';
    `eps_share` is the share of second moments v with sqrt(v) below eps, where eps, not the gradient, sets the step; of
    those that are not 0, for 0 is a parameter that never had a gradient.
    """

    step: int | None
    eps: float
    lr: tuple[float, ...]
    moments: tuple[TensorStats, ...]
    blown_up: tuple[str, ...]
    eps_share: float | None


@dataclass(frozen=True)
class CheckpointScan:
    """One checkpoint: every tensor, and the model, optimisers and training state as a whole. Tied tensors (`tied` has
    them in groups) count once among the parameters. `rng` names the random generators whose state is saved; `unread`
    tells which parts would have needed code.
    """

    path: Path
    format: str
    bytes: int
    tensors: tuple[TensorStats, ...]
    modules: tuple[ModuleShare, ...]
    parameters: int
    embedding_share: float | None
    tied: tuple[tuple[str, ...], ...]
    optimizers: tuple[OptimizerScan, ...]
    loss_scale: float | None
    lr: tuple[float, ...]
    epoch: float | None
    step: int | None
    rng: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


TensorVerdict = Literal["changed", "frozen", "runaway", "reset", "added", "removed", "reshaped", "not_finite"]


@dataclass(frozen=True)
class TensorChange:
    """A tensor between two checkpoints: L2 norm of the difference against the old norm, and the cosine of both."""

    name: str
    verdict: TensorVerdict
    relative: float | None = None
    cosine: float | None = None


@dataclass(frozen=True)
class CheckpointChange:
    """From one checkpoint to the next one given; `median` is that of the tensors that changed."""

    old: Path
    new: Path
    tensors: tuple[TensorChange, ...]
    median: float | None


InspectionKind = Literal[
    "nonfinite", "nonfinite_optimizer", "blown_up", "scale_collapsed", "dead_rows", "zeros", "runaway",
    "reset", "eps_dominated", "embedding_share", "frozen", "missing", "not_read", "unreadable",
    "low_rank",
]  # fmt: skip


@dataclass(frozen=True)
class InspectionFinding:
    """One thing that is wrong, or worth knowing, with the names of the tensors that show it."""

    kind: InspectionKind
    severity: Literal["unusable", "warning", "note"]
    path: Path
    text: str
    tensors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """Checkpoints looked at without the code that made them; findings the worst first."""

    checkpoints: tuple[CheckpointScan, ...]
    changes: tuple[CheckpointChange, ...]
    findings: tuple[InspectionFinding, ...]

    @property
    def unusable(self) -> bool:
        """Whether a tensor of a model or an optimiser is not finite."""
        return any(f.severity == "unusable" for f in self.findings)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/inspection/1)."""
        from loganalyst.report import inspection

        return inspection.render_json(self, indent=indent)

    def plot(self, path: str | Path) -> None:
        """Write a figure of the tensors, one a row, to a .png, .svg or .pdf beside no checkpoint's own files."""
        from loganalyst.report import inspectionplot

        inspectionplot.save(self, Path(path))


@dataclass(frozen=True)
class Measured:
    """One run of an experiment. `outcome` is one of those rules/replay.yaml names for it, or `inconclusive`; `text`
    says what was measured. `reproduced`: whether the unchanged replay shows the fault (None: not asked). `values` are
    named numbers or words, `series` named losses, a value a step from the training's step `start` (counted from 0) on.
    """

    outcome: str
    text: str
    reproduced: bool | None = None
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    start: int = 0


@dataclass(frozen=True)
class Experiment:
    """An experiment that was made: what it asks and what each outcome means, stated before; `outcome` is that on which
    most `runs` (one a seed) agree. `weights` are the log-likelihood ratios the outcome has for causes, by id: above 0
    it confirms a cause, below 0 it refutes it.
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


@dataclass(frozen=True)
class Hypothesis:
    """A cause before and after the experiments that bear on it; `open` where none of them decided, `under` the likelier
    cause whose consequence it is.
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


@dataclass(frozen=True)
class Replay:
    """What a replay of a run found. `hypotheses` come in their new order; `before` and `after` are the diagnoses
    without and with the experiments. `checkpoint` is what was replayed from (None: the training's own start) at `step`,
    `onset` where the logs show the fault; `notes` tell what was done otherwise than asked, `ended` why it ended (`why`
    in words), `learned` and `next_steps` what came of it. `inspection` is of the checkpoints without the user's code.
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
        """The JSON of the contract (schema loganalyst/replay/1)."""
        from loganalyst.report import replay

        return replay.render_json(self, indent=indent)

    def to_markdown(self) -> str:
        """The report as Markdown."""
        from loganalyst.report import replaymarkdown

        return replaymarkdown.render(self)

    def plot(self, path: str | Path) -> None:
        """Write the fault as reproduced beside the counterfactuals to a .png, .svg or .pdf outside of the run."""
        from loganalyst.report import replayplot

        replayplot.save(self, Path(path))
