import pytest

from loganalyst import pipeline
from loganalyst.diagnosis.outlook import PRESSING, recommended, unseen
from loganalyst.model import Note

LONGER = Note("more-steps-would-help", "More steps would help", "it falls", "train for longer")
READY = Note("ended-at-its-best", "Ready", "it ended at its best", "use it")
EARLIER = Note("best-came-earlier", "The best model came earlier", "it rose", "stop there")
DOUBT = Note("trainer-end-not-seen", "The line that ends each training is missing", "it is missing", "look")
OTHER = Note("time-over-asked", "Far more time was asked for", "an hour", "ask for less")


def _recommended(status, ended, notes, *, end_known=True):
    """With the notes of our own rules."""
    return recommended(status, ended, notes, pipeline.catalogue().notes, end_known=end_known)


@pytest.mark.parametrize(
    ("notes", "kind"),
    [
        ((READY, LONGER, EARLIER), "stop_earlier"),
        ((READY, LONGER), "train_longer"),
        ((OTHER, READY), "ready"),
        ((OTHER,), None),
    ],
)
def test_the_most_pressing_is_recommended(notes, kind):
    """One of them; the other notes stay notes."""
    told, left = _recommended("healthy", "finished", notes)

    assert (told and told["kind"]) == kind
    assert left == tuple(n for n in notes if n is OTHER)


def test_the_first_of_a_file_is_recommended():
    """Of two notes that recommend the same."""
    pairs = [(note.id, note.recommends) for note in pipeline.catalogue().notes.values() if note.recommends]

    assert next(id_ for id_, kind in pairs if kind == "train_longer") == "more-steps-would-help"
    assert {kind for _, kind in pairs} == set(PRESSING)


def test_the_words_come_from_the_note():
    """Its title, its text as the reason, its change."""
    assert _recommended("healthy", "unknown", (EARLIER,))[0] == {
        "kind": "stop_earlier",
        "title": "The best model came earlier",
        "why": "it rose",
        "change": "stop there",
    }


def test_a_run_that_failed_is_not_recommended():
    """More steps are advised only as long as no cause is known, because they would repeat the fault."""
    assert _recommended("cause_unknown", "failed", (READY, LONGER, OTHER)) == (None, (LONGER, OTHER))
    assert _recommended("diagnosis_complete", "failed", (READY, LONGER, OTHER)) == (None, (OTHER,))


def test_a_run_that_was_cut_off_is_not_ready():
    """Although it ended at its best; a note about what would have helped stays."""
    assert _recommended("healthy", "cancelled", (READY,))[0] is None
    assert _recommended("healthy", "running", (READY,))[0] is None
    longer = _recommended("healthy", "cancelled", (READY, LONGER))[0]
    assert longer is not None
    assert longer["kind"] == "train_longer"


def test_readiness_waits_for_the_end():
    """A missing end line of the trainer takes the advice back. Without a plan it holds on a condition."""
    told = _recommended("healthy", "unknown", (READY,), end_known=False)[0]

    assert told is not None
    assert told["change"] == "use it, if the training was meant to end there"
    assert _recommended("healthy", "unknown", (READY, DOUBT), end_known=False) == (None, (DOUBT,))
    earlier = _recommended("healthy", "unknown", (EARLIER, DOUBT), end_known=False)[0]
    assert earlier is not None
    assert earlier["change"] == "stop there"


@pytest.mark.parametrize(
    ("status", "values", "missing"),
    [
        ("healthy", {"run_kind": "training"}, ["planned_end", "step_time"]),
        ("healthy", {"run_kind": "reinforcement", "run_end": "finished"}, ["step_time"]),
        ("healthy", {"run_kind": "training", "run_end": "finished", "throughput_points": 90}, []),
        ("healthy", {"run_kind": "evaluation"}, []),
        ("cause_unknown", {"run_kind": "training"}, []),
    ],
)
def test_a_healthy_training_names_what_it_did_not_log(status, values, missing):
    """An evaluation has no steps, and other answers claim no health."""
    assert list(unseen(status, values)) == missing
