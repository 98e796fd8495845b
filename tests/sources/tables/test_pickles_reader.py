"""Histories that a script pickled."""

import pickle

import numpy as np
import pytest

from loganalyst.model import Tables
from loganalyst.sources.discovery import runs as discover
from loganalyst.sources.formats import reader
from loganalyst.sources.ingest import ingest
from loganalyst.sources.tables import pickles_reader

LOSS = [2.5, 1.5, 1.0, 0.75]
KERAS = {"loss": LOSS, "val_loss": [x + 1 for x in LOSS]}


def saved(path, value, protocol=4):
    path.write_bytes(pickle.dumps(value, protocol))
    return path


def known(path) -> bool:
    return reader(path, path.read_bytes()[: 1 << 16]) is pickles_reader


def read(path) -> Tables:
    return Tables.concat(pickles_reader.read(path))


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize(
    "value",
    [
        KERAS,
        {"history": KERAS, "epoch": {}, "params": {"verbose": 1}},
        {name: np.array(numbers, np.float32) for name, numbers in KERAS.items()},
        {name: [np.float64(x) for x in numbers] for name, numbers in KERAS.items()},
        [dict(zip(KERAS, row, strict=True)) for row in zip(*KERAS.values(), strict=True)],
        [
            {name: np.float32(x) for name, x in zip(KERAS, row, strict=True)}
            for row in zip(*KERAS.values(), strict=True)
        ],
    ],
)
def test_a_history_is_read_in_each_form(tmp_path, value, protocol):
    path = saved(tmp_path / "run3.pkl", value, protocol)

    assert known(path)
    points = read(path).points
    assert {name: points.filter(metric=name)["value"].to_list() for name in points["metric"].unique()} == KERAS


def test_not_a_number_is_kept(tmp_path):
    path = saved(tmp_path / "history.pkl", {"loss": [0.5, float("nan"), float("inf")]})

    assert str(read(path).points["value"].to_list()) == "[0.5, nan, inf]"


@pytest.mark.parametrize("value", [LOSS, np.array(LOSS), [np.float32(x) for x in LOSS], tuple(LOSS)])
def test_a_list_is_named_after_its_file(tmp_path, value):
    path = saved(tmp_path / "train_losses.pkl", value)

    assert known(path)
    assert read(path).points.select("metric", "step", "value").rows() == [
        ("train_losses", k, x) for k, x in enumerate(LOSS)
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vocab.pkl", {"loss": 17, "accuracy": 18, "the": 1}),  # words by number
        ("tokenizer.pkl", ["loss", "accuracy"]),
        ("numbers.pkl", LOSS),
        ("batch_1.pkl", {"data": np.zeros((4, 8)), "labels": [1, 2, 3, 4], "filenames": ["a", "b", "c", "d"]}),
        ("network.pkl", {"W1": np.zeros((4, 8)), "b1": np.zeros(8), "b2": np.zeros(8)}),
        ("predictions.pkl", {"text": ["a", "b", "c"], "score": [0.5, 0.25, 0.75]}),
        ("history.pkl", {"epoch": 3, "lr": 0.1}),
        ("losses.pkl", ["a", "b"]),
        ("loss.pkl", KeyError("loss")),
        ("checkpoint.pkl", {"loss": LOSS, "optimizer": np.random.RandomState()}),
    ],
)
def test_other_pickles_are_no_histories(tmp_path, name, value):
    path = saved(tmp_path / name, value)

    assert reader(path, path.read_bytes()) is None


def test_a_long_history_is_known_by_its_beginning(tmp_path):
    """Its first list is longer than what a reader sees, and so is a list of NumPy's numbers in `rewards`."""
    long = np.linspace(2, 1, 20_000)

    for number in (float, np.float32):
        assert known(saved(tmp_path / "run.pkl", {"loss": list(map(number, long)), "acc": list(map(number, long))}))
        assert known(saved(tmp_path / "rewards.pkl", list(map(number, long))))


@pytest.mark.parametrize("name", ["history.pkl", "trainHistoryDict", "train_losses.pickle", "history_dict.p"])
def test_a_folder_with_a_history_is_a_run(tmp_path, name):
    (tmp_path / "adam").mkdir()
    saved(tmp_path / "adam" / name, KERAS)
    saved(tmp_path / "adam" / "scaler.pkl", np.random.RandomState())

    assert [(run.root.name, [file.name for file in run.files]) for run in discover.runs(tmp_path)] == [("adam", [name])]
    assert ingest(tmp_path / "adam").points.height == 8


def test_what_is_refused_becomes_a_gap(tmp_path):
    cut = tmp_path / "history.pkl"
    cut.write_bytes(pickle.dumps(KERAS)[:-9])
    late = saved(tmp_path / "late.pkl", {"loss": [0.5] * 20_000, "model": np.random.RandomState()})
    named = saved(tmp_path / "results.pkl", [{"model": name, "loss": 0.5} for name in ("bert", "gpt2", "rnn")])
    image = saved(tmp_path / "image.pkl", {**KERAS, "confusion": np.zeros((3, 3))})

    assert all(map(known, (cut, late, image)))
    assert "a pickle that is not read (damaged at byte" in read(cut).gaps["why"][0]
    assert read(late).gaps["why"].to_list() == [
        "a pickle that is not read (it holds `numpy.random._pickle.__randomstate_ctor`, which could run code): "
        "export it as JSON or CSV"
    ]
    assert "each row has a name" in read(named).gaps["why"][0]
    assert read(image).gaps["why"].to_list() == ["NumPy: an array of shape (3, 3) is no curve"]
    assert read(image).points.height == 8
