"""Labels of runs in a table: one row per run or log, with all fair answers.

Columns: `path` (or `run_path`, `file`, `case`, `run_id`): where the run is, from the table's folder. `label`: the
answer. `acceptable` (or `secondary`, `accepted_rule_ids`): all fair answers, separated by `|` or `;`: labels, ids of
rules, `healthy`, `insufficient` (too little to judge) and `unknown` (a fault without a named cause). `certainty`: rows
of `low` certainty are left out. `repo`: the repository of the run.
"""

import csv
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loganalyst.errors import SourceError

NAME = "labels.csv"
PLACES = ("run_path", "file", "path", "case", "run_id")
ANSWERS = ("acceptable", "secondary", "accepted_rule_ids")
SAME = {  # other names of answers
    "crashed": "code_exception",
    "hung": "hang",
    "slurm_time_limit": "slurm_timeout",
    "missing_checkpoint": "checkpoint_missing",
    "insufficient": "insufficient_data",
    "too_short": "insufficient_data",
    "unknown": "cause_unknown",
}
UNSURE = "low"  # the certainty of rows that do not count
WHOLE = "1/1"  # the segment of a row about a whole log


def is_table(place: Path) -> bool:
    """Whether a place is a table of labels."""
    if place.suffix != ".csv":
        return False
    with place.open(encoding="utf-8", newline="") as lines:
        columns = set(next(csv.reader(lines), ()))
    return "labels" not in columns and bool(columns & {"label", *ANSWERS})


def truths(table: Path, half: int | None = None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The absolute path of each run and its truth: `labels` (fair answers, the best one first) and `repo`.

    `half` selects a fixed half of the repositories. Raises SourceError for a table without a row that counts.
    """
    found = False
    with table.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            place, labels = _first(row, PLACES), fair(row)
            repo = row.get("repo") or row.get("source") or place
            if place and labels and _counts(row) and (half is None or half_of(repo) == half):
                found = True
                yield os.path.abspath(table.parent / place), {"labels": labels, "repo": repo}
    if not found:
        raise SourceError(table, "has no row that counts", f"it takes {PLACES[2]}, label and {ANSWERS[0]}")


def fair(row: Mapping[str, str]) -> list[str]:
    """All fair answers of a row, its label first.

    >>> fair({"label": "hung", "acceptable": "hung|unknown"})
    ['hang', 'cause_unknown']
    """
    texts = [row.get("label") or "", *_first(row, ANSWERS).replace(";", "|").split("|")]
    names = (text.strip() for text in texts)
    return list(dict.fromkeys(SAME.get(name, name) for name in names if name))


def half_of(repo: str) -> int:
    """The fixed half, 0 or 1, of a repository.

    >>> half_of("a/b"), half_of("a/c")
    (1, 0)
    """
    return int(hashlib.md5(repo.encode(), usedforsecurity=False).hexdigest(), 16) // 2 % 2


def _first(row: Mapping[str, str], columns: tuple[str, ...]) -> str:
    """The first value of a row that is not empty."""
    return next((value for column in columns if (value := row.get(column))), "")


def _counts(row: Mapping[str, str]) -> bool:
    return row.get("segment", WHOLE) == WHOLE and row.get("certainty") != UNSURE
