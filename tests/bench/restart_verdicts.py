"""How often the verdict on a restart is right: hopeless restarts found, and restarts refused that could have worked.

Run: python tests/bench/restart_verdicts.py [--corpus DIR] [--misses]

`restart_labels.csv` says of each failed log whether a restart as it is would fail again (`hopeless`): code, settings,
data, versions or a full disk. Logs of memory that ran out after some work are left out, because nobody knows.
"""

import argparse
import csv
from pathlib import Path

from loganalyst import diagnose

LABELS = Path(__file__).parent / "restart_labels.csv"
CORPUS = Path(__file__).parents[2] / "../shared/corpus"


def main() -> None:
    """Print recall of hopeless restarts and the share of false refusals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    with LABELS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    refused: dict[str, list[bool]] = {"yes": [], "no": []}
    for row in rows:
        found = diagnose(options.corpus / row["source"] / row["path"])
        verdict = found.restart.verdict if found.restart else "none"
        refused[row["hopeless"]].append(verdict == "do_not_restart")
        if options.misses and (verdict == "do_not_restart") != (row["hopeless"] == "yes"):
            entry = found.restart.entry if found.restart else ""
            print(f"  {row['path']}: {verdict} ({entry}); {row['why']}")
    hopeless, others = refused["yes"], refused["no"]
    print(f"hopeless restarts found: {sum(hopeless)} of {len(hopeless)}")
    print(f"restarts refused that could have worked: {sum(others)} of {len(others)}")


if __name__ == "__main__":
    main()
