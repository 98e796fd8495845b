"""Where NaN began, what was expected, and whether the fault repeats."""

from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.model import Attempt, Diagnosis, Restart, Run
from loganalyst.report.diagnosis.observed import nan_began, observed, repeats
from loganalyst.report.diagnosis.verdict import verdict

STEPS = range(0, 6000, 20)


def write(folder: Path, nan_from: dict[str, int]) -> la.Diagnosis:
    """The diagnosis of a run with two terms; each metric is NaN from its step on."""
    values = {"recon_loss": 1.0, "kl_loss": 0.1, "loss": 1.1, "grad_norm": 1.0}
    rows = ["step," + ",".join(values)]
    for i in STEPS:
        level = [v * (1 + 1 / (1 + i / 500)) for v in values.values()]
        cells = ["nan" if i >= nan_from.get(m, 10**9) else f"{x:.5f}" for m, x in zip(values, level, strict=True)]
        rows.append(f"{i},{','.join(cells)}")
    (folder / "metrics.csv").write_text("\n".join(rows))
    return la.diagnose(folder)


@pytest.mark.parametrize(
    ("nan_from", "said"),
    [
        ({"kl_loss": 4000, "loss": 4000, "grad_norm": 4000, "recon_loss": 4020}, "NaN began in kl_loss at step 4,000"),
        ({"kl_loss": 4000, "loss": 4020, "grad_norm": 4020, "recon_loss": 4020}, "NaN began in kl_loss at step 4,000"),
        ({"kl_loss": 4000, "loss": 4000, "grad_norm": 4000, "recon_loss": 4000}, ""),
        ({"loss": 4000, "grad_norm": 4000}, ""),
        ({"grad_norm": 4000, "loss": 4020}, ""),
    ],
)
def test_the_part_of_the_loss_that_was_not_finite_first(tmp_path: Path, nan_from: dict[str, int], said: str) -> None:
    """Only if it is one, and another part was finite at that step."""
    found = write(tmp_path, nan_from)

    assert nan_began(found) == said
    assert verdict(found).startswith(f"{said}: " if said else found.causes[0].issue)


def test_the_operation_of_the_anomaly_mode_comes_first(tmp_path: Path) -> None:
    """As PyTorch names it."""
    lines = [f"step {i} | loss {2 / (1 + i / 100):.4f}" for i in range(0, 600, 10)]
    lines += [
        "Traceback (most recent call last):",
        '  File "/home/u/train.py", line 92, in <module>',
        "    loss.backward()",
        "RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",
    ]
    (tmp_path / "train.log").write_text("\n".join(lines))
    found = la.diagnose(tmp_path)

    assert verdict(found) == f"LogBackward0 returned NaN: {found.causes[0].issue}"
    assert found.causes[0].id == "log-of-zero"


def test_a_symptom_stands_next_to_what_was_expected(tmp_path: Path) -> None:
    """With the name of the metric."""
    rows = observed(write(tmp_path, {"loss": 4000, "grad_norm": 4000}))

    assert [(r.label, r.text) for r in rows][:1] == [
        ("loss is NaN or infinite at step 4,000", "every value of loss is a finite number")
    ]


def attempts(*same: bool) -> Diagnosis:
    tried = tuple(Attempt("r", i, "failed", "x", None, None, None, 5, s) for i, s in enumerate(same, 1))
    restart = Restart("unknown", "", "e", None, 0.5, (), 1, tried)
    return Diagnosis(Run(Path("r"), "r"), "cause_unknown", 0.5, restart=restart)


@pytest.mark.parametrize(
    ("same", "said"),
    [
        ((True, True, True), "reproducible: all 3 attempts ended by the same root cause"),
        ((True, False, True), "intermittent: 2 of 3 attempts ended by this root cause"),
        ((True,), "not known: one attempt was read (--history names earlier ones)"),
    ],
)
def test_attempts_show_whether_a_fault_repeats(same: tuple[bool, ...], said: str) -> None:
    """One attempt shows nothing."""
    assert repeats(attempts(*same)) == said


def test_a_run_that_was_not_broken_off_repeats_nothing() -> None:
    """There is no verdict on a restart."""
    assert repeats(Diagnosis(Run(Path("r"), "r"), "healthy", 0.5)) == ""
