"""Folders in which no name says that there is a run: what is read, and what is no course of a training."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from loganalyst.errors import SourceError
from loganalyst.sources.discovery.runs import discover, runs

RANDOM = random.Random(1)
LOSS = [0.35 + 1.9 * 0.88**k for k in range(40)]
SHARE = [0.9 - 0.6 * 0.88**k for k in range(40)]
SHUFFLED = [RANDOM.random() for _ in range(200)]


def column(*columns: list[float], head: str = "", sep: str = " ") -> str:
    return head + "".join(sep.join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    "files",
    [
        {"rewards": column(SHARE)},
        {"losses": json.dumps([*enumerate(LOSS)])},
        {"train_loss": column(LOSS), "val_loss": column(LOSS)},
        {"data/losses.json": json.dumps([{"loss": x, "val_loss": x} for x in LOSS])},
        {"out/walker_seed_1.csv": column(LOSS, SHARE, head="# epoch_return, epoch_success\n", sep=",")},
        {f"out/vgg_{data}_acc_cifar": json.dumps([*zip(SHARE, SHARE, strict=True)]) for data in ("train", "test")},
        {"run.dat": column(LOSS, LOSS, head="# train_loss val_loss\n")},
    ],
)
@pytest.mark.parametrize("beside", [{}, {"config.json": '{"lr": 0.1}'}])
def test_what_plainly_is_a_course_is_read(tmp_path: Path, files: dict[str, str], beside: dict[str, str]) -> None:
    """Its settings are read with it. An audit takes no such folder for a run."""
    write(tmp_path, files | beside)
    found = discover(tmp_path)

    assert {str(file.relative_to(tmp_path)) for file in found.files} == {*files, *beside}
    assert found.basis[0].endswith("by its content")
    assert all(file.name in beside for run in runs(tmp_path) for file in run.files)


@pytest.mark.parametrize(
    "files",
    [
        {"data.json": json.dumps([{"text": "a", "label": k % 2, "score": x} for k, x in enumerate(SHUFFLED)])},
        {"labels.json": json.dumps([int(10 * x) for x in SHUFFLED])},
        {"error_of_samples": json.dumps(SHUFFLED)},
        {"class_weights.json": json.dumps(SHUFFLED[:20])},
        {"splits.json": json.dumps({"train": [*range(80)], "val": [*range(80, 100)]})},
        {"values.dat": column(SHUFFLED, SHUFFLED, head="# loss error\n")},  # in no order: samples
        {"vectors.dat": column(*[SHUFFLED] * 30)},
        {"package.json": '{"name": "x", "version": "1.0.0"}'},
        {"instances.json": json.dumps({"annotations": [{"id": 1, "bbox": [1.5, 2.5, 3.5, 4.5]}] * 9})},
        {"requirements.txt": "numpy==1.26.0\ntorch==2.1.0\n"},
        {"tokenizer.json": json.dumps({"model": {"vocab": {f"t{k}": k for k in range(300)}}})},
    ],
)
def test_what_is_no_course_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)

    with pytest.raises(SourceError, match="holds no log that can be read"):
        discover(tmp_path)


def test_arrays_of_weights_are_none_of_the_curves(tmp_path: Path) -> None:
    for name, shape in (("W1", (8, 8)), ("bias1", (8,)), ("y_test", (40, 2))):
        np.save(tmp_path / f"{name}.npy", np.ones(shape))
    for name in ("train_lossB", "val_lossB"):
        np.save(tmp_path / f"{name}.npy", LOSS)

    assert {file.name for file in discover(tmp_path).files} == {"train_lossB.npy", "val_lossB.npy"}


def test_files_of_several_trainings_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"saves/adam_loss": column(LOSS), "saves/sgd_loss": column(LOSS)})

    with pytest.raises(SourceError, match="holds 2 files with curves") as refused:
        discover(tmp_path)
    assert "name one of them: saves/adam_loss, saves/sgd_loss" in str(refused.value)


@pytest.mark.parametrize(
    "make", [lambda file: file.write_bytes(b"\x00\xff" * 50), lambda file: file.write_text("[1.5,")]
)
def test_a_damaged_file_is_no_course(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "loss")

    with pytest.raises(SourceError):
        discover(tmp_path)
