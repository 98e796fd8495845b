from dataclasses import replace

import pytest

from loganalyst import model
from loganalyst.report.common.rows import Row
from loganalyst.report.diagnosis import html, markdown, terminal
from loganalyst.report.diagnosis.document import document
from loganalyst.report.diagnosis.overview import checkpoints, coverage, keep, pace

SAVED = {
    "last_step": 4000,
    "best_metric": "val_loss",
    "best_step": 4500,
    "nearest_step": 4000,
    "nearest": "step-4000.pt",
    "named_best": None,
    "unreadable": [],
}
LONGER = {"kind": "train_longer", "title": "More steps would help", "why": "loss still falls", "change": "go on"}


def with_checkpoints(diagnosis, **told):
    rows = model.table("checkpoints", {"path": ["a", "b"], "step": [3000, 4000]})
    summary = {**diagnosis.summary, "last_step": 5000, "checkpoint": {**SAVED, **told}}
    return replace(diagnosis, run=replace(diagnosis.run, checkpoints=rows), summary=summary)


@pytest.mark.parametrize("render", [terminal.render, markdown.render, html.render])
def test_a_healthy_run_is_told_what_to_do_with_it(healthy, render):
    """In every form of the report, with the reason."""
    text = render(replace(healthy, summary={**healthy.summary, "recommendation": LONGER}))

    assert "go on (loss still falls)" in text.replace("\\", "")
    assert "go on" not in render(healthy)


def test_ready_is_said_first(healthy):
    """A kind of advice that its change does not tell."""
    ready = {"kind": "ready", "title": "Ready", "why": "it ended at its best", "change": "use the last checkpoint"}
    doc = document(replace(healthy, summary={**healthy.summary, "recommendation": ready}))

    assert doc.advice == Row("Next", "ready: use the last checkpoint (it ended at its best)")


def test_the_checkpoint_of_the_best_value_is_named(healthy):
    """Where one is near; else the nearest is, and that none is nearer."""
    assert list(checkpoints(with_checkpoints(healthy))) == [
        "2 files, the last at step 4,000",
        "none at the best value; the nearest: step-4000.pt (step 4,000; val_loss was best at step 4,500)",
    ]
    assert list(checkpoints(with_checkpoints(healthy, best_step=4050)))[1] == (
        "best: step-4000.pt (step 4,000; val_loss was best at step 4,050)"
    )
    assert list(checkpoints(with_checkpoints(healthy, named_best="best.pt")))[1] == "best: best.pt"


def test_missing_and_empty_checkpoints_are_told(healthy, tmp_path):
    """A run folder may lack checkpoints; a single file shows nothing about them."""
    assert list(checkpoints(with_checkpoints(healthy, unreadable=["c.pt"])))[-1] == "cannot be read (empty): c.pt"
    assert list(checkpoints(healthy)) == []
    assert list(checkpoints(replace(healthy, run=replace(healthy.run, path=tmp_path)))) == [
        "none found in the run's folder"
    ]


def test_pace_is_told_in_the_larger_unit():
    """Steps a second; of slow runs the time of a step."""
    assert [pace(v) for v in (12.5, 0.5, 0.02)] == ["12.5 steps a second", "0.5 steps a second", "50 s a step"]


def test_coverage_counts_what_could_be_judged(failed, healthy):
    """Causes and what was ruled out, of these and what is not known; nothing where nothing was judged."""
    assert coverage(failed) == "4 of 7 causes could be judged (57 %)"
    assert coverage(healthy) == ""


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"nearest_step": 3000, "nearest": "a/checkpoint-3000/m.bin"},
         "a/checkpoint-3000 (step 3,000): the nearest to the best val_loss, of step 4,500"),
        ({"nearest_step": 3000, "nearest": "step-3000.pt", "best_step": 3000},
         "step-3000.pt (step 3,000): val_loss was best there"),
        ({"named_best": "best.pt"}, "best.pt"),
        ({}, ""),
        ({"best_step": None}, ""),
    ],
)  # fmt: skip
def test_the_checkpoint_to_keep_is_a_path(healthy, told, said):
    """The folder that has the step in its name, else the file; nothing if it is the last one."""
    assert keep(with_checkpoints(healthy, **told)) == said
