"""How often the diagnosis of a labelled job log is right, and how many healthy logs are called sick.

Run: python tests/bench/text_diagnoses.py [--corpus DIR] [--wrong]

Every labelled segment is cut out and diagnosed as a file of its own. It is right when its label, or a secondary one, is
among the first three causes; a healthy one when no cause is named and the status is healthy or insufficient_data. Of
`other` (killed or cut off, and the log does not say why) the answer that the cause is unknown is right as well.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from text_labels import CORPUS, segments

from loganalyst import diagnose
from loganalyst.errors import LogAnalystError


@dataclass(frozen=True)
class Score:
    """One segment: what is true (label and secondary ones), what was said, and the seconds it took."""

    id: str
    truth: tuple[str, ...]
    status: str
    causes: tuple[tuple[str, float], ...]
    placed: bool
    seconds: float

    @property
    def healthy(self) -> bool:
        """Whether the log is labelled healthy."""
        return self.truth[0] == "healthy"

    @property
    def right(self) -> bool:
        """Whether the diagnosis is right, as the head of this file defines it."""
        if self.healthy:
            return not self.causes and self.status in ("healthy", "insufficient_data")
        if self.truth[0] == "other" and self.status == "cause_unknown":
            return True
        return any(label in self.truth for label, _ in self.causes[:3])

    @property
    def first(self) -> bool:
        """Whether the first cause is a true one."""
        return bool(self.causes) and self.causes[0][0] in self.truth


def scored(corpus: Path) -> Iterator[Score]:
    """Every labelled segment, diagnosed."""
    with tempfile.TemporaryDirectory() as folder:
        for row, data in segments(corpus):
            path = Path(folder) / Path(row["file"]).name
            path.write_bytes(data)
            truth = (row["label"], *filter(None, row["secondary"].split(";")))
            begin = time.perf_counter()
            try:
                found = diagnose(path)
            except LogAnalystError as error:
                yield Score(row["id"], truth, f"error: {error}", (), False, time.perf_counter() - begin)
                continue
            causes = tuple((c.label, c.confidence) for c in found.causes)
            placed = bool(found.causes) and found.causes[0].line is not None
            yield Score(row["id"], truth, found.status, causes, placed, time.perf_counter() - begin)


def main() -> None:
    """Print the shares, the calibration of the first cause, and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--wrong", action="store_true", help="list what was wrong")
    args = parser.parse_args()
    rows = list(scored(args.corpus))
    healthy, sick = [r for r in rows if r.healthy], [r for r in rows if not r.healthy]
    named = [r for r in sick if r.causes]
    print(f"failed logs right {share(sick, 'right')}, first cause right {share(sick, 'first')}")
    print(f"cause placed on a line of the log {share(named, 'placed')}")
    alarms = sum(bool(r.causes) for r in healthy)
    print(f"healthy logs right {share(healthy, 'right')}, given a cause {alarms}/{len(healthy)}")
    said = np.array([r.causes[0][1] for r in named])
    print(f"first cause: mean confidence {said.mean():.2f}, right {np.mean([r.first for r in named]):.2f}")
    print(f"mean time {np.mean([r.seconds for r in rows]):.2f} s")
    for r in rows if args.wrong else []:
        if not r.right:
            causes = ", ".join(f"{label} {p:.2f}" for label, p in r.causes)
            print(f"  {r.id}: {', '.join(r.truth)}; found {r.status}: {causes}")


def share(rows: list[Score], key: str) -> str:
    """`right/all (percent)` of a property."""
    hits = sum(getattr(r, key) for r in rows)
    return f"{hits}/{len(rows)} ({hits / max(len(rows), 1):.0%})"


if __name__ == "__main__":
    main()
