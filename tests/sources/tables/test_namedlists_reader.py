"""Named lists of numbers in YAML, TOML and Python's spelling."""

import math
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.sources.tables import namedlists_reader

LOSS, VAL = [2.0, 1.5, 1.2, 1.1, 1.05], [2.1, 1.7, 1.5, 1.4, 1.45]
DATA: dict[str, Any] = {"lr": 0.001, "train_loss": LOSS, "val_loss": VAL}
ROWS = [(name, *pair) for name in ("train_loss", "val_loss") for pair in enumerate(DATA[name])]
TOML = f"lr = 0.001\ntrain_loss = {LOSS}\nval_loss = {VAL}\n"
FILES = {
    "hist.yaml": yaml.safe_dump(DATA),
    "flow.yml": yaml.safe_dump(DATA, default_flow_style=None),
    "hist.toml": TOML,
    "out.txt": f"{DATA}\n",
    "tuples.txt": repr({"tags": ("a", "b"), "best": None, "train_loss": LOSS, "val_loss": VAL}),
    "assigned.txt": f"train_loss = {LOSS}\nval_loss = {VAL}\n",
}


def points(path: Path, content: str) -> pl.DataFrame:
    path.write_text(content)
    return pipeline.read_run(path).points.select("metric", "step", "value").sort("metric", "step")


@pytest.mark.parametrize("name", FILES)
def test_each_spelling_tells_the_same(name: str, tmp_path: Path) -> None:
    assert points(tmp_path / name, FILES[name]).rows() == ROWS


def test_values_that_are_no_numbers(tmp_path: Path) -> None:
    losses = [2.0, 1.5, 1.0, 0.5, math.nan, math.inf, -math.inf]
    for name, content in (("a.yaml", yaml.safe_dump({"loss": losses})), ("a.txt", repr({"loss": losses}))):
        found = points(tmp_path / name, content)["value"].to_list()
        assert found[:4] == losses[:4]
        assert math.isnan(found[4])
        assert found[5:] == losses[5:]


def test_other_values_are_settings(tmp_path: Path) -> None:
    (tmp_path / "hist.toml").write_text(TOML)

    assert pipeline.read_run(tmp_path / "hist.toml").config.select("key", "number").rows() == [("hist.lr", 0.001)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train_config.yaml", FILES["hist.yaml"]),
        ("model.yaml", "betas: [0.9, 0.999, 0.9, 0.99]\nloss_weights: [1.0, 1.0, 1.0, 1.0]\n"),
        ("model.yaml", "loss: [0.1, 0.2]\n"),
        ("notes.txt", "The loss: [2.1, 1.9, 1.8, 1.7] fell.\n"),
        ("hist.json", FILES["hist.yaml"]),
        ("hist.yaml", ""),
    ],
)
def test_settings_and_prose_are_not_these(name: str, content: str) -> None:
    assert namedlists_reader.sniff(Path(name), content.encode()) == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.toml", f"loss = {LOSS}\nloss = 1\n"),
        ("a.toml", f"loss = {LOSS}\n" + "a." * 5000 + "a = 1\n"),
        ("a.txt", f"{{'loss': {LOSS}, 'x': set()}}"),
        ("a.txt", f"{{'loss': {LOSS}, 'x': " + "[" * 100_000),
        ("a.yaml", f"loss: {LOSS}\nx: " + "[" * 100_000),
    ],
)
def test_what_cannot_be_parsed_is_a_gap(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    found = [*namedlists_reader.read(tmp_path / name)]

    assert not any(tables.points.height for tables in found)
    assert found[-1].gaps["why"][0].startswith("broken")


def test_what_stands_before_a_fault_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("loss: [2.0, 1.5, 1.2, 1.1\n")
    run = pipeline.read_run(tmp_path / "a.yaml")

    assert run.points["value"].to_list() == [2.0, 1.5, 1.2, 1.1]
    assert run.gaps["why"][0].startswith("broken")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namedlists_reader, "MAX_BYTES", 10)
    (tmp_path / "hist.toml").write_text(TOML)
    (found,) = namedlists_reader.read(tmp_path / "hist.toml")

    assert found.gaps["why"].to_list() == ["named lists: larger than 0 MiB"]


@given(st.lists(st.floats(), min_size=4, max_size=30))
def test_python_prints_and_toml_and_yaml_write_the_same_numbers(losses: list[float]) -> None:
    data = {"loss": losses}
    for kind, content in ((".txt", repr(data)), (".toml", f"loss = {losses}"), (".yaml", yaml.safe_dump(data))):
        found = namedlists_reader._parsed(kind, content)[0]["loss"]
        assert [*map(repr, map(float, found))] == [*map(repr, losses)]
    assert repr(tomllib.loads(f"loss = {losses}")["loss"]) == repr(losses)


@pytest.mark.parametrize("head", ["", "---\n", "# a run\n"])
@pytest.mark.parametrize("name", ["training_history.yaml", "learning_curve.yml", "train_metrics.yaml"])
def test_rows_in_yaml(head: str, name: str, tmp_path: Path) -> None:
    """A list of rows, found in a folder beside settings."""
    rows = [{"epoch": e, "train_loss": x, "val_loss": VAL[e]} for e, x in enumerate(LOSS)]
    (tmp_path / "config.yaml").write_text("lr: 0.1\n")
    (tmp_path / name).write_text(head + yaml.safe_dump(rows))
    found = pipeline.read_run(tmp_path).points.select("metric", "step", "value").sort("metric", "step")

    assert found.rows() == ROWS


@pytest.mark.parametrize(
    "data",
    [
        {f"epoch_{e}": {"train_loss": x, "val_loss": VAL[e]} for e, x in enumerate(LOSS)},
        {"seed": 1, "history": [{"epoch": e, "train_loss": x, "val_loss": VAL[e]} for e, x in enumerate(LOSS)]},
    ],
)
def test_rows_under_names_in_yaml(data: dict[str, Any], tmp_path: Path) -> None:
    assert points(tmp_path / "history.yaml", yaml.safe_dump(data, sort_keys=False)).rows() == ROWS


@pytest.mark.parametrize(
    "data",
    [
        {"heads": [{"name": n, "loss": 1.0} for n in "abcde"]},  # one number again and again
        {"heads": [{"name": n, "loss_weight": x} for n, x in zip("abcde", LOSS, strict=True)]},
        {"loss": 0.5, "acc": 0.25},
    ],
)
def test_settings_that_name_losses_are_no_rows(data: dict[str, Any], tmp_path: Path) -> None:
    assert namedlists_reader.sniff(tmp_path / "net.yaml", yaml.safe_dump(data).encode()) == 0


def test_nested_lists_of_a_file_that_is_named_as_a_history(tmp_path: Path) -> None:
    data = {"losses": {"d_history": LOSS, "g_history": VAL}, "psnr": {"quality": VAL}}
    found = points(tmp_path / "last_epoch_history.yaml", yaml.safe_dump(data))

    assert found["metric"].unique().sort().to_list() == ["losses/d_history", "losses/g_history", "psnr/quality"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("model", {"anchors": [1.25, 1.6, 2.0, 3.75], "strides": [8, 16, 32, 64]}),
        ("data", {"mean": [0.485, 0.456, 0.406, 0.5]}),
        ("history", {"betas": [0.9, 0.99], "steps": [1, 2, 3, 4]}),
    ],
)
def test_lists_of_settings_are_none(name: str, data: Any) -> None:
    assert namedlists_reader.sniff(Path(f"{name}.yaml"), yaml.safe_dump(data).encode()) == 0.0
