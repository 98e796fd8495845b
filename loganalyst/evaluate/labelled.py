"""Labelled runs: the truth about each, and its features from a store.

The truth is in files next to the runs, in a table of labels, or was recorded in the store (`loganalyst confirm`). A
table may also keep the features of runs whose logs must not be passed on.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

from loganalyst import features
from loganalyst.diagnosis import rulesql
from loganalyst.errors import SourceError
from loganalyst.evaluate import labeltable
from loganalyst.model import Witness
from loganalyst.store import Store

ENDING = ".truth.yaml"
TABLE = ".csv"
NOT_SCORED = "ambiguous"
CONFIRMED = "confirmed"  # the family and the source of runs whose truth a user confirmed
TRUTH: Mapping[str, pl.DataType] = {
    "run_id": pl.String(),
    "path": pl.String(),
    "labels": pl.List(pl.String),  # the right answers; the first is the injected fault
    "onset_step": pl.Int64(),
    "family": pl.String(),
    "injected": pl.String(),
    "writer": pl.String(),
    "repo": pl.String(),  # runs of one repository are alike
    "source": pl.String(),
}


class Place(NamedTuple):
    """A folder or table with labelled runs, and the name of their source."""

    source: str
    path: Path

    @classmethod
    def named(cls, text: str) -> "Place":
        """The place of a text `PATH` or `SOURCE=PATH`. Its source is named after the folder if the text has no name.

        >>> Place.named("logs/labels.csv"), Place.named("wild=logs")
        (Place(source='logs', path=PosixPath('logs/labels.csv')), Place(source='wild', path=PosixPath('logs')))
        """
        name, separator, place = text.partition("=")
        if separator and not os.path.exists(text):
            return cls(name, Path(place))
        path = Path(text)
        return cls((path.absolute().parent if path.name == labeltable.NAME else path).stem, path)


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


def labelled(places: Sequence[Place], store: Store, half: int | None = None) -> Labelled:
    """The labelled runs of folders (`NAME.truth.yaml` next to the run `NAME`), of tables of labels (`labeltable`), of
    the store and of tables of features (`recorded`).

    Changed runs are read into `store`. Ambiguous runs and those of low certainty are left out. `half` selects a fixed
    half of the repositories in tables of labels. Raises SourceError for a folder without truths and for a run that
    cannot be read.
    """
    with_features = [p for p in places if p.path.suffix == TABLE and not labeltable.is_table(p.path)]
    read = _read([p for p in places if p not in with_features], store, half)
    return reduce(Labelled.joined, (recorded(p.path, p.source) for p in with_features), read)


def recorded(table: Path, source: str = "") -> Labelled:
    """Labelled runs of which only the features are kept.

    A row has the `source`, the `family`, the `labels` (separated by ";") and features by name, empty if not known.
    Raises SourceError for a column that is no feature.
    """
    types = rulesql.schema(features.declared())
    rows = pl.read_csv(table, schema_overrides=types)
    known = rows.drop("source", "family", "labels")
    if foreign := sorted({*known.columns} - {*types}):
        raise SourceError(table, f"column {foreign[0]!r} is no feature", "docs/features.md has them all")
    truths = rows.select(
        pl.col("labels").str.split(";"), "family", run_id="source", path="source", repo="source", source=pl.lit(source)
    )
    empty = pl.DataFrame(schema=TRUTH)
    return Labelled(pl.concat([empty, truths], how="diagonal"), known, [{}] * rows.height)


def _read(places: Iterable[Place], store: Store, half: int | None) -> Labelled:
    """The labelled runs of folders, of tables of labels and of the store."""
    truths = [(path, {**truth, "source": place.source}) for place in places for path, truth in _truths(place, half)]
    below = _ingested(dict.fromkeys(path for path, _ in truths), store)
    rows = [*_confirmed(store), *(row for path, truth in truths for row in _rows(path, truth, below.get(path, ())))]
    store.diagnose()  # waits for another process that writes; a table read meanwhile would lack features
    known = pl.DataFrame(rows, schema=TRUTH, orient="row").unique(["run_id", "source"], keep="last")
    known = known.with_columns(pl.col("family").fill_null(pl.col("source"))).sort("path", "source")
    known = known.filter(
        pl.col("labels") != [NOT_SCORED],
        pl.col("run_id").is_in(store.runs.select("run_id").collect()["run_id"].to_list()),
    )
    found = known.select("run_id").join(store.features.collect(), on="run_id", how="left", maintain_order="left")
    places_of = _witnesses(store)
    return Labelled(known, found.drop("run_id"), [places_of[id_] for id_ in known["run_id"]])


def _ingested(paths: Collection[str], store: Store) -> Mapping[str, list[tuple[str, str]]]:
    """Id and path of the runs at or below each path, read into the store. Raises SourceError if one cannot be read.

    Each path is read on its own, as a user names it: a labelled run never takes the log of another one.
    """
    done = {name: what for path in paths for name, what in store.ingest([path]).items()}
    failed = [f"{path}: {what}" for path, what in done.items() if what not in ("read", "unchanged")]
    if failed:
        raise SourceError(failed[0], "a labelled run cannot be read")
    return _below(store)


def _below(store: Store) -> dict[str, list[tuple[str, str]]]:
    """Id and path of the runs at or below each folder."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for run_id, path in store.runs.select("run_id", "path").collect().iter_rows():
        for place in (path, *map(str, Path(path).parents)):
            found[place].append((run_id, path))
    return found


def _truths(place: Place, half: int | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The absolute path of each run of a place, and its truth. Files next to runs go before a table."""
    files = sorted(place.path.glob(f"*{ENDING}"))
    table = place.path / labeltable.NAME if place.path.is_dir() else place.path
    if not files and table.is_file():
        yield from labeltable.truths(table, half)
        return
    if not files:
        raise SourceError(
            place.path, "holds no labelled runs", f"the truth of a run NAME is in NAME{ENDING}, or in {labeltable.NAME}"
        )
    for file in files:
        truth = yaml.safe_load(file.read_text(encoding="utf-8"))
        if truth.get("certainty") != labeltable.UNSURE:
            yield os.path.abspath(file)[: -len(ENDING)], truth


def _rows(path: str, truth: Mapping[str, Any], runs: Iterable[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    """The rows of the runs of the store at or below a path with this truth."""
    labels = truth.get("labels") or [truth["label"], *truth.get("secondary", ())]
    exact = [run_id for run_id, at in runs if at == path]
    for run_id in exact or [run_id for run_id, _ in runs]:
        yield run_id, path, labels, *(truth.get(key) for key in list(TRUTH)[3:])


def _confirmed(store: Store) -> list[tuple[Any, ...]]:
    """The rows of runs whose truth a user confirmed. The newest truth of each counts."""
    truths = store.truths.select("run_id", "path", "label").collect()
    return [
        (run_id, path, [label], None, CONFIRMED, None, None, path, CONFIRMED)
        for run_id, path, label in truths.iter_rows()
    ]


def _witnesses(store: Store) -> dict[str, dict[str, Witness]]:
    """Where each feature of each run was seen."""
    found: dict[str, dict[str, Witness]] = defaultdict(dict)
    columns = ("run_id", "feature", *Witness.__dataclass_fields__)
    for run_id, feature, *place in store.feature_sources.select(columns).collect().iter_rows():
        found[run_id][feature] = Witness(*place)
    return found
