"""Notes are shown with the answer if their question is answered with yes, and are never a cause."""

from pathlib import Path

import pytest

from loganalyst.diagnosis import diagnose
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.ruletests import check
from loganalyst.model import Features, Note
from loganalyst.rulecatalogue import catalogue

KINDS = "tests show it and do not"
HOT = """
hot:
  title: It is hot
  ask: gpu_util_mean > 90
  says: "at {gpu_util_mean:.0f} %"
  change: open a window
  tests:
    - {name: hot, shown: true, features: {gpu_util_mean: 95.0}}
    - {name: cool, shown: false, features: {gpu_util_mean: 21.0}}
"""


def own(folder: Path, text: str) -> Catalogue:
    """Our catalogue with a user's notes."""
    (folder / "notes.yaml").write_text(text)
    return catalogue((folder,))


def test_a_note_changes_nothing_in_the_answer(tmp_path):
    """The same status, confidence and causes with and without it."""
    values = {"job_state": "completed", "run_status": "finished", "run_kind": "job", "gpu_util_mean": 95.0}
    plain = diagnose(catalogue(), Features(values))
    noted = diagnose(own(tmp_path, HOT), Features(values))

    assert noted.notes == (Note("hot", "It is hot", "at 95 %", "open a window", origin=str(tmp_path / "notes.yaml")),)
    assert (noted.status, noted.confidence, noted.causes) == (plain.status, plain.confidence, plain.causes)
    assert plain.notes == ()


STUCK = {
    "run_kind": "training", "training_kind": "preference", "run_end": "finished", "train_loss_metric": "loss",
    "train_loss_points": 40, "train_loss_start_ratio": 1.01, "train_loss_drop_relative": 0.01,
    "train_loss_drop_error": 0.001, "train_loss_noise_relative": 0.01, "train_loss_divergence_count": 0,
    "train_loss_drop_z": 14.0, "part_fell": False, "objective_improved": True, "objective_points": 40,
    "objective_best_z": 14.0, "preference_accuracy_last": 0.9, "train_loss_continued": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("margin", "status", "symptoms"), [(0.026, "healthy", []), (0.001, "cause_unknown", ["stuck-loss"])]
)
def test_a_note_excuses_its_symptoms_where_no_cause_is_likely(margin, status, symptoms):
    """A preference loss that moves little is no fault if most pairs are ranked right, with a margin."""
    known = catalogue()
    found = diagnose(known, Features({**STUCK, "preference_margin_last": margin}))

    assert (found.status, [s.id for s in found.symptoms]) == (status, symptoms)
    assert ("preference-moved-little" in [note.id for note in found.notes]) == (status == "healthy")


def test_a_note_excuses_nothing_where_a_cause_is_likely():
    """A rate of 0 explains a loss that stands still."""
    known = catalogue()
    found = diagnose(
        known, Features({**STUCK, "train_loss_drop_relative": 0.005, "preference_margin_last": 0.026, "lr_peak": 0.0})
    )

    assert (found.status, found.causes[0].id) == ("diagnosis_complete", "lr-too-low")
    assert "preference-moved-little" not in [note.id for note in found.notes]


@pytest.mark.parametrize(("points", "shown"), [(8, True), (3, False)])
def test_a_note_that_doubts_health_is_left_out_where_a_symptom_is_seen(tmp_path, points, shown):
    """`unless_seen: [any]`. The symptom of an error in the log needs no loss."""
    known = own(tmp_path, HOT.replace("  says:", "  unless_seen: [any]\n  says:", 1))
    label = {"log_root_label": "none" if shown else "cuda_oom", "log_root_message": "out of memory"}
    found = diagnose(known, Features({"gpu_util_mean": 95.0, "train_loss_points": points, **label}))

    assert ("hot" in [note.id for note in found.notes], found.symptoms == ()) == (shown, shown)


def test_an_unknown_symptom_in_excuses_is_reported(tmp_path):
    """The note is left out."""
    known = own(tmp_path, HOT.replace("  change:", "  excuses: [stuck-los]\n  change:"))

    assert [p.partition(": ")[2] for p in known.problems] == ["excuses names 'stuck-los'; did you mean 'stuck-loss'?"]
    assert "hot" not in known.notes


@pytest.mark.parametrize("mean", [90.0, None])
def test_a_note_is_not_shown_if_the_answer_is_no_or_not_known(tmp_path, mean):
    """Not known is no yes."""
    assert diagnose(own(tmp_path, HOT), Features({"gpu_util_mean": mean})).notes == ()


@pytest.mark.parametrize(("end", "notes"), [(True, []), (False, ["paused"])])
def test_a_note_is_left_out_where_its_symptom_is_seen(end, notes):
    """`unless_seen` names the symptom that says the same."""
    values = {"stall_count": 1, "stall_s": 3600.0, "stall_ratio": 360.0, "stall_share": 0.4, "stall_step": 800}
    found = diagnose(catalogue(), Features({**values, "end_by_time_limit": end}))

    assert [note.id for note in found.notes] == notes
    assert ("stalled" in {symptom.id for symptom in found.symptoms}) is end


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("  change:", "  unless_seen: [slow-donw]\n  change:"), "did you mean 'slow-down'?"),
        (("gpu_util_mean > 90", "gpu_util_maen > 90"), "gpu_util_maen"),
        (("  change: open a window\n", ""), "change"),
        (("shown: true", "shown: maybe"), "true or false is needed"),
        (("{gpu_util_mean:.0f}", "{gpu_util_mean:.0x}"), "format"),
        (("hot:", "time-over-asked:"), "exists already"),
    ],
)
def test_a_faulty_note_is_left_out_and_reported(tmp_path, change, told):
    """With what is wrong; ours stay."""
    catalogue = own(tmp_path, HOT.replace(*change))

    assert "hot" not in catalogue.notes
    assert "time-over-asked" in catalogue.notes
    assert [told in problem for problem in catalogue.problems] == [True]


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (("mean: 95.0", "mean: 85.0"), ["hot"]),
        (("mean: 21.0", "mean: 99.0"), ["cool"]),
        (("shown: false, features: {gpu_util_mean: 2", "shown: true, features: {gpu_util_mean: 9"), [KINDS]),
        (('"at {gpu_util_mean:.0f} %"', '"{gpu_util_gpus} GPUs"'), ["hot"]),
        (("hot:", "hot:"), []),
    ],
)  # fmt: skip
def test_the_tests_of_notes_find_faults(tmp_path, change, failed):
    """A wrong answer, one kind of test only, a text with a value the test does not give."""
    outcomes = check(own(tmp_path, HOT.replace(*change)).only(["hot"]))

    assert [outcome.test for outcome in outcomes if not outcome.passed] == failed
    assert "silent where nothing is logged" in [outcome.test for outcome in outcomes]
