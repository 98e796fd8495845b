"""A history that was saved again and again."""

import json
from pathlib import Path

import numpy as np
import pytest

from loganalyst.errors import SourceError
from loganalyst.sources.discovery import snapshots
from loganalyst.sources.discovery.runs import discover

LOSS = [0.25 + 2.5 * 0.9**k for k in range(30)]


def as_json(file: Path, values: list[float]) -> None:
    file.write_text(json.dumps({"train_loss": values, "val_loss": [x + 1 for x in values]}))


def as_text(file: Path, values: list[float]) -> None:
    file.write_text("".join(f"Epoch {k}: train loss {x:.4f}\n" for k, x in enumerate(values)))


def as_columns(file: Path, values: list[float]) -> None:
    np.savetxt(file, values)


def save(folder: Path, name: str, write, values: dict[int, list[float]]) -> Path:
    for number, numbers in values.items():
        file = folder / name.format(number)
        file.parent.mkdir(exist_ok=True)
        write(file, numbers)
    return folder


@pytest.mark.parametrize(
    ("name", "write"),
    [("epoch_{}/losses.json", as_json), ("saved_{}.txt", as_text), ("ckpt{}/val_loss.txt", as_columns)],
)
def test_the_longest_is_the_run(tmp_path, name, write):
    """The numbers in names are compared as numbers: 9 comes before 12."""
    save(tmp_path, name, write, {number: LOSS[:number] for number in (6, 9, 12, 30)})
    found = discover(tmp_path)

    assert [str(file.relative_to(tmp_path)) for file in found.files] == [name.format(30)]
    assert "holds all of the history of which 3 others are earlier parts" in found.basis[-1]
    assert len(found.ignored) == 3


@pytest.mark.parametrize(
    "values",
    [
        {10: LOSS[:10], 20: [x + 0.125 for x in LOSS[:20]]},  # trainings of 10 and of 20 epochs
        {1: LOSS[:20], 2: LOSS[:10]},  # the second is shorter
        {1: [0.5] * 10, 2: [0.5] * 20},  # constant values say nothing
        {1: LOSS, 2: LOSS},  # copies, of which none is later
    ],
)
def test_other_runs_stay_apart(tmp_path, values):
    with pytest.raises(SourceError, match="holds 2 runs"):
        discover(
            save(tmp_path, "epoch_{}/losses.json", lambda file, x: file.write_text(json.dumps({"loss": x})), values)
        )


def test_nothing_is_read_where_names_differ(tmp_path, monkeypatch):
    """Folders of different models, or very many."""
    monkeypatch.setattr(snapshots, "_points", None)
    for name in ("cnn", "mlp"):
        save(tmp_path, f"{name}_{{}}.txt", as_text, {1: LOSS})

    with pytest.raises(SourceError, match="holds 2 runs"):
        discover(tmp_path)
