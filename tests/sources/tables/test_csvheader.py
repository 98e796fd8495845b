"""Headers of delimited text."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.tables import csvheader


def test_unique_names():
    """Duplicates are numbered; an unnamed first column is the index; TensorBoard's value takes its tag."""
    assert csvheader.unique_names(["", "loss", "loss", " "], Path("x.csv")) == ["index", "loss", "loss.1", "column_4"]
    assert csvheader.unique_names(["Wall time", "Step", "Value"], Path("run-a-tag-train_loss.csv")) == [
        "Wall time",
        "Step",
        "train_loss",
    ]


def test_invented_names():
    """By the first rows: one value, a counter with a value, anything else."""
    path = Path("losses.txt")

    assert csvheader.invented_names(pl.Series([["0.5"], ["0.4"]]), path) == ["losses"]
    assert csvheader.invented_names(pl.Series([["1", "0.5"], ["2", "0.4"], ["3", "0.3"]]), path) == ["step", "losses"]
    assert csvheader.invented_names(pl.Series([["2", "0.5"], ["1", "0.4"], ["3", "0.3"]]), path) == [
        "column_1",
        "column_2",
    ]


def test_repeated_headers():
    """A row without numbers, of which at least half are known names."""
    rows = [["1", "0.5"], ["step", "loss"], ["step", "7"], ["step", "other"], ["x", "y"]]
    frame = pl.DataFrame({"line": range(5), "cells": rows})

    assert csvheader.repeated_headers(frame, ["step", "loss"]) == [1, 3]


@pytest.mark.parametrize(
    ("file", "header", "names"),
    [
        ("plots/metrics/train/loss.tsv", ["step", "loss"], ["step", "train/loss"]),
        ("plots/metrics/acc.tsv", ["step", "acc"], ["step", "acc"]),
        ("val_loss.csv", ["idx", "step", "value", "epoch", "time"], ["idx", "step", "val_loss", "epoch", "time"]),
        ("val_loss.csv", ["", "step", "value", "timestamp"], ["index", "step", "val_loss", "timestamp"]),
        ("long.csv", ["step", "metric", "value"], ["step", "metric", "value"]),
    ],
)
def test_exports_of_one_metric(tmp_path, file, header, names):
    """DVCLive names folders; Aim's and Neptune's tables are named after their file."""
    assert csvheader.unique_names(header, tmp_path / file) == names
