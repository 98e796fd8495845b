"""Texts that hold one metric each, and are named after it: `train_loss.txt` beside `val_acc.txt` is one run.

Their names may share words of the experiment (`lenet_train_loss.txt`, `lenet_test_loss.txt`), or each names a metric of
its own (`train_loss.txt`, `raw_val_mae.txt`). Where one metric has different words (`adam_loss.txt`, `sgd_loss.txt`),
each file is a run of its own. `val_history.txt` names no metric, but belongs to `loss_history.txt`.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from loganalyst import filemeasure
from loganalyst.sources.discovery.folder import Folder
from loganalyst.sources.formats import PLAUSIBLE, reader_of
from loganalyst.thresholds import reading_limit

MIN_FILES = 2  # that are one run together
READERS = ("csv", "numbercolumns", "numberlists", "namedrows")


def take(folder: Folder) -> None:
    """Make such texts the metrics of the folder, if it has no others."""
    group = folder.group
    if group.curves or len(folder.notes) + len(group.logs) < MIN_FILES:
        return
    found = [path for path in of_one_run([*group.logs, *folder.notes], folder.name) if _is_table(path)]
    if len(found) >= MIN_FILES and any(map(_is_of_a_measure, found)):
        group.curves += [(path, os.stat(path).st_ino) for path in found]
        group.logs = [path for path in group.logs if path not in found]
        folder.notes = [path for path in folder.notes if path not in found]
        folder.claims = True


def of_one_run(paths: Sequence[str], folder: str = "") -> list[str]:
    """The files that are named after metrics, if they are of one run; else none.

    >>> of_one_run(["train_loss.txt", "val_loss.txt", "W1.txt"]), of_one_run(["adam_loss.txt", "sgd_loss.txt"])
    (['train_loss.txt', 'val_loss.txt'], [])
    """
    of_folder = filemeasure.is_metric(folder)
    named = [path for path in paths if _names_metric(_stem(path), of_folder=of_folder)]
    if any(map(_is_of_a_measure, named)):
        named = [path for path in paths if path in named or _names_history(_stem(path))]
    some = [_stem(path) for path in named[: int(reading_limit("files_of_metrics")) + 1]]
    alike = len({*map(filemeasure.other_words, some)}) == 1 or len({*map(_metric_words, some)}) == len(some)
    return sorted(named) if 1 < len(named) <= reading_limit("files_of_metrics") and alike else []


def _names_metric(stem: str, *, of_folder: bool) -> bool:
    """Whether a name has a word for what is measured, or in a folder with such a name for the data."""
    words = filemeasure.MEASURES | filemeasure.QUANTITIES | (filemeasure.SETS if of_folder else set())
    return not words.isdisjoint(filemeasure.words(stem))


def _names_history(stem: str) -> bool:
    """Whether a name says of which data the file is a history, and nothing else: `val_history`."""
    words = filemeasure.words(stem)
    said = filemeasure.SETS.isdisjoint(words) or filemeasure.HISTORIES.isdisjoint(words)
    return not said and not filemeasure.other_words(stem)


def _metric_words(stem: str) -> tuple[str, ...]:
    """The words of a name that are of its metric and its data."""
    words = filemeasure.words(stem)
    return tuple(sorted({word for word in words if word in filemeasure.MEASURES | filemeasure.SETS}))


def _is_of_a_measure(path: str) -> bool:
    return any(map(filemeasure.says_measure, (_stem(path), os.path.basename(os.path.dirname(path)))))


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _is_table(path: str) -> bool:
    """Whether the file holds numbers in rows, perhaps below a header."""
    score, known = reader_of(Path(path))
    return known is not None and score >= PLAUSIBLE and known.NAME in READERS
