"""What a store learns from fixes that failed."""

from itertools import pairwise

import polars as pl
import pytest

import loganalyst as la
from loganalyst.auditing.fixhistory import lineage
from loganalyst.diagnosis.logodds import logit, sigmoid
from loganalyst.model import Run, table
from loganalyst.report.verification import screen

pytestmark = pytest.mark.takes_long

RATES = (0.05, 0.04, 0.03, 0.02)


def test_a_cause_is_lowered_after_three_different_fixes_failed(made, tmp_path):
    """Four runs diverge alike, each with a lower rate than the one before."""
    runs = [made(f"run{i}", "divergence-lr", lr=rate) for i, rate in enumerate(RATES)]
    found = [la.verify(old, new, store=tmp_path / "store") for old, new in pairwise(runs)]

    assert [f.outcome for f in found] == ["not", "not", "not"]
    assert [len(f.lessons) for f in found] == [0, 0, 1]
    (lesson,) = found[-1].lessons
    assert lesson.fixes == ("lr 0.05 → 0.04", "lr 0.04 → 0.03", "lr 0.03 → 0.02")
    assert lesson.text.startswith("3 different fixes failed (lr 0.05 → 0.04; ")
    assert lesson.after == pytest.approx(sigmoid(logit(lesson.before) - 2.2))
    (lowered,) = [c for c in found[-1].new.causes if c.id == "lr-too-high"]
    assert (lowered.confidence, lowered.evidence[-1].id) == (lesson.after, "fixes-failed")
    assert "Learned    Learning rate too high: 3 different fixes failed" in screen.render(found[-1])


def test_the_same_fix_three_times_says_less(made, tmp_path):
    old = made("old", "divergence-lr", lr=0.05)
    news = [made(f"new{i}", "divergence-lr", lr=0.04) for i in range(3)]
    found = [la.verify(old, new, store=tmp_path / "store") for new in news]

    (lesson,) = found[-1].lessons
    assert lesson.text == "the same fix failed 3 times (lr 0.05 → 0.04): it does not help; try another"
    assert lesson.after == pytest.approx(sigmoid(logit(lesson.before) - 0.7))


def test_a_fix_that_was_not_applied_did_not_fail(made, tmp_path):
    old = made("old", "divergence-lr", lr=0.05)
    news = [made(f"new{i}", "divergence-lr", lr=0.05, note=i) for i in range(3)]

    assert [la.verify(old, new, store=tmp_path / "store").lessons for new in news] == [(), (), ()]


def test_verifying_the_same_pair_again_counts_once(made, tmp_path):
    old, new = made("old", "divergence-lr", lr=0.05), made("new", "divergence-lr", lr=0.04)

    assert [la.verify(old, new, store=tmp_path / "store").lessons for _ in range(3)] == [(), (), ()]
    assert la.Store(tmp_path / "store").verifications.collect().height == 1


def test_other_lineages_are_none_of_ours(made, tmp_path):
    """Runs of one store whose folder is another."""
    ours = [made(f"ours/run{i}", "divergence-lr", lr=rate) for i, rate in enumerate(RATES)]
    theirs = [made(f"theirs/run{i}", "divergence-lr", lr=rate) for i, rate in enumerate(RATES[:2])]
    store = tmp_path / "store"

    assert [len(la.verify(ours[0], new, store=store).lessons) for new in ours[1:]] == [0, 0, 1]
    assert la.verify(*theirs, store=store).lessons == ()


def test_the_outcome_stands_in_the_store(made, tmp_path):
    old, new = made("old", "divergence-lr", lr=0.05), made("new", "healthy-mended-rate", lr=0.017)
    found = la.verify(old, new, store=tmp_path / "store")
    (row,) = la.Store(tmp_path / "store").verifications.collect().to_dicts()

    assert (row["run_id"], row["old"]) == (found.new.run.id, found.old.run.id)
    assert (row["cause"], row["label"], row["outcome"], row["applied"], row["fix"]) == (
        "lr-too-high", "lr_too_high", "fixed", True, "lr 0.05 → 0.017",
    )  # fmt: skip
    assert row["lineage"] == f"folder {tmp_path / 'runs'}"


def test_the_trackers_project_is_the_lineage():
    run = Run(id="a", config=table("config", {"key": ["_wandb.project"], "value": ["digits"]}))
    past = pl.DataFrame({"run_id": ["b"], "lineage": ["project letters"]})

    assert lineage(run, past) == "project digits"
    assert lineage(Run(id="b", config=run.config), past) == "project letters"
