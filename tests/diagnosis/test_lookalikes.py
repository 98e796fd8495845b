"""A healthy run with doubts names the causes that it may have; one without names none."""

from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest

from loganalyst import diagnose as of_run
from loganalyst import pipeline
from loganalyst.diagnosis import Judgement, diagnose
from loganalyst.model import Features
from loganalyst.report.diagnosis import asjson, html, markdown, terminal
from loganalyst.report.diagnosis.schema import schema
from loganalyst.rulecatalogue import catalogue

FELL = {
    "run_kind": "training", "train_loss_points": 80, "train_loss_metric": "loss", "train_loss_drop_relative": 0.3,
    "train_loss_nonfinite_count": 0, "train_loss_divergence_count": 0, "train_loss_tail_slope_z": 0.0,
    "train_loss_half_drop_relative": 0.1, "part_fell": False, "score_improved": False,
}  # fmt: skip
NOTE = """
warm:
  title: It is warm
  ask: gpu_util_mean > 90
  doubt: 2.0
  perhaps: [PERHAPS]
  says: "at {gpu_util_mean:.0f} %"
  change: open a window
  tests:
    - {name: hot, shown: true, features: {gpu_util_mean: 95.0}}
    - {name: cool, shown: false, features: {gpu_util_mean: 21.0}}
"""


def judged(**more: object) -> Judgement:
    """The judgement before a calibration, which raises the health of doubtful runs."""
    return diagnose(replace(pipeline.catalogue(), scales={}), Features({**FELL, **more}))  # type: ignore[arg-type]


def test_a_doubtful_run_names_its_likeliest_causes() -> None:
    """Those of 5 % or more, together no more than "healthy" leaves, each with what would decide."""
    found = judged(lr_peak=1e-6, optimizer="adam")

    assert found.status == "healthy"
    assert [(r.id, [d.what for d in r.decide]) for r in found.rivals] == [("lr-too-low", ["val_accuracy"])]
    assert 0.05 <= found.rivals[0].confidence < 1 - found.confidence
    assert found.rivals[0].why.partition(",")[0] == "loss fell by 30 % after its first values"
    assert all(r.confidence < 0.06 for r in judged().rivals)


def test_known_evidence_moves_them() -> None:
    """A tiny rate supports the cause, an ordinary one does not."""
    left = [
        {r.id: r.confidence for r in judged(lr_peak=rate, optimizer="adam").rivals}.get("lr-too-low", 0.0)
        for rate in (1e-6, 0.002)
    ]

    assert left[0] > 0.1 > 0.02 > left[1]


def test_without_a_doubt_nothing_is_named() -> None:
    """A loss that fell far."""
    found = judged(train_loss_drop_relative=0.9)

    assert (found.status, found.rivals) == ("healthy", ())


def test_a_run_with_a_cause_has_rivals_for_its_symptoms_alone() -> None:
    """They are among the ruled-out causes."""
    assert judged(train_loss_nonfinite_count=1, train_loss_nonfinite_step=40).rivals == ()


@pytest.mark.parametrize(
    ("named", "told"),
    [("lr-too-low", ()), ("lr-to-low", ("perhaps names 'lr-to-low'; did you mean 'lr-too-low'?",))],
)
def test_a_note_names_rules_that_exist(tmp_path: Path, named: str, told: tuple[str, ...]) -> None:
    """An unknown rule is reported with its line, and the note is left out."""
    (tmp_path / "notes.yaml").write_text(NOTE.replace("PERHAPS", named))
    known = catalogue((tmp_path,))

    assert [problem.partition(": ")[2] for problem in known.problems] == list(told)
    assert ("warm" in known.notes) == (not told)


def test_every_report_names_them(tmp_path: Path) -> None:
    """With their share and what would decide; the JSON fits its schema."""
    fall = 2.3 - 0.6 * (1 - np.exp(-np.arange(200) / 40)) + np.random.default_rng(0).normal(0, 0.02, 200)
    pl.DataFrame({"step": np.arange(200), "train_loss": fall, "lr": [1e-6] * 200}).write_csv(tmp_path / "metrics.csv")
    first = judged(lr_peak=1e-6, optimizer="adam").rivals[0]
    d = replace(of_run(tmp_path), rivals=(first,))
    told = asjson.data(d)

    assert d.status == "healthy"
    assert [r["id"] for r in told["rivals"]] == [r.id for r in d.rivals]
    jsonschema.validate(told, schema())
    assert f"Instead?   {first.title}" in terminal.render(d)
    assert "What it may be instead" in markdown.render(d)
    assert "Would look the same" in html.render(d)
