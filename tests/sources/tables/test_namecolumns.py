"""Texts in rows that complete the names of metrics."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.sources.tables import namecolumns

TRAIN, VAL = [2.0, 1.5, 1.2, 1.1], [2.1, 1.7, 1.5, 1.4]
KINDS = ["type", "event", "kind", "name"]


def curves(path: Path) -> dict[str, list[float]]:
    found = pipeline.read_run(path).points.sort("metric", "step")
    return {metric[0]: rows["value"].to_list() for metric, rows in found.group_by("metric", maintain_order=True)}


def lines(path: Path, rows: list[dict[str, object]]) -> dict[str, list[float]]:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return curves(path)


@pytest.mark.parametrize("key", KINDS)
@pytest.mark.parametrize("words", [("train", "eval"), ("Training", "Test"), ("train_step", "validation_epoch")])
@pytest.mark.parametrize("repeats", [1, 20])  # by the parser, and in bulk
def test_a_row_says_of_which_data_it_is(key: str, words: tuple[str, str], repeats: int, tmp_path: Path) -> None:
    train, val = TRAIN * repeats, VAL * repeats
    rows = [
        {key: word, "step": i, "loss": loss}
        for i, pair in enumerate(zip(train, val, strict=True))
        for word, loss in zip(words, pair, strict=True)
    ]

    assert lines(tmp_path / "log.jsonl", rows) == {f"{words[0]}/loss": train, f"{words[1]}/loss": val}


@pytest.mark.parametrize("key", KINDS)
def test_other_words_say_nothing(key: str, tmp_path: Path) -> None:
    """Kinds of layers, and events that are no data."""
    rows = [{key: ("conv", "epoch_end", "test_cuda")[i % 3], "step": i, "loss": x} for i, x in enumerate(TRAIN)]

    assert lines(tmp_path / "log.jsonl", rows) == {"loss": TRAIN}


def test_events_beside_rows_of_data_keep_their_names(tmp_path: Path) -> None:
    rows = [{"event": "start", "lr": 0.1}, *({"event": "train", "step": i, "loss": x} for i, x in enumerate(TRAIN))]

    assert lines(tmp_path / "log.jsonl", rows) == {"lr": [0.1], "train/loss": TRAIN}


def test_a_name_that_says_its_data_is_not_completed(tmp_path: Path) -> None:
    rows = [{"type": "eval", "step": i, "eval_loss": x, "loss": x} for i, x in enumerate(VAL)]

    assert lines(tmp_path / "log.jsonl", rows) == {"eval/loss": VAL, "eval_loss": VAL}


@pytest.mark.parametrize("key", ["name", "key", "tag", "metric", "variable", "scalar"])
def test_a_long_table_in_lines(key: str, tmp_path: Path) -> None:
    both = {"train/loss": TRAIN, "val/loss": VAL}
    rows = [{"step": i, key: name, "value": values[i]} for i in range(len(TRAIN)) for name, values in both.items()]

    assert lines(tmp_path / "log.jsonl", rows) == both


def test_tables_of_pandas(tmp_path: Path) -> None:
    """`melt` calls its columns `variable` and `value`; rows of parts are written with a column of their own."""
    wide = pd.DataFrame({"epoch": range(4), "loss": TRAIN, "val_loss": VAL})
    wide.melt(id_vars="epoch").to_csv(tmp_path / "melted_metrics.csv", index=False)
    assert curves(tmp_path / "melted_metrics.csv") == {"loss": TRAIN, "val_loss": VAL}

    parts = [pd.DataFrame({"type": part, "epoch": range(4), "loss": x}) for part, x in (("train", TRAIN), ("val", VAL))]
    pd.concat(parts).to_csv(tmp_path / "parts_metrics.csv", index=False)
    run = pipeline.read_run(tmp_path / "parts_metrics.csv")
    assert curves(tmp_path / "parts_metrics.csv") == {"train/loss": TRAIN, "val/loss": VAL}
    assert not run.gaps.height


@given(st.lists(st.one_of(st.none(), st.sampled_from(["train", "val", "conv", ""]), st.text(max_size=8)), min_size=1))
def test_only_words_for_data_are_kept(texts: list[str | None]) -> None:
    column = pl.Series(texts, dtype=pl.String)
    found = namecolumns.words_in({"type": column})

    assert found.keys() <= {"kind"}
    kept = found["kind"].to_list() if found else [None] * len(texts)
    assert all(k in (None, t) and (k == t or t not in ("train", "val")) for k, t in zip(kept, texts, strict=True))


STAGES = ["freeze", "freeze", "finetune", "finetune"]


@pytest.mark.parametrize(
    ("words", "steps", "found"),
    [
        (STAGES, [1, 2, 3, 4], {"loss": TRAIN}),
        (["warmup", "warmup", "full", "full"], [1, 2, 3, 4], {"loss": TRAIN}),
        (STAGES, [1, 2, 1, 2], {"freeze/loss": TRAIN[:2], "finetune/loss": TRAIN[2:]}),  # the steps begin again
        (["head", "backbone"] * 2, [1, 1, 2, 2], {"head/loss": TRAIN[::2], "backbone/loss": TRAIN[1::2]}),
        (["mlm", "mlm", "cls", "cls"], [1, 2, 3, 4], {"mlm/loss": TRAIN[:2], "cls/loss": TRAIN[2:]}),  # two losses
    ],
)
def test_stages_of_one_training_are_one_curve(words, steps, found, tmp_path):
    path = tmp_path / "history.csv"
    pd.DataFrame({"epoch": steps, "phase": words, "loss": TRAIN}).to_csv(path, index=False)

    assert curves(path) == found


def test_rows_without_a_header_that_say_their_data(tmp_path):
    parts = {"train": TRAIN, "val": VAL}
    rows = [f"{k},{word},{parts[word][k]}\n" for k in range(4) for word in parts]
    (tmp_path / "loss.csv").write_text("".join(rows))

    assert curves(tmp_path / "loss.csv") == {"train/loss": TRAIN, "val/loss": VAL}


def test_rows_of_several_numbers_keep_the_numbers_of_their_columns(tmp_path):
    rows = [f"{k},train,{x},{x + 1}\n" for k, x in enumerate(TRAIN)]
    (tmp_path / "each_epoch.csv").write_text("".join(rows))

    assert curves(tmp_path / "each_epoch.csv") == {"train/column_3": TRAIN, "train/column_4": [x + 1 for x in TRAIN]}
