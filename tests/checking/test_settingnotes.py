"""Findings on settings in a diagnosis: few, and without influence on the answer."""

import shutil
from pathlib import Path

import loganalyst as la
from loganalyst.checking import setting_notes

RUNS = Path(__file__).parents[2] / "fixtures/runs"


def with_settings(tmp_path: Path, run: str, text: str):
    copy = shutil.copytree(RUNS / run, tmp_path / run)
    before = la.diagnose(copy)
    with (copy / "config.yaml").open("a") as config:
        config.write(text)
    return before, la.diagnose(copy)


def test_a_wrong_setting_is_a_note_of_a_healthy_run(tmp_path):
    """Unusual ones share one note, and the run stays healthy."""
    before, after = with_settings(
        tmp_path, "healthy-classifier", "fp16: true\nbf16: true\nmomentum: 0.9\ndropout: 0.9\n"
    )

    new = [note for note in after.notes if note not in before.notes]
    assert [note.id for note in new] == ["two-precisions", "unusual-settings"]
    assert new[1].text == "share of units dropped in training is 0.9 (usual: 0 to 0.6)"
    assert before.status == after.status == "healthy"


def test_unusual_settings_are_notes_of_a_run_with_symptoms(tmp_path):
    before, after = with_settings(tmp_path, "nan-lr", "label_smoothing: 0.6\n")
    new = [note for note in after.notes if note not in before.notes]

    assert [(note.id, note.text) for note in new] == [
        ("smoothing-range", "label smoothing is 0.6 (usual: 0 to 0.3): most of the target goes to wrong classes")
    ]
    assert [cause.id for cause in after.causes] == [cause.id for cause in before.causes]


def test_nothing_is_said_twice(tmp_path):
    """A note on an epsilon that is 0 in half precision replaces the finding on its range."""
    text = "optim.eps: 1.0e-16\nadam_epsilon: 1.0e-16\nprecision: fp16\noptimizer: adam\n"
    _, after = with_settings(tmp_path, "nan-lr", text)

    assert [note.id for note in after.notes if "psilon" in note.title] == ["epsilon-underflows"]


def test_a_run_without_settings_has_none(tmp_path):
    (tmp_path / "log.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (1 + i)}\n" for i in range(50)))

    assert setting_notes(la.diagnose(tmp_path)) == ()
