"""Notes are shown with the answer if their question is answered with yes, and are never a cause."""

from pathlib import Path

import pytest

from loganalyst.diagnosis import diagnose
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.ruletests import check
from loganalyst.features import declared
from loganalyst.model import Features, Note
from loganalyst.rulefiles import rules_dir

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
    return load(declared(), [rules_dir(), folder])


def test_a_note_changes_nothing_in_the_answer(tmp_path):
    """The same status, confidence and causes with and without it."""
    values = {"job_state": "completed", "run_status": "finished", "run_kind": "job", "gpu_util_mean": 95.0}
    plain = diagnose(load(declared(), [rules_dir()]), Features(values))
    noted = diagnose(own(tmp_path, HOT), Features(values))

    assert noted.notes == (Note("hot", "It is hot", "at 95 %", "open a window", origin=str(tmp_path / "notes.yaml")),)
    assert (noted.status, noted.confidence, noted.causes) == (plain.status, plain.confidence, plain.causes)
    assert plain.notes == ()


@pytest.mark.parametrize("mean", [90.0, None])
def test_a_note_is_not_shown_if_the_answer_is_no_or_not_known(tmp_path, mean):
    """Not known is no yes."""
    assert diagnose(own(tmp_path, HOT), Features({"gpu_util_mean": mean})).notes == ()


@pytest.mark.parametrize(("end", "notes"), [(True, []), (False, ["paused"])])
def test_a_note_is_left_out_where_its_symptom_is_seen(end, notes):
    """`unless_seen` names the symptom that says the same."""
    values = {"stall_count": 1, "stall_s": 3600.0, "stall_ratio": 360.0, "stall_share": 0.4, "stall_step": 800}
    found = diagnose(load(declared(), [rules_dir()]), Features({**values, "end_by_time_limit": end}))

    assert [note.id for note in found.notes] == notes
    assert ("stalled" in {symptom.id for symptom in found.symptoms}) is end


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("  change:", "  unless_seen: slow-donw\n  change:"), "did you mean 'slow-down'?"),
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
