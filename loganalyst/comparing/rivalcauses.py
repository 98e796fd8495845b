"""Suggest the experiment that decides between the leading causes of failed runs: change one setting only."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from loganalyst.baseline import Kinds, kinds
from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.comparisonresult import Suggestion
from loganalyst.comparing.settingspace import shown

MAX_RUNS = 300  # failed runs whose causes are read, the first of the list


@dataclass(frozen=True)
class Pair:
    """A leading cause and its rival in some runs; `doubt` sums the confidences of the rival."""

    first: Mapping[str, Any]
    second: Mapping[str, Any]
    runs: tuple[str, ...]
    doubt: float


def separate(listing: pl.DataFrame, diagnoses: pl.DataFrame, config: pl.DataFrame) -> Suggestion | None:
    """The experiment for the pair of rival causes with the most doubt over the failed runs; None if there is no pair.

    `listing` is that of an audit, `diagnoses` has `run_id` and `json`, `config` has the settings of all runs.
    """
    pair = _pair(diagnoses.head(MAX_RUNS))
    if pair is None:
        return None
    run = listing.filter(run_id=pair.runs[0]).row(0, named=True)
    known = kinds()
    change = _change(pair, run["run_id"], listing, config, known)
    runs = f"{len(pair.runs)} runs" if len(pair.runs) > 1 else "one run"
    why = f"in {runs} the cause may be “{pair.first['issue']}” or “{pair.second['issue']}”"
    fix = next((d for d in pair.first["decide"] if d["kind"] == "experiment"), None)
    if change is None:
        return fix and Suggestion("separate", fix["what"], why, run["path"], {}, _outcomes(pair, fix["check"]))
    key, value, before = change
    title = f"Repeat it with {key} {before} → {value}, and change nothing else"
    return Suggestion("separate", title, why, run["path"], {key: value}, _outcomes(pair, ""))


def _pair(diagnoses: pl.DataFrame) -> Pair | None:
    """The pair of first and second causes with the most doubt."""
    found: dict[tuple[str, str], list[tuple[float, str, Any, Any]]] = defaultdict(list)
    for run_id, text in diagnoses.select("run_id", "json").iter_rows():
        causes = json.loads(text)["root_causes"]
        if len(causes) > 1 and causes[1]["confidence"] >= limits().next_run.rival_confidence:
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
    """The most important setting that fixes the first cause and not the second: (key, new value, old value)."""
    settings = config.filter(run_id=run).unique("key", keep="last", maintain_order=True)
    healthy = listing.filter(status="healthy")["run_id"].to_list()
    for kind in known.kinds.values():
        way = kind.causes.get(pair.first["label"])
        if way is None or kind.causes.get(pair.second["label"]) in (way, "any"):
            continue
        for row in settings.select("key", "value", "number").iter_rows():
            if known.kind_of(row[0]) is kind and (value := _better(row, way, healthy, config)):
                return row[0], value, row[1]
    return None


def _better(
    row: tuple[str, str | None, float | None], way: str, healthy: Sequence[str], config: pl.DataFrame
) -> str | None:
    """A better value of a setting (key, text, number): one of healthy runs, else `change_factor` away."""
    key, text, number = row
    others = config.filter(pl.col("key") == key, pl.col("run_id").is_in(list(healthy)))
    if number is None or number <= 0:
        values = others.filter(pl.col("value") != text)["value"].drop_nulls().value_counts(sort=True)["value"]
        return str(values[0]) if len(values) and number is None else None
    side = pl.col("number") < number if way != "down" else pl.col("number") > number
    level = others.filter(side)["number"].median()
    if level is None and way == "any":
        return None
    if isinstance(level, float):
        return shown(level)
    factor = limits().next_run.change_factor
    return shown(number / factor if way == "up" else number * factor)


def _outcomes(pair: Pair, check: str) -> tuple[tuple[str, str], ...]:
    step = pair.first["onset_step"]
    past = f"it trains past step {step:,}" if step is not None else "it trains to its end"
    return (
        (check or past, f"{pair.first['issue']}: keep the change, and apply it to the other runs"),
        (
            "it fails in the same way",
            f"{pair.second['issue']} is more likely: undo the change and fix that instead",
        ),
    )
