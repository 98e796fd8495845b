"""Find copies of runs, runs that are not repeatable, and settings without effect."""

from collections.abc import Sequence

import polars as pl

from loganalyst.comparing.comparisonresult import Duplicate
from loganalyst.comparing.settingspace import Space

# features that identify the curves of a run to the last digit
CURVE_FEATURES = (
    "train_loss_last", "train_loss_best", "train_loss_points", "train_loss_noise_relative", "val_loss_last",
    "val_loss_best", "val_score_last", "val_score_best", "reward_last", "reward_best", "run_last_step",
)  # fmt: skip
REQUIRED_FEATURES = ("train_loss_last", "val_loss_last", "val_score_last", "reward_last")
MIN_STEPS = 5
MAX_REPORTED = 20


def duplicates(space: Space, features: pl.DataFrame, values: pl.Series) -> tuple[Duplicate, ...]:
    """The duplicates, the largest first. `features` and the objective `values` are in the order of the space's runs."""
    known = pl.any_horizontal(pl.col(c).is_not_null() for c in REQUIRED_FEATURES)
    known &= pl.col("run_last_step").fill_null(0) >= MIN_STEPS
    known &= pl.any_horizontal(pl.col(c) != 0 for c in REQUIRED_FEATURES)
    rows = features.select(curve=pl.when(known).then(pl.struct(CURVE_FEATURES).hash(seed=3))).with_columns(
        run=pl.Series(list(space.runs), dtype=pl.String), exact=space.exact, seeded=space.seeds.is_not_null(),
        value=values, row=pl.int_range(pl.len()),
    ).drop_nulls("curve")  # fmt: skip
    found = [*_equal(rows), *_without_effect(rows, space)]
    return tuple(sorted(found, key=lambda d: (-len(d.runs), d.kind, d.runs))[:MAX_REPORTED])


def _equal(rows: pl.DataFrame) -> list[Duplicate]:
    """Runs with the same settings: copies, or not repeatable."""
    groups = rows.drop_nulls("exact").group_by("exact", maintain_order=True).agg(
        "run", curves=pl.col("curve").n_unique(), seeded=pl.col("seeded").all(), sd=pl.col("value").std()
    ).filter(pl.col("run").list.len() > 1)  # fmt: skip
    return [
        Duplicate("copies" if curves == 1 else "nondeterministic" if seeded else "seedless", tuple(runs), (), sd)
        for _, runs, curves, seeded, sd in groups.iter_rows()
    ]


def _without_effect(rows: pl.DataFrame, space: Space) -> list[Duplicate]:
    """Runs with the same curves but different settings."""
    groups = rows.group_by("curve", maintain_order=True).agg("run", "row", settings=pl.col("exact").n_unique())
    out = []
    for _, runs, at, _ in groups.filter(pl.col("settings") > 1).iter_rows():
        keys = _differing(space.values, at)
        out += [Duplicate("without_effect", tuple(runs), keys)] if keys else []
    return out


def _differing(values: pl.DataFrame, rows: Sequence[int]) -> tuple[str, ...]:
    selected = values[list(rows)]
    return tuple(c for c in selected.columns if selected[c].n_unique() > 1)
