"""One record in two files of a folder: `loss_record.txt` beside `loss_record.npy`, both saved by the same script.

Their names differ only in the ending. A text beside a table is then no run of its own. An array of rows has no names
for its columns, so it is left out where the other file has. A pickle is left out beside any table with names.
"""

import os
import re
from collections.abc import Callable, Sequence

from loganalyst.opening import opened
from loganalyst.sources.discovery.folder import Folder
from loganalyst.sources.formats import HEAD

_ROWS = re.compile(rb"\x93NUMPY.{1,200}'shape': \(\d{1,18}, \d{1,18}\)", re.DOTALL)  # `'shape': (30, 3)`
SAVED = (".npy", ".npz", ".json")  # formats of tables beside which a text says the same
NAMED = (".csv", ".tsv", ".jsonl", ".json", ".npz")  # formats that name their columns
PICKLED = (".pkl", ".pickle", ".p")


def take(folder: Folder, shows_training: Callable[[str], bool]) -> None:
    """Give the folder those texts beside its tables that show a training, and leave out arrays without names."""
    group = folder.group
    saved = {_stem(path) for path in group.tables if path.endswith(SAVED)}
    texts = [path for path in (*folder.notes, *group.logs) if _stem(path) in saved and shows_training(path)]
    group.logs += [path for path in folder.notes if path in texts]
    folder.notes = [path for path in folder.notes if path not in texts]
    again = repeated([*group.tables, *(path for path, _ in group.curves)], texts)
    group.tables = [path for path in group.tables if path not in again]
    group.ignored += [f"{path}: the numbers of {other} again" for path, other in again.items()]


def repeated(paths: Sequence[str], texts: Sequence[str] = ()) -> dict[str, str]:
    """The arrays of rows and pickles beside one of the `texts` or a table with names that has the same name, and that
    file.

    >>> repeated(["history.csv", "loss.npy"]), repeated(["history.csv", "history.pkl"])
    ({}, {'history.pkl': 'history.csv'})
    """
    named = {_stem(path): path for path in (*texts, *paths) if path in texts or path.endswith(NAMED)}
    others = [path for path in paths if path.endswith((".npy", *PICKLED)) and _stem(path) in named]
    return {path: named[_stem(path)] for path in others if path.endswith(PICKLED) or _has_rows(path)}


def _stem(path: str) -> str:
    return os.path.splitext(path)[0]


def _has_rows(path: str) -> bool:
    """Whether an array has two dimensions."""
    try:
        with opened(path) as file:
            return bool(_ROWS.match(file.read(HEAD)))
    except OSError:
        return False
