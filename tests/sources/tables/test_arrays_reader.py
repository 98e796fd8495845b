"""Histories saved with NumPy."""

import numpy as np
import pytest

from loganalyst.model import Tables
from loganalyst.sources.discovery import runs as discover
from loganalyst.sources.formats import reader
from loganalyst.sources.tables import arrays_reader


def read(path) -> Tables:
    return Tables.concat(arrays_reader.read(path))


def test_one_array_is_named_after_its_file(tmp_path):
    np.save(tmp_path / "train_loss.npy", np.array([2.5, np.nan, 1.5]))

    found = read(tmp_path / "train_loss.npy")
    assert str(found.points.select("metric", "step", "value").rows()) == (
        "[('train_loss', 0, 2.5), ('train_loss', 1, nan), ('train_loss', 2, 1.5)]"
    )


def test_an_array_of_any_length_is_a_curve(tmp_path):
    """A loss of every batch is long, and that of the last test one number, with or without a dimension."""
    for name, values in (("loss", np.arange(900.0)), ("test_loss", [0.5]), ("test_acc", 0.75)):
        np.save(tmp_path / f"{name}.npy", values)
    np.save(tmp_path / "folds.npy", np.linspace(2.5, 0.5, 1800).reshape(2, 900))
    found = {file.stem: read(file).points.group_by("metric").len().rows() for file in tmp_path.iterdir()}

    assert {*found.pop("folds")} == {("column_1", 900), ("column_2", 900)}
    assert found == {"loss": [("loss", 900)], "test_loss": [("test_loss", 1)], "test_acc": [("test_acc", 1)]}


def test_few_numbers_below_another_name_are_no_curve(tmp_path):
    np.savez(tmp_path / "history.npz", bias=[0.5], val_loss=[0.25])
    np.save(tmp_path / "losses.npy", np.zeros((60, 784)))

    assert read(tmp_path / "history.npz").points["metric"].to_list() == ["val_loss"]
    assert read(tmp_path / "losses.npy").gaps["why"].to_list() == ["NumPy: an array of shape (60, 784) is no history"]


def test_arrays_have_their_own_names_and_counter(tmp_path):
    np.savez(tmp_path / "history.npz", epoch=[1, 2, 3], loss=[2.5, 2.0, 1.5], images=np.zeros((2, 3, 3)))

    found = read(tmp_path / "history.npz")
    assert found.points.select("metric", "step", "value").rows() == [
        ("loss", 1, 2.5),
        ("loss", 2, 2.0),
        ("loss", 3, 1.5),
    ]
    assert found.gaps["why"].to_list() == ["NumPy: images has shape (2, 3, 3), which is no curve"]


@pytest.mark.parametrize(
    ("file", "names", "metrics"),
    [
        ("episode_rewards", ["saved"], ["episode_rewards"]),  # one array in a file named after a metric
        ("resnet_loss", ["arr_0"], ["resnet_loss"]),  # NumPy's own name
        ("resnet_loss", ["grid"], ["grid"]),
        ("accs", ["train", "test"], ["train/accs", "test/accs"]),  # only the data
        ("losses", ["val_acc"], ["val_acc"]),
    ],
)
def test_the_file_says_what_the_names_of_arrays_do_not(tmp_path, file, names, metrics):
    np.savez(tmp_path / f"{file}.npz", **{name: [0.5, 0.25, 0.125] for name in names})

    assert read(tmp_path / f"{file}.npz").points["metric"].unique(maintain_order=True).to_list() == metrics


def test_rows_with_a_step(tmp_path):
    np.save(tmp_path / "loss.npy", np.array([[0, 2.5], [10, 2.0], [20, 1.5]]))

    assert read(tmp_path / "loss.npy").points["step"].to_list() == [0, 10, 20]


def test_a_pickle_is_not_loaded(tmp_path):
    np.save(tmp_path / "history.npy", np.array({"loss": [1.0]}, object), allow_pickle=True)

    found = read(tmp_path / "history.npy")
    assert found.points.height == 0
    assert found.gaps["why"].to_list() == [
        "NumPy: holds Python objects in a pickle, which can run code and is not loaded: export it as JSON or CSV"
    ]


def test_arrays_named_like_a_history_make_a_run(tmp_path):
    """Others are data sets, and evaluations of Stable-Baselines3 have a reader of their own."""
    for folder, name in (("run", "train_losses.npy"), ("data", "x_train.npy")):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / name, np.arange(5.0))
    np.savez(tmp_path / "evaluations.npz", timesteps=[1, 2], results=np.ones((2, 3)))
    content = (tmp_path / "evaluations.npz").read_bytes()

    assert [found.root.name for found in discover.runs(tmp_path / "run")] == ["run"]
    assert [*discover.runs(tmp_path / "data")] == []
    assert reader(tmp_path / "evaluations.npz", content).NAME == "sb3evaluations"
