"""One record in two files of a folder."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from loganalyst.sources.discovery.runs import runs
from loganalyst.sources.ingest import ingest

LOSS = [2.5, 2.25, 2.0, 1.75, 1.5, 1.25]
TEXT = "".join(f"Epoch {k}: loss {x}, val loss {x + 1}\n" for k, x in enumerate(LOSS))


def write(folder: Path, *names: str) -> Path:
    both = {"loss": LOSS, "val_loss": [x + 1 for x in LOSS]}
    for path in (folder / name for name in names):
        if path.suffix == ".npy":
            np.save(path, np.array([*both.values()]).T)
        elif path.suffix == ".npz":
            np.savez(path, **both)
        elif path.suffix == ".pkl":
            path.write_bytes(pickle.dumps(both))
        elif path.suffix == ".csv":
            path.write_text("loss,val_loss\n" + "".join(f"{x},{x + 1}\n" for x in LOSS))
        else:
            path.write_text(json.dumps(both) if path.suffix == ".json" else TEXT)
    return folder


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("loss_record.npy loss_record.txt", {"loss_record.txt"}),
        ("history.npy history.csv", {"history.csv"}),
        ("losses.npy losses.npz", {"losses.npz"}),
        ("loss_all.json loss_all.txt", {"loss_all.json", "loss_all.txt"}),
        ("history.npz history.txt", {"history.npz", "history.txt"}),
        ("history.pkl history.json", {"history.json"}),
        ("history.pkl metrics.csv", {"history.pkl", "metrics.csv"}),
    ],
)
def test_one_record_is_one_run_with_names(tmp_path, names, read):
    found = ingest(write(tmp_path, *names.split()))

    assert {source.path for source in found.sources} == read
    assert {*found.points["metric"].str.replace(" ", "_")} == {"loss", "val_loss"}


def test_files_of_other_names_stay_apart(tmp_path):
    assert len([*runs(write(tmp_path, "loss_adam.npy", "loss_sgd.txt"))]) == 2


def test_a_text_without_a_training_does_not_count(tmp_path):
    write(tmp_path, "history.npy")
    (tmp_path / "history.txt").write_text("This folder holds the history of the first experiment.\n")

    assert {*ingest(tmp_path).points["metric"]} == {"column_1", "column_2"}


def test_one_curve_without_names_is_kept(tmp_path):
    """It may be of another length than the one in the table: of each batch."""
    write(tmp_path, "loss.csv")
    np.save(tmp_path / "loss.npy", np.linspace(2.5, 1.25, 60))

    assert {source.path for source in ingest(tmp_path).sources} == {"loss.csv", "loss.npy"}
