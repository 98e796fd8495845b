"""The numbers of a shape with their names and roles."""

import pytest

from loganalyst.sources.text.lines.numberwords import SLOT
from loganalyst.sources.text.metrics import shapeparts


def numbers(shape: str, *, rare: bool = False) -> list[tuple[int, str, str | None]]:
    """Index, name and role of each number; `#` is a number."""
    parts = shapeparts.parts(shape.replace("#", SLOT), rare=rare)
    return [(n.index, n.key, n.role) for n in parts.numbers if n.key or n.role]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("Epoch #, train_loss: #", [(0, "Epoch", "epoch"), (1, "train_loss", None)]),
        ("step #/# | lr #", [(0, "step", "batch"), (1, "", "total"), (2, "lr", None)]),
        ("global_step: # step: # loss: #", [(0, "global_step", "step"), (2, "loss", None)]),
        ("[loss] # [step] #", [(0, "loss", None), (1, "step", "step")]),
        ("Loss after epoch #: #", [(0, "epoch", "epoch"), (1, "Loss", None)]),
        ("best epoch: # acc: #", [(0, "best epoch", None), (1, "acc", None)]),
        ("第 # 轮 loss: #", [(0, "第", "epoch"), (1, "loss", None)]),
        # what wrote a dict is no metric: a host and its process
        ("gpu-12 #: {'loss': #, 'lr': #}", [(1, "loss", None), (2, "lr", None)]),
        ('nid00123 # {"loss": #}', [(1, "loss", None)]),
        ("step # {'loss': #}", [(0, "step", "step"), (1, "loss", None)]),
        ("loss # {'lr': #}", [(0, "loss", None), (1, "lr", None)]),
    ],
)
def test_names_and_roles(shape: str, expected: list[tuple[int, str, str | None]]) -> None:
    assert numbers(shape) == expected


@pytest.mark.parametrize(
    ("shape", "word"), [("Validation: loss #", "Validation"), ("[val] loss #", "val"), ("loss #", "")]
)
def test_the_word_of_an_evaluation(shape: str, word: str) -> None:
    assert shapeparts.parts(shape.replace("#", SLOT), rare=False).evaluation == word


@pytest.mark.parametrize("name", ["tokens/s", "samples/sec", "it/s"])
@pytest.mark.parametrize("separator", [": ", "=", " = "])
def test_a_rate_before_a_separator_names_the_next_number(name: str, separator: str) -> None:
    assert [n[1] for n in numbers(f"loss # {name}{separator}#")] == ["loss", name]
    rate = [] if name == "it/s" else [name]  # of a bar; other rates name themselves by their unit
    assert [n[1] for n in numbers(f"loss #, # {name}")] == ["loss", *rate]
