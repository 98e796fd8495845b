"""Labelled runs in, accuracy and calibration out: `python -m loganalyst.evaluate DIR|TABLE... [--store STORE]`.

Each run NAME in DIR has its truth in NAME.truth.yaml. A row of a TABLE (.csv) holds the truth and the features of a
run, or the answer that was given for it at first sight, which counts for the calibration only. Runs confirmed in the
STORE count as well. By default the rules are evaluated as they are. `--split family` evaluates each family of models
with weights fitted on the others, starting from the judged weights. `--fit FILE` fits weights on all runs and writes
them. A STORE keeps the read runs for the next call.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst import features, pipeline, rulefiles
from loganalyst.diagnosis.catalogue import load
from loganalyst.evaluate import figurestable, firstsight, reference, weightsfile
from loganalyst.evaluate.accuracy import figures
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.fitting import Fitting
from loganalyst.evaluate.labelled import Labelled, labelled
from loganalyst.store import Store
from loganalyst.writing import write_whole


def main() -> None:
    """Parse, evaluate, print."""
    parser = argparse.ArgumentParser(
        prog="python -m loganalyst.evaluate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", type=Path, nargs="*", metavar="DIR|TABLE")
    parser.add_argument("--store", type=Path, help="folder that keeps the read runs (default: none)")
    parser.add_argument(
        "--split", choices=("family", "none"), default="none", help="evaluate with weights fitted on the others"
    )
    parser.add_argument("--fit", type=Path, metavar="FILE", help="write weights fitted on these runs")
    parser.add_argument(
        "--calibrate", action="store_true", help="fit the calibration alone, not the weights of evidence"
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
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.reference:
            return reference.write(asked.reference, asked.places, Store(asked.store or folder), pipeline.catalogue())
        tables = [place for place in asked.places if firstsight.is_table(place)]
        runs = labelled([place for place in asked.places if place not in tables], Store(asked.store or folder))
    return _report(runs, pl.concat(map(firstsight.read, tables)) if tables else None, asked)


def _report(runs: Labelled, first_sight: pl.DataFrame | None, asked: argparse.Namespace) -> None:
    judged = load(features.declared(), (rulefiles.rules_dir(),), fitted=False)
    fitting = Fitting(judged, runs, not asked.calibrate, first_sight)
    answers = fitting.crossed() if asked.split == "family" else answered(pipeline.catalogue(), runs)
    found = figures(answers)
    if asked.format == "json":
        print(json.dumps(found, indent=1))
    else:
        print((figurestable.wrong(answers) if asked.wrong else "") + figurestable.table(found), end="")
    if asked.plot:
        figurestable.plot(found, asked.plot)
    if asked.fit:
        weights = fitting.weights(np.ones(runs.truths.height, bool))
        write_whole(asked.fit, weightsfile.text(weights, runs, asked.places), "--fit takes a file")


if __name__ == "__main__":
    main()
