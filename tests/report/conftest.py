"""Diagnoses built by hand, as realistic as a run makes them."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from loganalyst import model
from loganalyst.model import (
    Cause,
    Curve,
    Decider,
    Diagnosis,
    Evidence,
    Fix,
    Metric,
    QuickFix,
    Role,
    RuledOut,
    Run,
    Source,
    Symptom,
)

LOSS = Role("train_loss", "the training objective", "up", True)
GRAD = Role("grad_norm", "the global gradient norm", "up", True)
RATE = Role("learning_rate", "the learning rate", None, False)
VAL = Role("val_loss", "the validation objective", "up", True)


def curve(metric: str, role: Role, steps, values) -> Curve:
    n = len(values)
    return Curve(
        metric=metric,
        role=role,
        steps=np.asarray(steps, np.int64),
        values=np.asarray(values, np.float64),
        times=np.full(n, np.nan),
        epochs=np.full(n, np.nan),
        sessions=np.zeros(n, np.int32),
        lines=np.full(n, -1, np.int64),
        source="events.out.tfevents.1",
    )


def points(curves: list[Curve]):
    return model.table(
        "points",
        {
            "metric": [c.metric for c in curves for _ in c.values],
            "step": [int(s) for c in curves for s in c.steps],
            "value": [float(v) for c in curves for v in c.values],
            "session": 0,
            "source": "events.out.tfevents.1",
        },
    )


def metrics(curves: list[Curve]) -> tuple[Metric, ...]:
    return tuple(
        Metric(
            c.metric,
            c.role.name,
            f"rules/roles.yaml: {c.role.name}",
            len(c.values),
            int((~np.isfinite(c.values)).sum()),
        )
        for c in curves
    )


def summary(curves: list[Curve], **more: object) -> dict[str, object]:
    """The facts of a run, as the pipeline gives them."""
    facts = []
    for c in (c for c in curves if c.role in (LOSS, VAL)):
        best = int(np.nanargmin(c.values))
        facts.append(
            {
                "metric": c.metric,
                "role": c.role.name,
                "points": len(c.values),
                "first": float(c.values[0]),
                "last": float(c.values[-1]),
                "last_step": int(c.steps[-1]),
                "best": float(c.values[best]),
                "best_step": int(c.steps[best]),
            }
        )
    last = max((int(c.steps[-1]) for c in curves), default=None)
    common = {"epochs": None, "duration_s": None, "checkpoints": 0, "not_logged": {}}
    return {"last_step": last, "metrics": facts, **common, **more}


def failing_curves() -> list[Curve]:
    steps = np.arange(10, 24651, 10)
    noise = np.random.default_rng(7).normal(0, 0.01, len(steps))
    loss = 0.42 + 1.9 * np.exp(-steps / 4000) + noise
    late = steps > 24540
    loss[late] += ((steps[late] - 24540) / 60.0) ** 3
    loss[-1] = np.nan
    grad = 0.8 + 0.1 * noise
    grad[steps > 24500] = np.geomspace(0.9, 31, (steps > 24500).sum())
    rate = np.minimum(steps / 6000, 1) * 3e-3
    return [
        curve("train/loss", LOSS, steps, loss),
        curve("grad_norm", GRAD, steps[:-1], grad[:-1]),
        curve("lr", RATE, steps, rate),
    ]


LR_TOO_HIGH = Cause(
    id="lr-too-high",
    label="lr_too_high",
    issue="Learning rate too high after the curriculum switch",
    severity="critical",
    confidence=0.93,
    band="high",
    verdict="likely",
    summary="The step size is larger than the loss surface allows.",
    mechanism="Each update overshoots the valley it is meant to descend, so that the gradient grows with every step.",
    evidence=(
        Evidence(
            "grad-first",
            "direct",
            True,
            "grad_norm 38x its median, 41 steps before the loss moved",
            2.2,
            "g",
            "grad_norm",
            24549,
        ),
        Evidence(
            "rate-at-peak",
            "direct",
            True,
            "rate at 100 % of its peak when the loss left its trend",
            1.4,
            "lr",
            "lr",
            24590,
        ),
        Evidence(
            "no-clipping",
            "circumstantial",
            True,
            "no gradient clipping configured",
            0.4,
            "clip",
            file="config.yaml",
            line=None,
        ),
        Evidence("batch-change", "circumstantial", False, "the batch size did not change before the onset", -0.3, "b"),
        Evidence("update-ratio", "direct", None, "the ratio of update to weight is not logged", 0.0, "u"),
    ),
    fix=(
        Fix(
            "optim.lr 3.0e-3 → 1.0e-3 (config.yaml:17), or clip the gradient norm at 1.0",
            "grad_norm below 5; no rise of train/loss after step 24,590",
            "run 2,000 steps from checkpoint step-24000.pt and compare grad_norm",
            "halve the rate once more, then look at the data of epoch 7",
        ),
    ),
    will_not_fix="The slow start: warm-up is a cause of its own.",
    side_effects="The loss falls more slowly at first.",
    prevention="Warm up over 2,000 steps and clip at 1.0.",
    references=("doi:10.48550/arXiv.1706.02677",),
    symptoms=("divergence", "nan-loss"),
    onset_step=24549,
    metric="grad_norm",
    consequences=("slurm-8812.out:20113 RuntimeError: loss is nan",),
    missing=("the ratio of update to weight",),
    decide=(Decider("log", "the ratio of update to weight"),),
)


def failed_run(curves: list[Curve]) -> Run:
    return Run(
        id="8f3a12c09b7e",
        path=Path("runs/exp42"),
        name="exp42",
        status="failed",
        sources=(
            Source("events.out.tfevents.1", "tensorboard", 81_234, 1475, 0),
            Source("slurm-8812.out", "text", 1_204_000, 0, 12),
            Source("config.yaml", "config", 812),
        ),
        points=points(curves),
        config=model.table(
            "config", {"key": ["optim.lr"], "value": ["0.003"], "number": [0.003], "origin": "config.yaml"}
        ),
        checkpoints=model.table(
            "checkpoints", {"path": ["step-24000.pt"], "step": [24000], "size": [10], "readable": True}
        ),
        gaps=model.table(
            "gaps",
            {
                "file": ["events.out.tfevents.1"],
                "offset": [80_000],
                "bytes": [1234],
                "why": ["record checksum is wrong"],
            },
        ),
        started=datetime(2026, 3, 1, 8, 0, tzinfo=UTC),
        ended=datetime(2026, 3, 1, 11, 12, tzinfo=UTC),
        framework="PyTorch",
        host="gpu-017",
    )


@pytest.fixture
def failed() -> Diagnosis:
    """A run that diverged with its learning rate at the peak."""
    curves = failing_curves()
    second = Cause(
        id="bad-batch",
        label="bad_data",
        issue="A bad batch of data",
        severity="warning",
        confidence=0.24,
        band="low",
        verdict="possible",
        summary="One batch holds broken samples.",
        mechanism="",
        fix=(),
        missing=("the ids of each batch",),
        decide=(
            Decider("log", "the ids of each batch", ("Learning rate too high",)),
            Decider("experiment", "skip the batch", ("A bad batch of data",), "run it again"),
        ),
        evidence=(
            Evidence("sudden", "circumstantial", True, "onset 49 steps after epoch 7 began", 0.5, "e", step=24500),
        ),
    )
    event = model.TimelineEvent
    return Diagnosis(
        run=failed_run(curves),
        status="diagnosis_complete",
        confidence=0.93,
        metrics=metrics(curves),
        curves=curves,
        causes=(LR_TOO_HIGH, second),
        symptoms=(Symptom("nan-loss", "NaN loss", "train/loss", 24650, "train/loss is NaN at step 24,650"),),
        ruled_out=(
            RuledOut("fp16-overflow", "fp16 overflow", "unlikely", "the run is in bf16", True),
            RuledOut("log-of-zero", "Log of zero", "unlikely", "the loss rose for 60 steps before the NaN", True),
            RuledOut("entropy-collapse", "Entropy collapse", "not_applicable", "no reinforcement learning"),
        ),
        unknown=(
            RuledOut("overfitting", "Overfitting", "unknown", "validation loss is not logged"),
            RuledOut("data-leakage", "Data leakage", "unknown", "validation loss is not logged"),
            RuledOut("straggler", "Straggler", "unknown", "step time per rank is not logged"),
        ),
        timeline=(
            event(24549, None, "grad_norm", "level_up", "grad_norm left its trend"),
            event(24590, None, "train/loss", "divergence", "train/loss left its trend"),
            event(24650, None, "train/loss", "nonfinite", "train/loss became NaN or infinite"),
        ),
        summary=summary(
            curves,
            duration_s=11520.0,
            checkpoints=1,
            not_logged={"val_loss": "overfitting cannot be judged"},
        ),
        coverage={"full": 2, "screened": 0, "skipped": 1},
        findings=model.table(
            "findings",
            {
                "metric": ["grad_norm", "train/loss"],
                "role": ["grad_norm", "train_loss"],
                "kind": ["level_up", "nonfinite"],
                "session": 0,
                "index": [480, 492],
                "step": [24549, 24650],
                "effect": [38.0, float("inf")],
                "significance": [0.99, 1.0],
            },
        ),
        features=model.Features(
            {
                "run_planned_steps": 50000.0,
                "train_loss_points": 2465,
                "train_loss_nan_count": 1,
                "val_loss_points": None,
            }
        ),
        sessions=(model.SessionSummary(0, 1, 20113, "failed", "lr_too_high"),),
        quick_fixes=(
            QuickFix("lr-too-high", "peak learning rate 3e-3 → 1e-3", "no NaN", "critical", 1.0, 0.93),
            QuickFix("bad-data", "skip the batch", "no NaN", "error", 0.75, 0.21),
        ),
    )


@pytest.fixture
def healthy() -> Diagnosis:
    """A run with nothing wrong, and no validation."""
    steps = np.arange(0, 5000, 10)
    curves = [
        curve("loss", LOSS, steps, 0.3 + 2 * np.exp(-steps / 900)),
        curve("val_loss", VAL, steps[::50], 0.4 + 2 * np.exp(-steps[::50] / 900)),
    ]
    return Diagnosis(
        run=Run(
            id="0123456789ab",
            path=Path("runs/good"),
            name="good",
            status="finished",
            points=points(curves),
            sources=(Source("metrics.csv", "csv", 20_000, 510),),
        ),
        status="healthy",
        confidence=0.91,
        metrics=metrics(curves),
        curves=curves,
        summary=summary(curves, not_logged={"grad_norm": "exploding and vanishing gradients cannot be judged"}),
        unknown=(RuledOut("exploding-gradients", "Exploding gradients", "unknown", "gradient norm is not logged"),),
    )


@pytest.fixture
def unknown_cause() -> Diagnosis:
    """A run with a symptom that no rule explains."""
    steps = np.arange(0, 900, 1)
    loss = np.where(steps < 600, 2 * np.exp(-steps / 200) + 0.3, 1.4)
    curves = [curve("loss", LOSS, steps, loss)]
    return Diagnosis(
        run=Run(
            path=Path("runs/odd"), name="odd", points=points(curves), sources=(Source("log.csv", "csv", 9_000, 900),)
        ),
        status="cause_unknown",
        confidence=0.4,
        metrics=metrics(curves),
        curves=curves,
        symptoms=(
            Symptom("loss-jump", "Loss jump", "loss", 600, "loss rose from 0.40 to 1.4 at step 600 and stayed there"),
        ),
        unknown=(RuledOut("lr-too-high", "Learning rate too high", "unknown", "learning rate is not logged"),),
        summary=summary(curves, not_logged={"learning_rate": "the schedule cannot be judged"}),
    )


@pytest.fixture
def too_little() -> Diagnosis:
    """A run with three points."""
    curves = [curve("loss", LOSS, [1, 2, 3], [2.3, 2.2, 2.1])]
    return Diagnosis(
        run=Run(
            path=Path("runs/short"), name="short", points=points(curves), sources=(Source("log.csv", "csv", 60, 3),)
        ),
        status="insufficient_data",
        confidence=0.0,
        metrics=metrics(curves),
        curves=curves,
        unknown=(RuledOut("divergence", "Divergence", "unknown", "fewer than 20 points of a training loss"),),
        summary=summary(curves, not_logged={"learning_rate": "the schedule cannot be judged"}),
    )


@pytest.fixture
def unreadable() -> Diagnosis:
    """A path where no reader found anything."""
    gaps = model.table("gaps", {"file": ["x.csv"], "offset": [0], "bytes": [512], "why": ["binary data, no table"]})
    return Diagnosis(run=Run(path=Path("x.csv"), name="x.csv", gaps=gaps), status="unreadable", confidence=0.0)


@pytest.fixture
def crashed() -> Diagnosis:
    """A job that died of a traceback on one rank."""
    text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a capacity of 79.1 GiB"
    oom = Cause(
        id="cuda-oom",
        label="cuda_oom",
        issue="GPU memory exhausted",
        severity="critical",
        confidence=0.97,
        band="high",
        verdict="likely",
        summary="A tensor did not fit into the memory of a GPU.",
        mechanism="Activations grow with the batch.",
        evidence=(
            Evidence("oom-line", "direct", True, text, 4.0, "text", file="slurm-991.out", line=2013),
            Evidence("mostly-reserved", "circumstantial", False, "little of it was reserved but unused", -0.2, "frag"),
        ),
        fix=(
            Fix(
                "halve the batch per GPU and double the accumulation steps",
                "peak memory falls by about 40 %",
                "run 50 steps and read torch.cuda.max_memory_allocated()",
                "turn on activation checkpointing",
            ),
        ),
        file="slurm-991.out",
        line=2013,
        rank=3,
        node="gpu-017",
        consequences=(
            "slurm-991.out:2090 NCCL watchdog timeout on the other ranks",
            "slurm-991.out:2155 srun: task 3 exited with code 1",
        ),
    )
    return Diagnosis(
        run=Run(
            path=Path("slurm-991.out"),
            name="slurm-991.out",
            status="failed",
            sources=(Source("slurm-991.out", "text", 310_000, 0, 9),),
        ),
        status="diagnosis_complete",
        confidence=0.97,
        causes=(oom,),
        ruled_out=(
            RuledOut("nccl-timeout", "NCCL timeout", "unlikely", "it came 77 lines after the first error", True),
        ),
        sessions=(
            model.SessionSummary(0, 1, 900, "preempted", None),
            model.SessionSummary(1, 901, 2160, "failed", "cuda_oom"),
        ),
    )


@pytest.fixture
def hostile() -> Diagnosis:
    """Names and log text that try to reach the terminal, the markup and the table around them."""
    nasty = "[bold red]x[/] \x1b[31mred\x1b[0m\nnew | line <script>alert(1)</script> `c` \u202eevil\x07 " + "w" * 5000
    curves = [curve(nasty, LOSS, range(30), np.linspace(2, 1, 30))]
    cause = Cause(
        id="x",
        label="other",
        issue=nasty,
        severity="critical",
        confidence=0.8,
        band="medium",
        verdict="likely",
        summary=nasty,
        mechanism=nasty,
        evidence=(Evidence("e", "direct", True, nasty, 1.0, metric=nasty, file=nasty, line=3),),
        fix=(Fix(nasty, nasty, nasty, nasty),),
        will_not_fix=nasty,
        consequences=(nasty,),
        missing=(nasty,),
        decide=(Decider("log", nasty, (nasty,)), Decider("experiment", nasty, (), nasty)),
        onset_step=12,
        file=nasty,
        line=4,
        node=nasty,
    )
    return Diagnosis(
        run=Run(
            path=Path(nasty.replace("/", "")[:200]),
            name=nasty,
            status="failed",
            points=points(curves),
            gaps=model.table("gaps", {"file": [nasty], "why": [nasty]}),
            sources=(Source(nasty, "csv", 1, 30),),
        ),
        status="diagnosis_complete",
        confidence=0.8,
        metrics=metrics(curves),
        curves=curves,
        causes=(cause,),
        symptoms=(Symptom(nasty, nasty, nasty, 3, nasty),),
        ruled_out=(RuledOut(nasty, nasty, "unlikely", nasty, True),),
        unknown=(RuledOut(nasty, nasty, "unknown", nasty),),
        timeline=(
            model.TimelineEvent(3, None, nasty, "spike", nasty),
            model.TimelineEvent(4, None, nasty, "spike", nasty),
        ),
    )
