"""SLURM's notation of times, amounts and lists."""

import polars as pl
import pytest

from loganalyst.sources.slurm import units


def value(expression: pl.Expr, text: str | None) -> object:
    return pl.DataFrame({"x": [text]}, schema={"x": pl.String}).select(expression).item()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("01:30", 90.0), ("1-02:03:04", 93784.0), ("00:00.250", 0.25), ("02:00:00", 7200.0), ("x", None), ("5", None)],
)
def test_seconds(text, seconds):
    """Days, hours and fractions are optional."""
    assert value(units.seconds("x"), text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("2K", 2048.0), ("1.5G", 1.5 * 2**30), ("4Gn", 4 * 2**30), ("512", 512.0), ("4X", None)]
)
def test_size(text, size):
    """Units are powers of 1,024."""
    assert value(units.size("x"), text) == size


def test_resources():
    """Memory and GPUs in a list; GPUs by kind count if there is no total."""
    assert value(units.memory("x"), "cpu=4,mem=100M,gres/gpu=2") == 100 * 2**20
    assert value(units.memory("x"), "cpu=4,mem=100") is None
    assert value(units.gpus(pl.col("x")), "cpu=4,gres/gpu=2") == 2
    assert value(units.gpus(pl.col("x")), "gres/gpu:a100=3") == 3
    assert value(units.gpus(pl.col("x")), "cpu=4") == 0
    assert value(units.gpus(pl.col("x")), None) is None
    assert value(units.gpu_per_cent("x"), "gres/gpumem=1,gres/gpuutil=93") == 93.0


def test_numbers():
    """0 means that SLURM did not measure."""
    assert value(units.number("x"), "12") == 12
    assert value(units.number("x"), "0") is None


def test_time():
    """A time without a zone counts as UTC."""
    assert value(units.time("x"), "2026-03-01T10:00:00").isoformat() == "2026-03-01T10:00:00+00:00"
    assert value(units.time("x"), "Unknown") is None


@pytest.mark.parametrize(
    ("names", "nodes"),
    [
        ("n1", 1),
        ("n[1-3,7],gpu01", 5),
        ("r[1-2]n[01-10]", 20),
        ("n[1", None),
        ("", None),
        ("n[9-1]", 1),
        ("n[1-2-3]", None),
        ("n[]", None),
    ],
)
def test_counted_nodes(names, nodes):
    """Lists in brackets count without being written out."""
    assert units.count(names) == nodes
