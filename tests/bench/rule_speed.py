"""How fast every rule is asked about many runs, and how fast diagnoses are made of the answers.

    python tests/bench/rule_speed.py [--runs 100000] [--store STORE]

The features are those of the runs in STORE (else of the recorded runs), drawn with replacement. Seconds are of all
processor cores together, the least of three.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

from loganalyst import diagnose, pipeline
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import feature_table, put
from loganalyst.diagnosis.judgement import judge
from loganalyst.store import Store

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "runs"
JUDGED = 200  # runs of which whole diagnoses are made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    catalogue = pipeline.catalogue()
    known = Store(given.store).features.collect() if given.store else recorded(catalogue)
    table = known.sample(given.runs, with_replacement=True, seed=0)
    few = table.head(JUDGED)
    asked = partial(put, catalogue, catalogue.questions)
    print(f"{len(catalogue.rules)} rules, {asked(few).width} questions, {table.width} features")
    print(f"asked about {table.height:,} runs: {least(lambda: asked(table)):.2f} s of processor time")
    each = least(lambda: judge(catalogue, few, [{}] * few.height)) / few.height
    print(f"a whole diagnosis with its texts: {each * 1e3:.2f} ms a run")


def recorded(catalogue: Catalogue) -> pl.DataFrame:
    """The features of the recorded runs."""
    runs = [path for path in sorted(RECORDED.iterdir()) if path.is_dir()]
    return feature_table(catalogue, [diagnose(run).features.values for run in runs])


def least(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of three."""
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    return min(seconds)


if __name__ == "__main__":
    main()
