"""Labelled runs: the truth about each, and its features from a store.

The truth is in files next to the runs, or was recorded in the store (`loganalyst confirm`). A table may keep the
features of runs whose logs must not be passed on.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from loganalyst import features
from loganalyst.diagnosis import rulesql
from loganalyst.errors import SourceError
from loganalyst.model import Witness
from loganalyst.store import Store

ENDING = ".truth.yaml"
TABLE = ".csv"
NOT_SCORED = "ambiguous"
CONFIRMED = "confirmed"  # the family of runs whose truth a user confirmed
TRUTH: Mapping[str, pl.DataType] = {
    "run_id": pl.String(),
    "path": pl.String(),
    "labels": pl.List(pl.String),  # the right answers; the first is the injected fault
    "onset_step": pl.Int64(),
    "family": pl.String(),
    "injected": pl.String(),
    "writer": pl.String(),
}


@dataclass(frozen=True)
class Labelled:
    """Runs, with one row each in `truths` (TRUTH) and `features`, and their witnesses, in the same order."""

    truths: pl.DataFrame
    features: pl.DataFrame
    witnesses: Sequence[Mapping[str, Witness]]

    def where(self, chosen: pl.Series) -> "Labelled":
        """The runs whose value in `chosen` (Boolean) is true."""
        witnesses = [w for w, taken in zip(self.witnesses, chosen, strict=True) if taken]
        return Labelled(self.truths.filter(chosen), self.features.filter(chosen), witnesses)

    def joined(self, other: "Labelled") -> "Labelled":
        """These runs followed by the others. Features that one side lacks are not known there."""
        table = pl.concat([self.features, other.features], how="diagonal_relaxed")
        return Labelled(pl.concat([self.truths, other.truths]), table, [*self.witnesses, *other.witnesses])


def labelled(places: Sequence[Path], store: Store) -> Labelled:
    """The labelled runs of folders (`NAME.truth.yaml` next to the run `NAME`), of the store and of tables (`recorded`).

    Changed runs are read into `store`. Ambiguous runs are left out. Raises SourceError for a folder without truths and
    for a run that cannot be read.
    """
    tables = [place for place in places if place.suffix == TABLE]
    truths = dict(chain.from_iterable(folder_truths(place) for place in places if place not in tables))
    return reduce(Labelled.joined, map(recorded, tables), labelled_paths(truths, store))


def recorded(table: Path) -> Labelled:
    """Labelled runs of which only the features are kept.

    A row has the `source`, the `family`, the `labels` (separated by ";") and features by name, empty if not known.
    Raises SourceError for a column that is no feature.
    """
    types = rulesql.schema(features.declared())
    rows = pl.read_csv(table, schema_overrides=types)
    known = rows.drop("source", "family", "labels")
    if foreign := sorted({*known.columns} - {*types}):
        raise SourceError(table, f"column {foreign[0]!r} is no feature", "docs/features.md has them all")
    truths = rows.select(pl.col("labels").str.split(";"), "family", run_id="source", path="source")
    empty = pl.DataFrame(schema=TRUTH)
    return Labelled(pl.concat([empty, truths], how="diagonal"), known, [{}] * rows.height)


def labelled_paths(truths: Mapping[str, Mapping[str, Any]], store: Store) -> Labelled:
    """The runs at or below paths with a truth, and those of the store with a confirmed one. Changed runs are read.

    Raises SourceError for a run that cannot be read.
    """
    failed = [f"{path}: {what}" for path, what in store.ingest(truths).items() if what not in ("read", "unchanged")]
    if failed:
        raise SourceError(failed[0], "a labelled run cannot be read")
    paths = store.runs.select("run_id", "path").collect()
    rows = [*_confirmed(store), *(row for run_id, path in paths.iter_rows() if (row := _row(run_id, path, truths)))]
    known = pl.DataFrame(rows, schema=TRUTH, orient="row").unique("run_id", keep="last").sort("path")
    known = known.with_columns(pl.col("family").fill_null(""))
    known = known.filter(pl.col("labels").list.first() != NOT_SCORED, pl.col("run_id").is_in(paths["run_id"].to_list()))
    found = known.select("run_id").join(store.features.collect(), on="run_id", how="left", maintain_order="left")
    places = _witnesses(store)
    return Labelled(known, found.drop("run_id"), [places[id_] for id_ in known["run_id"]])


def folder_truths(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The absolute path of each run of a folder, and its truth."""
    files = sorted(folder.glob(f"*{ENDING}"))
    if not files:
        raise SourceError(folder, "holds no labelled runs", f"the truth of a run NAME is in NAME{ENDING}")
    for file in files:
        yield os.path.abspath(file)[: -len(ENDING)], yaml.safe_load(file.read_text(encoding="utf-8"))


def _row(run_id: str, path: str, truths: Mapping[str, Mapping[str, Any]]) -> tuple[Any, ...] | None:
    """The row of a run of the store whose path is at or below a path with a truth."""
    at = next((str(p) for p in (Path(path), *Path(path).parents) if str(p) in truths), None)
    if at is None:
        return None
    truth = truths[at]
    labels = truth.get("labels") or [truth["label"], *truth.get("secondary", ())]
    return run_id, at, labels, *(truth.get(key) for key in list(TRUTH)[3:])


def _confirmed(store: Store) -> list[tuple[Any, ...]]:
    """The rows of runs whose truth a user confirmed. The newest truth of each counts."""
    truths = store.truths.select("run_id", "path", "label").collect()
    return [(run_id, path, [label], None, CONFIRMED, None, None) for run_id, path, label in truths.iter_rows()]


def _witnesses(store: Store) -> dict[str, dict[str, Witness]]:
    """Where each feature of each run was seen."""
    found: dict[str, dict[str, Witness]] = defaultdict(dict)
    columns = ("run_id", "feature", *Witness.__dataclass_fields__)
    for run_id, feature, *place in store.feature_sources.select(columns).collect().iter_rows():
        found[run_id][feature] = Witness(*place)
    return found
