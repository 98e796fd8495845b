"""Several trainings in one file: each has its roles, and the worst is judged."""

import json
from pathlib import Path

import pandas as pd
import pytest

from loganalyst.model import Diagnosis
from loganalyst.pipeline import diagnose_paths

FALL = [2.2 * 0.9**i + 0.25 + 0.01 * (-1) ** i for i in range(30)]
HELD_OUT = [x + 0.08 for x in FALL]
BROKEN = FALL[:12] + [float("nan")] * 18
RISES = [x + 0.15 * i for i, x in enumerate(HELD_OUT)]
FLAT = [2.4 + 0.01 * (-1) ** i for i in range(30)]
GOOD = {"train_loss": FALL, "val_loss": HELD_OUT}


def diagnosed(tmp_path: Path, trainings: dict[str, object]) -> Diagnosis:
    path = tmp_path / "lists.json"
    path.write_text(json.dumps(trainings))
    (found,) = diagnose_paths([path])
    return found


def roles(found: Diagnosis) -> dict[str, str]:
    return {m.name: m.role for m in found.metrics}


@pytest.mark.parametrize("names", [("fold_1", "fold_2"), ("cnn", "lstm"), ("seed_0", "seed_1"), ("a/adam", "a/sgd")])
@pytest.mark.parametrize("metrics", [("train_loss", "val_loss"), ("loss", "val_loss"), ("train/loss", "valid/loss")])
def test_each_has_its_losses(names: tuple[str, str], metrics: tuple[str, str], tmp_path: Path) -> None:
    found = diagnosed(tmp_path, {f"{n}/{m}": x for n in names for m, x in zip(metrics, (FALL, HELD_OUT), strict=True)})

    assert roles(found) == {
        f"{n}/{m}": r for n in names for m, r in zip(metrics, ("train_loss", "val_loss"), strict=True)
    }
    assert found.status == "healthy"
    assert found.features.values["other_trainings"] == 1
    assert not any(m.role_unsure for m in found.metrics)


@pytest.mark.parametrize(
    ("worse", "rule"),
    [
        ({"train_loss": BROKEN, "val_loss": BROKEN}, "nan-loss"),
        ({"train_loss": FALL, "val_loss": RISES}, "overfitting"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_worst_is_judged_as_if_alone(worse: dict[str, list[float]], rule: str, place: int, tmp_path: Path) -> None:
    trainings = {f"fold_{i}": worse if i == place else GOOD for i in range(3)}
    found, alone = diagnosed(tmp_path, trainings), diagnosed(tmp_path, worse)

    assert [(c.id, c.confidence) for c in found.causes] == [(c.id, c.confidence) for c in alone.causes]
    assert found.causes[0].id == rule
    assert found.causes[0].metric == f"fold_{place}/{alone.causes[0].metric}"
    assert "several-trainings-in-one-file" in [note.id for note in found.notes]


def test_one_that_learned_nothing_is_worse_than_one_that_fell(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, {"cnn": GOOD, "lstm": {"train_loss": FLAT, "val_loss": FLAT}, "gru": GOOD})

    assert {curve.metric for curve in found.curves} == {"lstm/train_loss", "lstm/val_loss"}


def test_columns_of_a_table(tmp_path: Path) -> None:
    columns = {f"fold{i}_{name}": x for i in range(2) for name, x in GOOD.items()}
    pd.DataFrame({"epoch": range(30), **columns}).to_csv(tmp_path / "metrics.csv", index=False)
    (found,) = diagnose_paths([tmp_path / "metrics.csv"])

    assert roles(found) == {name: name.partition("_")[2] for name in columns}


@pytest.mark.parametrize(
    "heads",
    [
        {"seg/loss": FALL, "cls/loss": FALL},
        {"seg/loss": FALL, "cls/loss": HELD_OUT, "loss": RISES},
        {"seg": GOOD, "cls": GOOD},
        {"a": GOOD, "b": GOOD, "train_loss": FALL, "val_loss": HELD_OUT},  # a total beside them
        {"fold_1": GOOD},
        {"fold_1": GOOD, "fold_2": {"acc": FALL}},
    ],
)
def test_parts_of_one_training_stay_terms(heads: dict[str, object], tmp_path: Path) -> None:
    found = diagnosed(tmp_path, heads)

    assert {role for name, role in roles(found).items() if "/" in name} & {"loss_component", "val_loss_component"} or (
        found.features.values["other_trainings"] in (0, None)
    )


def test_stages_of_one_training_are_not_several(tmp_path: Path) -> None:
    """A warm-up is followed by the rest."""
    rows = [
        {"phase": "warmup" if i < 5 else "full", "epoch": i, "train_loss": x, "val_loss": x} for i, x in enumerate(FALL)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "metrics.csv", index=False)
    (found,) = diagnose_paths([tmp_path / "metrics.csv"])

    assert found.features.values["other_trainings"] in (0, None)
    assert [(c.metric, c.values.size) for c in found.curves] == [("train_loss", len(FALL)), ("val_loss", len(FALL))]
