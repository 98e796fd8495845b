"""Root causes found in labelled job logs: right label, right line, and healthy logs called sick.

Run: python tests/bench/text_labels.py [--corpus DIR] [--misses]
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.errors import SourceError
from loganalyst.features.blame import root
from loganalyst.model import Run
from loganalyst.sources.ingest import ingest

CORPUS = Path(__file__).parents[2] / "../shared/corpus/text"


def segments(corpus: Path) -> Iterator[tuple[dict[str, str], bytes]]:
    """Each labelled row with the bytes of its lines."""
    with (corpus / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            lines = (corpus / row["file"]).read_bytes().split(b"\n")
            yield row, b"\n".join(lines[int(row["first_line"]) - 1 : int(row["last_line"])]) + b"\n"


def blamed(run: Run | None, first: int = 1, last: int | None = None) -> tuple[str, int | None]:
    """Label and line of the root cause of the last session within the given lines ("healthy", None: none)."""
    if run is None:
        return "healthy", None
    inside = run.sessions.filter(pl.col("last_line") >= first, pl.col("first_line") <= (last or 10**12))
    if not inside.height:
        return "healthy", None
    number = inside["session"].max()
    span = pl.col("line").is_between(first, last or 10**12)
    row = root(run.lines.filter(span, session=number), run.points.filter(span, session=number))
    return (row["label"] or "other", row["line"]) if row else ("healthy", None)


def read(path: Path) -> Run | None:
    """The run, or None where a log held nothing that was recognised."""
    try:
        return ingest(path)
    except SourceError:
        return None


def by_segment(corpus: Path) -> Iterator[tuple[dict[str, str], str, int | None]]:
    """Every labelled segment cut out and read as a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for row, data in segments(corpus):
            path = Path(folder) / Path(row["file"]).name
            path.write_bytes(data)
            label, line = blamed(read(path))
            yield row, label, line and line + int(row["first_line"]) - 1


def by_file(corpus: Path) -> Iterator[tuple[dict[str, str], str, int | None]]:
    """Every file read as a whole; a labelled segment is judged by the last session found within its lines."""
    runs: dict[str, Run | None] = {}
    for row, _ in segments(corpus):
        if row["file"] not in runs:
            runs[row["file"]] = read(corpus / row["file"])
        yield row, *blamed(runs[row["file"]], int(row["first_line"]), int(row["last_line"]))


def report(title: str, rows: list[tuple[dict[str, str], str, int | None]], misses: bool) -> None:
    """Print the shares for one way of cutting."""
    sick = [r for r in rows if r[0]["label"] != "healthy"]
    healthy = [r for r in rows if r[0]["label"] == "healthy"]
    right = [r for r in sick if r[1] in {r[0]["label"], *r[0]["secondary"].split(";")}]
    lined = [r for r in sick if r[0]["root_line"]]
    exact = [r for r in lined if str(r[2]) == r[0]["root_line"]]
    alarms = [r for r in healthy if r[1] != "healthy"]
    quota = f"{len(alarms)}/{len(healthy)}"
    print(
        f"{title}: label right {len(right)}/{len(sick)} ({len(right) / max(len(sick), 1):.0%}), root line exact"
        f" {len(exact)}/{len(lined)} ({len(exact) / max(len(lined), 1):.0%}), healthy called sick {quota}"
    )
    for row, label, line in rows if misses else []:
        wrong = (row, label, line) not in [*right, *(r for r in healthy if r not in alarms)]
        if wrong or (row["root_line"] and str(line) != row["root_line"]):
            truth = f"{row['label']} ({row['secondary']}) at {row['root_line']}"
            print(f"  {'WRONG' if wrong else 'line '} {row['id']}: {truth}, found {label} at {line}")


def main() -> None:
    """Print both ways of cutting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--misses", action="store_true", help="list what was missed")
    args = parser.parse_args()
    report("segments cut out", list(by_segment(args.corpus)), args.misses)
    report("whole files     ", list(by_file(args.corpus)), args.misses)


if __name__ == "__main__":
    main()
