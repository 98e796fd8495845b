"""Words of names that readers and roles share."""

import re

import pytest

from loganalyst.curves.roles import assign
from loganalyst.namewords import in_english, word_file


@pytest.mark.parametrize(
    ("name", "english"),
    [
        ("validierungsfehler", "val error"),
        ("trainingsverlust", "train loss"),
        ("récompense", "reward"),
        ("réussite", "success"),
        ("训练误差", "train error"),
        ("平均報酬", "mean reward"),
        ("loss均值为", "loss mean of"),
        ("val_loss", "val_loss"),
        ("tested", "tested"),
        ("the error", "the error"),
    ],
)
def test_in_english(name: str, english: str) -> None:
    assert in_english(name) == english


@pytest.mark.parametrize("kind", ["scores", "errors"])
def test_measures_are_names_of_one_kind(kind: str) -> None:
    measures = word_file().measures
    own = measures.scores if kind == "scores" else measures.errors
    plain = [name for name in own if re.fullmatch(r"\w+", name)]

    assert len(set(own)) == len(own)
    assert set(measures.scores).isdisjoint(measures.errors)
    role = "val_score" if kind == "scores" else "val_error_rate"
    assert {name: assign([f"val_{name}", "val_loss"])[f"val_{name}"][0].name for name in plain} == dict.fromkeys(
        plain, role
    )
