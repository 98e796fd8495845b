"""The shape of a JSON file."""

from pathlib import Path

import pytest

from loganalyst.sources.tables.jsonshape import number_lists, parse_json, settings_name, shape


@pytest.mark.parametrize(
    ("name", "opening", "expected"),
    [
        ("log.json", '{"step": 1}\n{"step": 2}\n', "lines"),
        ("x.jsonl", '{"a": 1}', "lines"),
        ("metrics.json", '{"epoch": 1, "loss": 0.5}', "lines"),
        ("x.json", '{"epoch": 1, "loss": 0.5}', "object"),
        ("x.json", '[{"a": 1}]', "array"),
        ("trainer_state.json", '{"log_history": []}', "log_history"),
        ("history.json", '{"loss": [' + "0.5, " * 11 + "0.4]}", "history"),
        ("cut.json", '{"loss": [0.5, 0.4, ', "history"),
        ("config.json", '{"loss": [' + "0.5, " * 11 + "0.4]}", "object"),
        ("x.json", "text", None),
    ],
)
def test_shape(name, opening, expected):
    """By the first characters and the name."""
    assert shape(Path(name), opening) == expected


def test_number_lists():
    """Lists of one length form a table; a common prefix such as `history` is dropped; other lists do not."""
    assert number_lists({"history": {"loss": [1, None], "acc": [0.5, 1]}}) == {"loss": [1.0, None], "acc": [0.5, 1.0]}
    assert number_lists({"betas": [0.9, 0.99], "lr": 1, "seed": 2, "name": "x", "n": 3}) == {}


def test_names_and_values():
    """Names of settings files; a text that is not JSON is None."""
    assert settings_name(Path("train_config.json"))
    assert settings_name(Path("args.json"))
    assert not settings_name(Path("history.json"))
    assert (parse_json("[1]"), parse_json("[1")) == ([1], None)


def test_the_history_of_one_epoch():
    """Nothing but lists of one number, one of them a loss."""
    history = {"loss": [0.5], "val_accuracy": [0.9]}

    assert number_lists(history) == history
    assert number_lists({"layers": [3], "heads": [4]}) == {}
    assert number_lists({**history, "name": "x"}) == {}
    assert number_lists({"loss": [0.5]}) == {}
