"""Roles of thousands of names at once, compared with the role of each name alone."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.curves import roles
from loganalyst.curves.rolenames import MIN_BATCH, candidates

NAMES = Path(__file__).parents[2].parent.parent / "shared/corpus/metric-names.csv"
WORDS = [
    "train",
    "val",
    "Loss",
    "lr",
    "grad",
    "norm",
    "layer",
    "acc",
    "top5",
    "step",
    "gpu",
    "0",
    "verlust",
    "损失",
    "kl",
]
FILLED = [f"zz{i}" for i in range(MIN_BATCH)]  # enough for a batch


def alone(names: list[str]) -> dict[str, object]:
    return {name: roles._by_name([name])[name] for name in names}


@settings(max_examples=50)
@given(st.lists(st.one_of(st.lists(st.sampled_from(WORDS)).map("_".join), st.text(max_size=20)), unique=True))
def test_many_names_have_the_roles_of_each(names: list[str]) -> None:
    together = roles._by_name([*names, *FILLED])

    assert {name: together[name] for name in names} == alone(names)


@pytest.mark.skipif(not NAMES.exists(), reason="the corpus of metric names is not here")
def test_the_names_of_the_corpus() -> None:
    names = sorted({line.split(",")[0] for line in NAMES.read_text().splitlines()[1:]})

    assert roles._by_name(names) == alone(names)


def test_names_may_be_of_several_groups() -> None:
    asked = ["val_loss", "fps", "other", "val_loss"]

    assert candidates(asked, [["loss", "nll"], [], ["^val", "fps"]]) == {"val_loss": [0, 2], "fps": [2]}
