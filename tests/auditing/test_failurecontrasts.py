"""Contrasts between failed and healthy runs, and none where there is only chance."""

import numpy as np
import polars as pl
from scipy.stats import fisher_exact

from loganalyst.auditing.failurecontrasts import COLUMNS, adjusted, contrasts
from loganalyst.auditing.runlist import COLUMNS as LISTING


def listing(bad: list[bool], **columns: list[str | None]) -> pl.DataFrame:
    """An audit's listing of as many runs."""
    found = {
        "run_id": [str(i) for i in range(len(bad))],
        "status": ["diagnosis_complete" if b else "healthy" for b in bad],
    }
    missing = {name: pl.Series([None] * len(bad), dtype=dtype) for name, dtype in LISTING.items()}
    return pl.DataFrame({**missing, **found, **columns}, schema=LISTING)


def config(**settings: list[object]) -> pl.LazyFrame:
    """The settings of the runs, in order."""
    rows = [
        {"run_id": str(i), "key": key, "value": str(value), "number": None if isinstance(value, str) else value}
        for key, values in settings.items()
        for i, value in enumerate(values)
    ]
    schema = {"run_id": pl.String, "key": pl.String, "value": pl.String, "number": pl.Float64}
    return pl.LazyFrame(rows, schema=schema, strict=False)


def test_a_node_that_fails_more_than_chance_is_named() -> None:
    """9 of its 10 runs failed, 6 of the 40 others."""
    bad = [True] * 9 + [False] + [True] * 6 + [False] * 34
    found = contrasts(listing(bad, node=["n7"] * 10 + ["n1"] * 20 + ["n2"] * 20), config())

    (row,) = found.to_dicts()
    assert found.schema == COLUMNS
    assert {k: row[k] for k in ("key", "value", "runs", "failed", "other_runs", "other_failed")} == {
        "key": "node", "value": "n7", "runs": 10, "failed": 9, "other_runs": 40, "other_failed": 6,
    }  # fmt: skip
    assert row["odds_ratio"] == (9.5 / 1.5) / (6.5 / 34.5)
    assert row["q"] < 0.001


def test_a_number_is_split_at_the_best_threshold() -> None:
    """All runs above a rate of 0.01 failed; a key that splits the runs alike is named with it."""
    rates = [0.001, 0.003, 0.01, 0.03, 0.1] * 6
    bad = [rate > 0.01 for rate in rates]
    found = contrasts(listing(bad), config(lr=rates, peak_lr=[10 * rate for rate in rates], seed=list(range(30))))

    assert found.select("key", "value", "runs", "failed", "other_failed", "also").rows() == [
        ("lr", "> 0.01", 12, 12, 0, ["peak_lr"])
    ]


def test_chance_is_not_reported() -> None:
    """Of 60 settings that have nothing to do with it, in 20 draws, at most one in twenty draws names any."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        bad = (rng.random(80) < 0.3).tolist()
        settings = {f"k{i}": rng.choice(["a", "b", "c"], 80).tolist() for i in range(40)}
        numbers = {f"x{i}": rng.normal(size=80).tolist() for i in range(20)}
        found += contrasts(listing(bad), config(**settings, **numbers)).height > 0

    assert found <= 1


def test_without_two_sides_there_is_no_contrast() -> None:
    """All failed, all healthy, or no runs."""
    for bad in ([], [True] * 5, [False] * 5):
        assert contrasts(listing(bad), config(lr=[0.1 * i for i in range(len(bad))])).schema == COLUMNS
        assert contrasts(listing(bad), config(lr=[0.1 * i for i in range(len(bad))])).height == 0


def test_chances_are_those_of_fishers_test() -> None:
    """One-sided tails are scipy's; twice the smaller one is at least its two-sided chance."""
    bad = [True] * 8 + [False] * 4 + [True] * 2 + [False] * 16
    found = contrasts(listing(bad, host=["a"] * 12 + ["b"] * 18), config(), rate=1.0)
    table = [[8, 4], [2, 16]]

    assert found["q"][0] == min(1.0, 2 * fisher_exact(table, alternative="greater").pvalue)


def test_adjusted_chances_are_those_of_benjamini_and_hochberg() -> None:
    """The example, by hand."""
    assert adjusted(pl.Series([0.01, 0.04, 0.03, 0.5])).to_list() == [0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.5]
