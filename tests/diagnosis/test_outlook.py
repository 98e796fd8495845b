import pytest

from loganalyst.diagnosis.outlook import recommended, unseen
from loganalyst.model import Note

LONGER = Note("more-steps-would-help", "More steps would help", "it falls", "train for longer")
READY = Note("ended-at-its-best", "Ready", "it ended at its best", "use it")
EARLIER = Note("best-came-earlier", "The best model came earlier", "it rose", "stop there")
OTHER = Note("time-over-asked", "Far more time was asked for", "an hour", "ask for less")


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
    told, left = recommended("healthy", "finished", notes)

    assert (told and told["kind"]) == kind
    assert left == tuple(n for n in notes if n is OTHER)


def test_the_words_come_from_the_note():
    """Its title, its text as the reason, its change."""
    assert recommended("healthy", "unknown", (EARLIER,))[0] == {
        "kind": "stop_earlier",
        "title": "The best model came earlier",
        "why": "it rose",
        "change": "stop there",
    }


def test_a_run_that_failed_is_not_recommended():
    """More steps are advised only as long as no cause is known, because they would repeat the fault."""
    assert recommended("cause_unknown", "failed", (READY, LONGER, OTHER)) == (None, (LONGER, OTHER))
    assert recommended("diagnosis_complete", "failed", (READY, LONGER, OTHER)) == (None, (OTHER,))


def test_a_run_that_was_cut_off_is_not_ready():
    """Although it ended at its best; a note about what would have helped stays."""
    assert recommended("healthy", "cancelled", (READY,))[0] is None
    assert recommended("healthy", "running", (READY,))[0] is None
    longer = recommended("healthy", "cancelled", (READY, LONGER))[0]
    assert longer is not None
    assert longer["kind"] == "train_longer"


def test_readiness_waits_for_the_end():
    """A missing end line of the trainer takes the advice back. Without a plan it holds on a condition."""
    doubt = Note("trainer-end-not-seen", "The line that ends each training is missing", "it is missing", "look")

    told = recommended("healthy", "unknown", (READY,), end_known=False)[0]

    assert told is not None
    assert told["change"] == "use it, if the training was meant to end there"
    assert recommended("healthy", "unknown", (READY, doubt), end_known=False) == (None, (doubt,))
    earlier = recommended("healthy", "unknown", (EARLIER, doubt), end_known=False)[0]
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
