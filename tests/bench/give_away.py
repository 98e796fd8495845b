"""Whether anything but the curves tells the label of a generated run, and whether weights learn from labels alone.

    python tests/bench/give_away.py DIR... --store STORE

Side facts (number and writer of the run, how many points, metrics and files it has, where its steps end) are given to a
vote of the nearest neighbours, each run judged by the others, and compared with always saying the commonest label. Runs
that were cut short show that in their length by nature, and are left out. Then labels are dealt out anew by chance, and
weights fitted on them: cross-fitted, they must not be right more often than the commonest label.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst import features, rulefiles
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.evaluate.accuracy import share
from loganalyst.evaluate.fitting import Fitting
from loganalyst.evaluate.labelled import Labelled, Place, labelled
from loganalyst.store import Store

NEIGHBOURS = 15
CUT_SHORT = ("dead_run", "slurm_timeout", "slurm_cancelled", "host_oom")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Place.named, nargs="+", metavar="DIR")
    parser.add_argument("--store", type=Path, required=True)
    asked = parser.parse_args()
    store = Store(asked.store)
    runs = labelled(asked.folders, store)
    whole = runs.where(~runs.truths["labels"].list.first().is_in(CUT_SHORT))
    facts, labels = side_facts(whole, store), whole.truths["labels"].list.first()
    for name, true in (("label", labels), ("sick or healthy", (labels == "healthy").cast(pl.String))):
        print(line(f"{name} by side facts", share(pl.Series(voted(facts, true.to_numpy()) == true.to_numpy())), true))
    dealt = shuffled(runs)
    crossed = Fitting(judged(), dealt).crossed()
    print(line("labels dealt out anew", share(crossed["first"]), dealt.truths["labels"].list.first()))


def line(name: str, told: dict[str, float], true: pl.Series) -> str:
    """A share beside that of the commonest label."""
    interval = f"{told['low']:.1%} to {told['high']:.1%}"
    return f"{name}: {told['value']:.1%} ({interval}); always the commonest: {commonest(true):.1%}"


def judged() -> Catalogue:
    """The rules with the weights judged by hand."""
    return load(features.declared(), (rulefiles.rules_dir(),), fitted=False)


def side_facts(runs: Labelled, store: Store) -> np.ndarray:
    """What is known of runs beside their values, scaled: one row a run."""
    sources = store.sources.group_by("run_id").agg(files=pl.len(), bytes=pl.col("bytes").sum()).collect()
    points = store.points.group_by("run_id").agg(
        metrics=pl.col("metric").n_unique(), points=pl.len(), last=pl.col("step").max()
    ).collect()  # fmt: skip
    number = pl.col("path").str.extract(r"(\d+)$").cast(pl.Float64)
    truths = runs.truths.select("run_id", "writer", number=number)
    table = truths.join(sources, on="run_id", how="left", maintain_order="left").join(
        points, on="run_id", how="left", maintain_order="left"
    )
    numbers = table.select("number", "files", "bytes", "metrics", "points", "last").fill_null(0).cast(pl.Float64)
    ranked = numbers.select(pl.all().rank() / numbers.height)
    return np.hstack([ranked.to_numpy(), table.select("writer").to_dummies().to_numpy()])


def voted(facts: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The commonest label among the nearest others."""
    away = ((facts[:, None] - facts[None]) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    near = np.argsort(away, axis=1)[:, :NEIGHBOURS]
    return np.array([pl.Series(true[some]).mode().sort()[0] for some in near])


def shuffled(runs: Labelled) -> Labelled:
    """The same runs with the labels dealt out anew."""
    order = np.random.default_rng(0).permutation(runs.truths.height)
    return replace(runs, truths=runs.truths.with_columns(labels=runs.truths["labels"][order]))


def commonest(labels: pl.Series) -> float:
    """The share of the commonest label."""
    return labels.value_counts()["count"].max() / labels.len()


if __name__ == "__main__":
    main()
