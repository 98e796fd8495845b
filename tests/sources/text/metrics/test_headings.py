"""Headings of held-out results: the lines below belong to them, up to the next line about the training."""

import re

import pytest

from loganalyst.sources.text.metrics import headings
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame


def names(text: str) -> list[str]:
    return parse(frame(text))["metric"].unique().sort().to_list()


@pytest.mark.parametrize(
    ("heading", "word"),
    [
        ("Test Error: ", "Test"),
        ("Running Validation...", "Valid"),
        ("Eval begin...", "Eval"),
        ("--- Validation ---", "Valid"),
        ("[Testing]", "Test"),
        ("Evaluating on the test set", "Eval"),
        ("----- Validation 12 -----", "Valid"),
        ("Testergebnis", "Test"),
    ],
)
def test_results_below_a_heading_are_of_its_data(heading: str, word: str) -> None:
    text = "".join(f"Epoch {i}\nloss: {1 / i:.3f}\n{heading}\n accuracy: {i / 10:.1f}\n" for i in range(1, 5))
    found = parse(frame(text))

    assert found.filter(metric=f"{word} accuracy").select("epoch", "value").rows() == [
        (1.0, 0.1), (2.0, 0.2), (3.0, 0.3), (4.0, 0.4)
    ]  # fmt: skip
    assert found["metric"].unique().sort().to_list() == [f"{word} accuracy", "loss"]


@pytest.mark.parametrize(
    "line",
    ["test the brakes", "The test failed", "valid until 2027", "Testing 3 models", "Test: 0.5", "Epoch 7 took 3 s"],
)
def test_other_lines_open_nothing(line: str) -> None:
    assert re.search(headings.HEADING, line) is None


@pytest.mark.parametrize("closes", ["Epoch 2", "Training", "step 7", "iteration 3", "fold 2"])
def test_a_line_about_the_training_ends_them(closes: str) -> None:
    text = "".join(f"Validation:\nacc: 0.{i}\n{closes}\nloss: {i}.5\n" for i in range(1, 5))

    assert names(text) == ["Valid acc", "loss"]


def test_a_heading_may_open_the_epoch() -> None:
    text = "".join(
        f"Epoch {i} Training stats.\n  Loss: {i}.5\nEpoch {i} Validation stats.\n  Loss: {i}.75\n" for i in (1, 2, 3)
    )

    assert parse(frame(text)).select("metric", "epoch", "value").rows() == [
        (name, float(i), i + rest) for i in (1, 2, 3) for name, rest in (("Loss", 0.5), ("Valid Loss", 0.75))
    ]


def test_they_end_after_some_lines() -> None:
    below = "words of the program\n" * headings.MAX_LINES
    text = "".join(f"Validation:\n{below}loss: {i}.5\n" for i in range(1, 5))

    assert names(text) == ["loss"]


def test_a_name_with_its_own_word_keeps_it() -> None:
    text = "".join(f"Epoch {i}\nValidation:\nval_loss: {i}.5 val_acc: 0.{i}\n" for i in range(1, 5))

    assert names(text) == ["val_acc", "val_loss"]
