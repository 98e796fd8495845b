"""A small catalogue of its own: features, symptoms and three rules, written to a folder and loaded from there."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.model import Feature

_TYPES = {
    "train_loss_points": "int",
    "train_loss_metric": "text",
    "train_loss_divergence_count": "int",
    "train_loss_divergence_step": "int",
    "train_loss_nonfinite_count": "int",
    "train_loss_nonfinite_step": "int",
    "train_loss_plateau_count": "int",
    "train_loss_plateau_step": "int",
    "train_loss_drop_relative": "float",
    "lr_at_divergence_share": "float",
    "lr_peak": "float",
    "lr_suggested": "float",
    "grad_norm_max_ratio": "float",
    "config_clip": "float",
    "config_precision": "text",
    "log_root_label": "text",
    "run_ok": "bool",
    "run_kind": "text",
    "training_kind": "text",
}

SYMPTOMS = """
divergence:
  title: Loss left its trend
  core: [training]
  ask: train_loss_divergence_count > 0
  at: train_loss_divergence_step
  metric: train_loss_metric
  says: "{train_loss_metric} left its trend at step {train_loss_divergence_step}"
nan-loss:
  title: Loss is NaN
  core: [training]
  ask: train_loss_nonfinite_count > 0
  at: train_loss_nonfinite_step
  says: "{train_loss_metric} is NaN from step {train_loss_nonfinite_step}"
plateau:
  title: Loss stopped falling
  ask: train_loss_plateau_count > 0
  at: train_loss_plateau_step
  says: loss stopped falling
"""

LR_TOO_HIGH = """\
id: lr-too-high
title: Learning rate too high
label: lr_too_high
status: stable
since: 0.1.0
family: optimisation
severity: critical
prior: 0.08
applies_when: train_loss_points >= 20
symptoms: [divergence, nan-loss]
summary: The steps are too long.
mechanism: An update overshoots.
evidence:
  - id: diverged-near-peak-lr
    kind: direct
    group: lr
    ask: train_loss_divergence_count > 0 AND lr_at_divergence_share > 0.5
    weight: {if_true: 4.0, if_false: -0.6}
    basis: judged
    says: "{train_loss_metric} left its trend at {train_loss_divergence_step}, rate at {lr_at_divergence_share:.0%}"
    says_if_false: "the rate was far below its peak"
    otherwise: "the rate was near its peak"
    at: train_loss_divergence_step
  - id: large-rate
    kind: circumstantial
    group: lr
    ask: lr_peak >= 0.01
    weight: {if_true: 1.0, if_false: -0.5}
    says: "a rate of {lr_peak:.2g} is large"
  - id: no-clipping
    kind: circumstantial
    ask: config_clip = 0
    weight: {if_true: 0.4, if_false: -0.4}
    says: no clipping is configured
    says_if_false: "clipping at {config_clip} is on"
explains: [fp16-overflow]
fix:
  - change: optimizer.lr
    from: "{lr_peak:.2g}"
    to: "{lr_suggested:.2g}"
    otherwise: divide the peak rate by 3
    expected_impact: no rise
    expect: train_loss_divergence_count = 0
    verify: look again
    if_not: the data
will_not_fix: a NaN of the data
tests:
  - name: diverges at the peak
    features: {train_loss_points: 100, train_loss_divergence_count: 1, lr_at_divergence_share: 1.0}
    expect: {verdict: likely}
  - name: no divergence
    features: {train_loss_points: 100, train_loss_divergence_count: 0, train_loss_nonfinite_count: 0}
    expect: {verdict: [unlikely]}
  - {name: healthy, run: healthy/one, expect: {verdict: unlikely}}
"""

FP16_OVERFLOW = """\
id: fp16-overflow
title: Overflow in half precision
label: numeric_overflow
status: preview
since: 0.1.0
family: numerics
severity: error
prior: 0.1
symptoms: [nan-loss]
summary: The range of fp16 was left.
mechanism: Numbers beyond 65504 become infinite.
evidence:
  - id: half-precision
    kind: circumstantial
    ask: config_precision LIKE '%16%' AND NOT config_precision LIKE '%bf16%'
    weight: {if_true: 2.0, if_false: -5.0}
    basis: measured
    says: "precision is {config_precision}"
    says_if_false: "precision is {config_precision}, which does not overflow"
    at: config_precision
fix:
  - {change: train in bf16, expected_impact: no overflow, verify: no NaN}
will_not_fix: too high a rate
tests:
  - name: bf16
    features: {train_loss_nonfinite_count: 1, config_precision: bf16}
    expect: {verdict: unlikely}
"""

CONVERGED = """\
id: converged
title: Converged
label: healthy
status: stable
since: 0.1.0
family: optimisation
severity: info
prior: 0.3
symptoms: [plateau]
summary: Nothing more to learn.
mechanism: The loss is at its floor.
evidence:
  - id: fell-far
    kind: direct
    ask: train_loss_drop_relative > 0.8
    weight: {if_true: 3.0, if_false: -3.0}
    says: "the loss fell by {train_loss_drop_relative:.0%}"
fix:
  - {change: nothing, expected_impact: none, verify: none}
will_not_fix: nothing
tests:
  - name: fell far
    features: {train_loss_plateau_count: 1, train_loss_drop_relative: 0.95}
    expect: {verdict: likely}
"""


@pytest.fixture(scope="session")
def declared() -> Mapping[str, Feature]:
    """The features of the small catalogue; what each needs is the first word of its name."""
    return {n: Feature(n, t, "", "", n.split("_")[0]) for n, t in _TYPES.items()}  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A rules folder with three rules and their symptoms."""
    for name, text in {
        "symptoms.yaml": SYMPTOMS,
        "optimisation/lr-too-high.yaml": LR_TOO_HIGH,
        "optimisation/converged.yaml": CONVERGED,
        "numerics/fp16-overflow.yaml": FP16_OVERFLOW,
    }.items():
        path = tmp_path / "rules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "rules"


@pytest.fixture
def catalogue(declared: Mapping[str, Feature], folder: Path) -> Catalogue:
    """The small catalogue, loaded."""
    return load(declared, [folder])


@pytest.fixture
def edited(declared: Mapping[str, Feature], folder: Path) -> Callable[..., Catalogue]:
    """Load the catalogue with pieces of one file replaced: `edited("numerics/fp16-overflow.yaml", {old: new})`."""

    def edit(name: str, changes: Mapping[str, str]) -> Catalogue:
        text = (folder / name).read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new, 1)
        (folder / name).write_text(text)
        return load(declared, [folder])

    return edit
