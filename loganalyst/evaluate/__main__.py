"""Labelled runs in, accuracy and calibration out: `python -m loganalyst.evaluate [SOURCE=]PLACE... [--store STORE]`.

A PLACE is a folder in which each run NAME has its truth in NAME.truth.yaml, or a folder or table (labels.csv) of
labels. A row of another TABLE (.csv) holds the truth and the features of a run, or the answer that was given for it at
first sight, which counts for the calibration only. Runs confirmed in the STORE count as well. By default the rules are
evaluated as they are. `--by source` shows the figures of each source, as the rules are and left out: by weights fitted
on the other sources. `--by kind` sorts the same answers by the kind of run; both may be given. `--split family`
evaluates each family of models by weights fitted on the others. `--fit FILE` fits weights on all runs and writes them.
A STORE keeps the read runs for the next call.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst import features, pipeline, rulefiles
from loganalyst.diagnosis.catalogue import load
from loganalyst.evaluate import bysource, figurestable, firstsight, reference, signs, testedweights, weightsfile
from loganalyst.evaluate.accuracy import figures
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.fitting import Fitting
from loganalyst.evaluate.labelled import Labelled, Place, labelled
from loganalyst.store import Store
from loganalyst.writing import write_whole


def main() -> None:
    """Parse, evaluate, print."""
    asked = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = [place.path for place in asked.places if firstsight.is_table(place.path)]
        places = [place for place in asked.places if place.path not in tables]
        runs = labelled(places, Store(asked.store or folder), asked.half)
    if asked.reference:
        return reference.write(asked.reference, runs, pipeline.catalogue())
    return _report(runs, firstsight.read(tables) if tables else None, asked)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loganalyst.evaluate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", type=Place.named, nargs="*", metavar="[SOURCE=]PLACE")
    parser.add_argument("--store", type=Path, help="folder that keeps the read runs (default: none)")
    parser.add_argument("--half", type=int, choices=(0, 1), help="take a fixed half of the rows of tables of labels")
    parser.add_argument(
        "--by",
        action="append",
        choices=("source", "kind"),
        help="show the figures by source or kind of run, as the rules are and left out",
    )
    parser.add_argument("--signs", action="store_true", help="list evidence that speaks both ways, by source")
    parser.add_argument(
        "--split", choices=("family", "none"), default="none", help="evaluate with weights fitted on the others"
    )
    parser.add_argument("--fit", type=Path, metavar="FILE", help="write weights fitted on these runs")
    parser.add_argument(
        "--calibrate", action="store_true", help="fit the calibration alone, for the weights of evidence as they are"
    )
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="FILE",
        help="write quantiles of the features of the healthy runs, and no figures",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the reliability diagram")
    parser.add_argument("--format", choices=("terminal", "json"), default="terminal")
    parser.add_argument("--wrong", action="store_true", help="list each run whose first answer is wrong")
    return parser


def _report(runs: Labelled, first_sight: pl.DataFrame | None, asked: argparse.Namespace) -> None:
    judged = load(features.declared(), (rulefiles.rules_dir(),), fitted=asked.calibrate)
    fitting = Fitting(judged, runs, not asked.calibrate, first_sight, "source" if asked.by else "family")
    if asked.signs:
        print(signs.text(signs.turned(fitting.problem, runs.truths["source"])), end="")
        return
    answers = fitting.crossed() if asked.split == "family" else answered(pipeline.catalogue(), runs)
    if asked.by:
        _by(fitting, answers, asked)
    else:
        found = figures(answers)
        if asked.format == "json":
            print(json.dumps(found, indent=1))
        else:
            print((figurestable.wrong(answers) if asked.wrong else "") + figurestable.table(found), end="")
        if asked.plot:
            figurestable.plot(found, asked.plot)
    if asked.fit:
        weights = fitting.weights(np.ones(runs.truths.height, bool))
        count = 0 if first_sight is None else first_sight.height
        if asked.calibrate:
            shipped = (rulefiles.rules_dir() / "weights.yaml").read_text(encoding="utf-8")
            text = weightsfile.calibrated_again(shipped, weights, runs, count)
        else:
            weights = replace(weights, items=testedweights.kept(judged, weights.items))
            text = weightsfile.text(weights, runs, count)
        write_whole(asked.fit, text, "--fit takes a file")


def _by(fitting: Fitting, answers: pl.DataFrame, asked: argparse.Namespace) -> None:
    """Print the figures of each source or kind, as the rules are and by weights fitted on the other sources."""
    tables = {"as the rules are": answers}
    if answers["source"].n_unique() > 1:
        tables["left out of the fit"] = fitting.crossed()
    keys = {"source": "source", "kind": "group"}
    rows = {
        f"{title}, by {by}": bysource.figures(found, keys[by]) for by in asked.by for title, found in tables.items()
    }
    if asked.format == "json":
        print(json.dumps({title: found.to_dicts() for title, found in rows.items()}, indent=1))
    else:
        print((figurestable.wrong(answers) if asked.wrong else ""), end="")
        print("\n".join(f"{title}\n{bysource.text(found)}" for title, found in rows.items()), end="")


if __name__ == "__main__":
    main()
