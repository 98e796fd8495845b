"""What the name of a file says about its numbers: `Accuracy.csv` with the columns `train` and `valid` holds accuracies.

Words are split at everything but letters and digits, and where a capital follows a small letter.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePath

from loganalyst.namewords import word_file

_WORDS = word_file().files
MEASURES, SETS, QUANTITIES = _WORDS.measures, _WORDS.sets, _WORDS.quantities
FILLERS, HISTORIES = _WORDS.fillers, _WORDS.histories
# two words in one: `trainloss`, `valacc`, `dloss`, `gfake`
_COMPOUND = re.compile(rf"({'|'.join(sorted(SETS))}|d|g|gen|disc)({'|'.join(sorted(MEASURES))}|fake|real)")
_WORD = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")  # between "train" and "Loss" in "trainLoss"
MAX_WORDS = 3  # of a measure: `box_iou_loss`; a longer name is that of an experiment


@lru_cache(1 << 12)
def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case.

    >>> words("trainLoss_per-epoch"), words("dloss")
    (('train', 'loss', 'per', 'epoch'), ('d', 'loss'))
    """
    found = (word.lower() for word in _WORD.findall(_CAPITAL.sub("_", name)))
    return tuple(part for word in found for part in _parts(word))


def says_measure(name: str) -> bool:
    """Whether a word of the name is a measure, such as `val_acc`."""
    return not MEASURES.isdisjoint(words(name))


def _parts(word: str) -> tuple[str, ...]:
    compound = _COMPOUND.fullmatch(word)
    return compound.groups() if compound else (word,)


def other_words(name: str) -> tuple[str, ...]:
    """The words of a name that are none of a metric, such as those of an experiment.

    >>> other_words("adam_train_loss"), other_words("val_acc_history")
    (('adam',), ())
    """
    return tuple(word for word in words(name) if word not in MEASURES | SETS | FILLERS | QUANTITIES)


def is_metric(name: str) -> bool:
    """Whether a name is that of a metric and nothing else, such as `dev_recalls`."""
    return says_measure(name) and not other_words(name)


def measure(path: PurePath) -> str:
    """The measure in the name of a file, without words for data and counters; empty if there is none.

    >>> measure(PurePath("all_losses.json")), measure(PurePath("pretraining.loss.tsv")), measure(PurePath("run_7.csv"))
    ('losses', 'loss', '')
    """
    parts = [part for part in path.stem.split(".") if says_measure(part)]
    kept = [word for word in words(parts[-1] if parts else "") if word not in SETS | FILLERS and not word.isdigit()]
    return "_".join(kept if len(kept) <= MAX_WORDS else [word for word in kept if word in MEASURES][:1])


def data(path: PurePath) -> str:
    """The words for the data in the name of a file: `val` of `val_accs.json`."""
    return "_".join(word for word in words(path.stem) if word in SETS)


def named(columns: Sequence[str], path: PurePath) -> list[str]:
    """The names of columns or lists, where those that say only the data say the measure of the file too.

    >>> named(["epoch", "train", "valid"], PurePath("Accuracy.csv")), named(["train", "valid"], PurePath("run_7.csv"))
    (['epoch', 'train/accuracy', 'valid/accuracy'], ['train', 'valid'])
    """
    if not any(map(_says_only_data, columns)) or not (found := measure(path)):
        return list(columns)
    names = [f"{name}/{found}" if _says_only_data(name) else name for name in columns]
    return names if len({*names}) == len(names) else list(columns)


def _says_only_data(name: str) -> bool:
    """Whether a name is only one word for a part of the data, such as `train` or `Test set`, not `val eval`."""
    found = [word for word in words(name) if word not in ("set", "data")]
    return len(found) == 1 and found[0] in SETS
