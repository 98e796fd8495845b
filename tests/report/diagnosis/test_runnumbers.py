"""A run in numbers."""

from dataclasses import replace

import loganalyst as la
from loganalyst.report.common.rows import Row
from loganalyst.report.diagnosis.runnumbers import best, facts

METRICS = [
    {
        "metric": name,
        "role": role,
        "points": 2,
        "first": 3.0,
        "last": 1.5,
        "last_step": 90,
        "best": 1.0,
        "best_step": 80,
    }
    for name, role in (("loss", "train_loss"), ("val", "val_loss"))
]


def test_validation_metrics_come_first(healthy):
    """The best value with its step."""
    assert best(replace(healthy, summary={"metrics": METRICS})) == (
        "best val 1 at step 80",
        "best loss 1 at step 80",
    )


def test_the_same_metric_under_two_names_is_shown_once(healthy):
    """A tracker and a log often hold the same values."""
    twice = [*METRICS, {**METRICS[1], "metric": "Validation Loss"}]

    assert best(replace(healthy, summary={"metrics": twice})) == ("best val 1 at step 80", "best loss 1 at step 80")


def test_only_known_facts_have_a_row(healthy):
    """Duration and speed are left out where they are not known."""
    rows = [*facts(replace(healthy, summary={"metrics": METRICS[:1], "last_step": 1500}))]

    assert Row("Last step", "1,500") in rows
    assert Row("loss", "3 → 1.5 at step 90; best 1 at step 80") in rows
    assert not {"Duration", "Speed", "Epochs"} & {row.label for row in rows}


def test_a_metric_with_a_counter_of_its_own_says_so(tmp_path):
    """Updates beside batches: a step of one is no step of the other."""
    lines = []
    for epoch in range(1, 9):
        lines += [f"epoch {epoch} batch {400 * k} loss {2.4 * 0.97 ** (epoch * 10 + k):.4f}" for k in range(10)]
        lines.append(f"val step {epoch * 104} val_loss {2.5 * 0.9**epoch:.4f}")
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")

    found = best(la.diagnose(tmp_path / "train.log"))

    assert found == ("best val_loss 1.08 at step 832 of its own counter", "best loss 0.16 at step 28,807")
