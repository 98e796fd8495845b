"""Roles of thousands of names at once, compared with the role of each name alone."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.curves.rolefile import role_file
from loganalyst.curves.rolenames import MIN_BATCH, FirstLook, required
from loganalyst.curves.rolepatterns import by_name

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
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"
FILLED = [f"zz{i}" for i in range(MIN_BATCH)]  # enough for a batch


def alone(names: list[str]) -> dict[str, object]:
    return {name: by_name([name])[name] for name in names}


@settings(max_examples=50)
@given(st.lists(st.one_of(st.lists(st.sampled_from(WORDS)).map("_".join), st.text(max_size=20)), unique=True))
def test_many_names_have_the_roles_of_each(names: list[str]) -> None:
    together = by_name([*names, *FILLED])

    assert {name: together[name] for name in names} == alone(names)


@pytest.mark.skipif(not NAMES.exists(), reason="the corpus of metric names is not here")
def test_the_names_of_the_corpus() -> None:
    names = sorted({line.split(",")[0] for line in NAMES.read_text().splitlines()[1:]})

    assert by_name(names) == alone(names)


@settings(max_examples=150)
@given(st.data())
def test_every_match_has_what_is_required(data: st.DataObject) -> None:
    """Of every phrase of our roles, by itself and inside of a longer name."""
    phrase = data.draw(st.sampled_from([p for entry in role_file().roles.values() for p in entry.any]))
    match = data.draw(st.from_regex(phrase.strip("^$"), fullmatch=True, alphabet=LETTERS))

    for name in (match, f"val_{match}_0"):
        assert [texts for texts in required(phrase) if not any(text in f"_{name}_" for text in texts)] == []


@pytest.mark.parametrize(
    ("phrase", "texts"),
    [
        ("m?iou(_.*)?", [{"iou"}]),
        ("l[12]", [{"_l"}]),
        ("(train|eval)_runtime", [{"train", "eval"}, {"_runtime_"}]),
        ("(a(bc|de)f|gh)", [{"bc", "de", "gh"}]),
        ("(abc|[0-9]+)x{2}y", [{"y_"}]),
        ("fps|tps", [{"_fps", "tps_"}]),
        ("(.*_)?[a-z]+", []),
    ],
)
def test_what_is_required(phrase: str, texts: list[set[str]]) -> None:
    """Neither what a quantifier makes optional, nor what only one alternative has."""
    assert list(required(phrase)) == texts


@pytest.mark.parametrize("others", [[], FILLED], ids=["few", "many"])
def test_names_may_be_of_several_groups(others: list[str]) -> None:
    """In the order of the groups; a group that requires no text is always named, unless its words are missing."""
    groups = [(["loss", "nll"], ()), ([], ()), (["^val", "fps"], ()), (["[a-z]+"], ()), (["[a-z]+"], ["val", "dev"])]
    found = dict(FirstLook(groups).candidates(["val_loss", "fps", "other", *others]))

    assert {name: found[name] for name in ("val_loss", "fps", "other")} == {
        "val_loss": (0, 2, 3, 4),
        "fps": (2, 3),
        "other": (3,),
    }
