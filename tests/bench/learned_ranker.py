"""A learned ranker of the causes that rules propose, judged on sources left out: `PLACE... --store STORE [--half 0]`.

A logistic regression scores each proposed answer by what the rules say of it: its share, its odds alone, its evidence,
its rivals, the kind of run and the rule. The causes are put in the order of their scores, which are also their
confidence. `python -m loganalyst.evaluate PLACE... --by source` prints the same figures for the sum of weights.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst import features, rulefiles
from loganalyst.diagnosis.calibrationkind import calibration_kind
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.judgement import Judgement, judge
from loganalyst.diagnosis.logodds import logit
from loganalyst.evaluate import bysource
from loganalyst.evaluate.fitting import Fitting
from loganalyst.evaluate.labelled import Labelled, Place, labelled
from loganalyst.store import Store

RIDGE = {"rule": 4.0, "group": 4.0}  # of shifts by rule and kind; all other inputs have 1
STEPS = 40
Row = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", type=Place.named, nargs="+", metavar="[SOURCE=]PLACE")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--half", type=int, choices=(0, 1))
    asked = parser.parse_args()
    runs = labelled(asked.places, Store(asked.store), asked.half)
    answers = crossed(load(features.declared(), (rulefiles.rules_dir(),), fitted=False), runs)
    print(bysource.text(bysource.figures(answers)))
    print(bysource.text(bysource.figures(answers, "group")))


def crossed(catalogue: Catalogue, runs: Labelled) -> pl.DataFrame:
    """The answers for each source by a ranker that was fitted on the others."""
    found = judge(catalogue, runs.features, runs.witnesses)
    values = runs.features.to_dicts()
    proposed = [candidates(j, v) for j, v in zip(found, values, strict=True)]
    counts, source = Fitting(catalogue, runs).counts, runs.truths["source"].to_numpy()
    labels = [set(some) for some in runs.truths["labels"]]
    rows = []
    for name in np.unique(source):
        train = [k for k in range(len(found)) if source[k] != name]
        inputs = [row for k in train for _, row in proposed[k]]
        right = [not said.isdisjoint(labels[k]) for k in train for said, _ in proposed[k]]
        weigh = [counts[k] for k in train for _ in proposed[k]]
        names = sorted({name for row in inputs for name in row})
        fitted = fit(table(inputs, names), np.array(right, float), np.array(weigh), names)
        rows += [
            answer(found[k], proposed[k], names, fitted, labels[k]) | {"index": k}
            for k in np.flatnonzero(source == name).tolist()
        ]
    answers = pl.DataFrame(rows, infer_schema_length=None).sort("index").drop("index")
    groups = pl.Series("group", [calibration_kind(v) for v in values])
    return pl.concat([runs.truths, answers], how="horizontal").with_columns(groups)


def candidates(found: Judgement, values: dict[str, Any]) -> list[tuple[set[str], Row]]:
    """The answers that the rules propose: labels and id of each cause, or the status, with the inputs."""
    shared = {"one": 1.0, f"group:{calibration_kind(values)}": 1.0}
    shared["points"] = math.log10(max(values.get("run_longest_metric") or 1, 1)) - 2
    if found.causes:
        ranked = [found.sure[c.id] for c in found.causes]
        return [({j.rule.id, j.rule.label}, shared | of_cause(j, ranked, place)) for place, j in enumerate(ranked)]
    if found.status == "insufficient_data":
        return []
    stated = float(np.clip(logit(min(max(found.confidence, 1e-6), 1 - 1e-6)), -4, 4))
    return [({found.status}, shared | {f"{found.status}": 1.0, f"{found.status}:stated": stated})]


def of_cause(judged: Judged, ranked: Sequence[Judged], place: int) -> Row:
    """What the rules say of a cause."""
    rival = max((logit(j.alone) for j in ranked if j is not judged), default=-4.0)
    return {
        "share": float(np.clip(logit(judged.confidence), -4, 4)) / 2,
        "alone": float(np.clip(logit(judged.alone), -4, 4)) / 2,
        "gap": float(np.clip(logit(judged.alone) - rival, -4, 4)) / 2,
        "place": float(place > 0),
        "ended": float(judged.ended),
        "for": sum(w for w in judged.counted if w > 0) / 3,
        "against": sum(w for w in judged.counted if w < 0),
        "items": float(sum(w > 0 for w in judged.counted)) / 3,
        "limits": float(bool(judged.limits)),
        judged.scale: 1.0,
        f"rule:{judged.rule.id}": 1.0,
    }


def answer(
    found: Judgement, proposed: list[tuple[set[str], Row]], names: list[str], fitted: Any, right: set[str]
) -> dict[str, Any]:
    """The answer for one run, in the columns of `bysource`."""
    scores = 1 / (1 + np.exp(-table([row for _, row in proposed], names) @ fitted)) if proposed else np.array([])
    order = np.argsort(-scores, kind="stable").tolist()
    named = [not proposed[k][0].isdisjoint(right) for k in order[:3]] or [found.status in right]
    ids = [c.id for c in found.causes]
    return {
        "status": found.status,
        "ids": [ids[k] for k in order[:3]] if ids else [],
        "confidence": float(scores[order[0]]) if order else None,
        "first": named[0],
        "named": any(named),
    }


def table(rows: list[Row], names: list[str]) -> Any:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows]).reshape(-1, len(names))


def fit(design: Any, right: Any, count: Any, names: list[str]) -> Any:
    """The weights of a logistic regression with normal priors, by Newton's method."""
    ridge = np.array([0.01 if name == "one" else RIDGE.get(name.split(":")[0], 1.0) for name in names])
    found = np.zeros(len(names))
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ found))
        gradient = design.T @ (count * (p - right)) + ridge * found
        found = found - np.linalg.solve((design.T * (count * p * (1 - p))) @ design + np.diag(ridge), gradient)
    return found


if __name__ == "__main__":
    main()
