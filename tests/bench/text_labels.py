"""Root causes found in labelled job logs: right label, line, rank and node; consequences and healthy logs blamed.

Run: python tests/bench/text_labels.py [--corpus DIR] [--misses]
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from loganalyst.blame.rootline import judged_session, roots
from loganalyst.blame.survival import outlived
from loganalyst.errors import SourceError
from loganalyst.model import Run
from loganalyst.sources.ingest import ingest

CORPUS = Path(__file__).parents[2] / "../shared/corpus/text"
NEAR = 2  # lines from the labelled one that still count as right
CASCADE = "cascade"


@dataclass(frozen=True)
class Blame:
    """What is blamed: label ("healthy": nothing), line, rank and node, and the part that its line plays."""

    label: str = "healthy"
    line: int | None = None
    rank: int | None = None
    node: str | None = None
    part: str | None = None


@dataclass(frozen=True)
class Judged:
    """A labelled row, and what was blamed within its lines."""

    truth: dict[str, str]
    found: Blame

    @property
    def healthy(self) -> bool:
        """Whether the row is labelled healthy."""
        return self.truth["label"] == "healthy"

    @property
    def right(self) -> bool:
        """Whether the label, or another that is accepted, was found."""
        return self.found.label in {self.truth["label"], *self.truth["secondary"].split(";")}

    def near(self, lines: int) -> bool:
        """Whether the line is at most so many lines off the labelled one."""
        return self.found.line is not None and abs(self.found.line - int(self.truth["root_line"])) <= lines

    def is_first(self, which: str) -> bool:
        """Whether the first `rank` or `node` is the labelled one."""
        return str(getattr(self.found, which)) == self.truth[f"first_{which}"]


def segments(corpus: Path) -> Iterator[tuple[dict[str, str], bytes]]:
    """Each labelled row with the bytes of its lines."""
    with (corpus / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            lines = (corpus / row["file"]).read_bytes().split(b"\n")
            yield row, b"\n".join(lines[int(row["first_line"]) - 1 : int(row["last_line"])]) + b"\n"


def blamed(run: Run | None, first: int = 1, last: int = 10**12) -> Blame:
    """What is blamed in the last session within the given lines."""
    if run is None:
        return Blame()
    inside = run.sessions.filter(pl.col("last_line") >= first, pl.col("first_line") <= last)
    inside = inside.with_columns(pl.col("first_line", "last_line").clip(first, last))
    within = pl.col("line").is_between(first, last)
    part = Run(sessions=inside, lines=run.lines.filter(within), points=run.points.filter(within))
    number = judged_session(part)
    told = ("label", "line", "first_rank", "first_node", "part")
    rows = roots(outlived(part, number)).with_columns(pl.col("label").fill_null("other")).select(told)
    return Blame(*rows.row(0)) if rows.height else Blame()


def read(path: Path) -> Run | None:
    """The run, or None where a log held nothing that was recognised."""
    try:
        return ingest(path)
    except SourceError:
        return None


def by_segment(corpus: Path) -> Iterator[Judged]:
    """Every labelled segment cut out and read as a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for row, data in segments(corpus):
            path = Path(folder) / Path(row["file"]).name
            path.write_bytes(data)
            found = blamed(read(path))
            line = found.line and found.line + int(row["first_line"]) - 1
            yield Judged(row, Blame(found.label, line, found.rank, found.node, found.part))


def by_file(corpus: Path) -> Iterator[Judged]:
    """Every file read as a whole; a labelled segment is judged by the last session found within its lines."""
    runs: dict[str, Run | None] = {}
    for row, _ in segments(corpus):
        if row["file"] not in runs:
            runs[row["file"]] = read(corpus / row["file"])
        yield Judged(row, blamed(runs[row["file"]], int(row["first_line"]), int(row["last_line"])))


def share(rows: list[bool]) -> str:
    """`right/all (percent)`."""
    return f"{sum(rows)}/{len(rows)} ({sum(rows) / max(len(rows), 1):.0%})"


def report(title: str, rows: list[Judged], misses: bool) -> None:
    """Print the shares for one way of cutting."""
    sick = [r for r in rows if not r.healthy]
    lined = [r for r in sick if r.truth["root_line"]]
    several = [r for r in rows if "#" in r.truth["id"]]
    print(f"{title}: label right {share([r.right for r in sick])}")
    print(
        f"  root line exact {share([r.near(0) for r in lined])}, within {NEAR} {share([r.near(NEAR) for r in lined])}"
    )
    for which in ("rank", "node"):
        told = [r.is_first(which) for r in sick if r.truth[f"first_{which}"]]
        print(f"  first {which} right {share(told)}")
    either = [r for r in sick if r.truth["first_rank"] or r.truth["first_node"]]
    print(f"  first rank or node right {share([r.is_first('rank') or r.is_first('node') for r in either])}")
    consequences = sum(r.found.part == CASCADE and not r.right for r in rows)
    alarms = sum(not r.right for r in rows if r.healthy)
    print(f"  a consequence called the cause {consequences}, healthy called sick {alarms}")
    print(f"  of files with several jobs: label right {share([r.right for r in several])}")
    for r in rows if misses else []:
        if (
            not r.right
            or (r in lined and not r.near(NEAR))
            or any(r.truth[f"first_{w}"] and not r.is_first(w) for w in ("rank", "node"))
        ):
            t = r.truth
            where = (
                f"{t['label']} ({t['secondary']}) at {t['root_line']}, rank {t['first_rank']} node {t['first_node']}"
            )
            print(f"    {'WRONG' if not r.right else 'place'} {t['id']}: {where}; found {r.found}")


def main() -> None:
    """Print both ways of cutting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--misses", action="store_true", help="list what was missed")
    args = parser.parse_args()
    report("segments cut out", list(by_segment(args.corpus)), args.misses)
    report("whole files", list(by_file(args.corpus)), args.misses)


if __name__ == "__main__":
    main()
