"""The experiment that tells the leading causes of failed runs apart: one setting changed, the rest as it was."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from loganalyst.baseline import Kinds, kinds
from loganalyst.comparing.comparisonresult import Suggestion
from loganalyst.comparing.settingspace import shown

MOST = 300  # failed runs whose causes are read, the first of the list
RIVAL = 0.05  # confidence from which on a second cause is one
FACTOR = 3.0  # by which a number is changed where no healthy run shows a better one


@dataclass(frozen=True)
class Pair:
    """A leading cause and its rival in some runs; `doubt` sums what is not settled between them."""

    first: Mapping[str, Any]
    second: Mapping[str, Any]
    runs: tuple[str, ...]
    doubt: float


def separate(listing: pl.DataFrame, diagnoses: pl.DataFrame, config: pl.DataFrame) -> Suggestion | None:
    """For the pair of rival causes that leaves most doubt over the failed runs; None where no run leaves any.

    `listing` is an audit's, `diagnoses` has `run_id` and `json`, `config` the settings of all runs.
    """
    pair = _pair(diagnoses.head(MOST))
    if pair is None:
        return None
    run = listing.filter(run_id=pair.runs[0]).row(0, named=True)
    known = kinds()
    change = _change(pair, run["run_id"], listing, config, known)
    many = f"{len(pair.runs)} runs" if len(pair.runs) > 1 else "one run"
    why = f"in {many} it is open between “{pair.first['issue']}” and “{pair.second['issue']}”"
    fix = next((d for d in pair.first["decide"] if d["kind"] == "experiment"), None)
    if change is None:
        return fix and Suggestion("separate", fix["what"], why, run["path"], {}, _outcomes(pair, fix["check"]))
    key, value, before = change
    title = f"Repeat it with {key} {before} → {value} and nothing else changed"
    return Suggestion("separate", title, why, run["path"], {key: value}, _outcomes(pair, ""))


def _pair(diagnoses: pl.DataFrame) -> Pair | None:
    """Of all pairs of first and second causes the one with most doubt."""
    found: dict[tuple[str, str], list[tuple[float, str, Any, Any]]] = defaultdict(list)
    for run_id, text in diagnoses.select("run_id", "json").iter_rows():
        causes = json.loads(text)["root_causes"]
        if len(causes) > 1 and causes[1]["confidence"] >= RIVAL:
            first, second = causes[:2]
            found[first["id"], second["id"]].append((second["confidence"], run_id, first, second))
    if not found:
        return None
    rows = max(found.values(), key=lambda rows: sum(row[0] for row in rows))
    rows = sorted(rows, key=lambda row: (-row[0], row[1]))
    return Pair(rows[0][2], rows[0][3], tuple(row[1] for row in rows), sum(row[0] for row in rows))


def _change(
    pair: Pair, run: str, listing: pl.DataFrame, config: pl.DataFrame, known: Kinds
) -> tuple[str, str, str] | None:
    """The first setting, those that usually matter first, that mends the first cause and has nothing to do with the
    second: key, new value, old value.
    """
    own = config.filter(run_id=run).unique("key", keep="last", maintain_order=True)
    healthy = listing.filter(status="healthy")["run_id"].to_list()
    for kind in known.kinds.values():
        way = kind.causes.get(pair.first["label"])
        if way is None or kind.causes.get(pair.second["label"]) in (way, "any"):
            continue
        for row in own.select("key", "value", "number").iter_rows():
            if known.kind_of(row[0]) is kind and (value := _better(row, way, healthy, config)):
                return row[0], value, row[1]
    return None


def _better(
    row: tuple[str, str | None, float | None], way: str, healthy: Sequence[str], config: pl.DataFrame
) -> str | None:
    """What healthy runs have that lies on the other side of a setting (key, text, number); else one FACTOR away."""
    key, text, number = row
    others = config.filter(pl.col("key") == key, pl.col("run_id").is_in(list(healthy)))
    if number is None or number <= 0:
        values = others.filter(pl.col("value") != text)["value"].drop_nulls().value_counts(sort=True)["value"]
        return str(values[0]) if len(values) and number is None else None
    side = pl.col("number") < number if way != "down" else pl.col("number") > number
    level = others.filter(side)["number"].median()
    if level is None and way == "any":
        return None
    return shown(float(level) if isinstance(level, float) else (number / FACTOR if way == "up" else number * FACTOR))


def _outcomes(pair: Pair, check: str) -> tuple[tuple[str, str], ...]:
    step = pair.first["onset_step"]
    past = f"it trains past step {step:,}" if step is not None else "it trains to its end"
    return (
        (check or past, f"{pair.first['issue']}: keep the change, and make it in the other runs"),
        (
            "it fails in the same way",
            f"{pair.second['issue']} is the likelier cause: take the change back and mend that",
        ),
    )
