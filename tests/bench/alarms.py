"""Alarms by rule: which causes are named first, how often, and how sure. False alarms need no labels to be found.

    python tests/bench/alarms.py FOLDER... [--healthy LABELS.csv] [--least 0.5] [--jobs 2] [--list]

Every run below the folders is diagnosed. An alarm is a run whose first cause has a confidence of `--least` or more.
In a folder of trainings that went well, each alarm is false: read it (`--list`), and correct the rule that is wrong
as a kind.
`--healthy`: a table with the columns `label`, and `run_path`, `path` or `file` relative to it. Only its rows with the
label `healthy` are diagnosed, no folder is needed then. Labels that a fair judge also accepts (`acceptable`, with `|`
between) are counted apart.
"""

import argparse
import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

import loganalyst as la
from loganalyst.errors import LogAnalystError

PATHS = ("run_path", "path", "file")  # columns of a table of labels that name the run
FOUND = {"path": pl.String, "rule": pl.String, "label": pl.String, "confidence": pl.Float64, "fair": pl.Boolean}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--healthy", action="append", default=[], type=Path, metavar="LABELS.csv")
    parser.add_argument("--least", type=float, default=0.5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print every alarm")
    args = parser.parse_args()
    found = pl.concat([below(args.folders, args.jobs), *map(labelled, args.healthy)])
    alarms = found.filter(pl.col("confidence") >= args.least)
    if args.list:
        for path, rule, _, confidence, fair in alarms.sort("rule", "path").iter_rows():
            print(f"{rule:28} {confidence:4.2f} {'fair ' if fair else 'false'} {path}")
    print(f"alarms: {alarms.height} of {found.height} runs")
    for rule, runs, fair, confidence in by_rule(alarms).iter_rows():
        print(f"{rule:28} {runs:4} runs, {fair:3} accepted by the labels, mean confidence {confidence:4.2f}")


def below(folders: list[Path], jobs: int) -> pl.DataFrame:
    """The first cause of every run below the folders."""
    if not folders:
        return pl.DataFrame(schema=FOUND)
    runs = la.audit(folders, jobs=jobs).runs
    named = pl.when(pl.col("cause").is_not_null()).then("confidence")
    return runs.select("path", pl.col("cause").alias("rule"), "label", confidence=named, fair=pl.lit(False))


def labelled(table: Path) -> pl.DataFrame:
    """The first cause of every run that the table calls healthy."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] == "healthy"]
    return pl.DataFrame(list(_answers(table.parent, rows)), schema=FOUND, orient="row")


def _answers(folder: Path, rows: list[dict[str, str]]) -> Iterator[tuple[str, str | None, str | None, float, bool]]:
    for row in rows:
        path = folder / next(row[column] for column in PATHS if row.get(column))
        try:
            causes = la.diagnose(path).causes[:1]
        except LogAnalystError as error:
            print(f"not read: {error}")
            continue
        if not causes:
            yield str(path), None, None, 0.0, False
        for cause in causes:
            yield str(path), cause.id, cause.label, cause.confidence, _is_fair(row, cause.id, cause.label)


def _is_fair(row: Mapping[str, str], rule: str, label: str) -> bool:
    return not {rule, label}.isdisjoint((row.get("acceptable") or "").split("|"))


def by_rule(alarms: pl.DataFrame) -> pl.DataFrame:
    """Alarms of each rule: how many, how many the labels accept, and the mean confidence. The most frequent come first.

    >>> import polars as pl
    >>> by_rule(pl.DataFrame({"rule": ["plateau"], "fair": [True], "confidence": [0.8]})).rows()
    [('plateau', 1, 1, 0.8)]
    """
    counted = alarms.group_by("rule").agg(pl.len(), pl.col("fair").sum(), pl.col("confidence").mean())
    return counted.sort("len", "rule", descending=[True, False])


if __name__ == "__main__":
    main()
