import pytest

from loganalyst.diagnosis.fence import ask
from loganalyst.diagnosis.rule import SymptomRule
from loganalyst.diagnosis.template import Template
from loganalyst.diagnosis.told import meant, told
from loganalyst.model import Feature, Features, Symptom

NAMES = ("nan_count", "divergence_count", "spike_count", "plateau_count", "gradient_ratio", "val_rise")
DECLARED = {name: Feature(name, "float", "", "", "") for name in NAMES}
TITLES = {
    "nan-loss": "Loss is NaN or infinite",
    "divergence": "Loss left its trend and did not return",
    "loss-spikes": "Loss has spikes",
    "plateau": "Loss stopped falling",
    "exploding-gradients": "Gradients grow far beyond their usual size",
    "val-loss-rise": "Held-out loss rose after its best",
}
KNOWN = {
    id_: SymptomRule(id_, title, ask(f"{name} > 0", DECLARED), Template(title, ()))
    for (id_, title), name in zip(TITLES.items(), NAMES, strict=True)
}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("nan-loss", ["nan-loss"]),
        ("the loss went NaN", ["nan-loss"]),
        ("it diverges", ["divergence"]),
        ("loss spiked twice", ["loss-spikes"]),
        ("gradient explosion", ["exploding-gradients"]),
        ("loss", []),
        ("something is odd", []),
        ("", []),
    ],
)
def test_a_text_is_understood_by_its_telling_words(text, ids):
    """Ids, titles and inflected words find their symptom; common words alone find none."""
    assert meant(text, KNOWN) == ids


def test_a_symptom_that_was_seen_is_confirmed():
    """What the logs show is quoted."""
    seen = [Symptom("nan-loss", "Loss is NaN", "loss", 7, "loss is NaN from step 7")]

    (row,) = told(["loss became nan"], KNOWN, seen, Features({}))

    assert row == {
        "text": "loss became nan",
        "seen": True,
        "answer": "the logs show it: loss is NaN from step 7",
        "symptoms": ["nan-loss"],
    }


def test_looked_for_and_not_there_is_not_the_same_as_not_logged():
    """Only with every asked feature known the logs deny a symptom."""
    known, unknown = (
        told(["plateau"], KNOWN, [], Features({"plateau_count": value}))[0]["seen"] for value in (0.0, None)
    )

    assert known is False
    assert unknown is None


def test_what_is_not_understood_says_so():
    """An unknown complaint is not turned into an answer, and the known symptoms are named."""
    (row,) = told(["my cat is ill"], KNOWN, [], Features({}))

    assert row["seen"] is None
    assert row["answer"].startswith("not understood; known symptoms are nan-loss, divergence")
