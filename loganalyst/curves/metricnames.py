"""What the words of a metric's name say, whatever its role: its measure, and the data that it is about."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from loganalyst.curves.rolefile import role_file
from loganalyst.namewords import in_english, word_file


@cache
def phrase_regex(phrase: str) -> re.Pattern[str]:
    """A phrase between word boundaries of a normalised name: "loss" in "train_loss", not in "lossy"."""
    return re.compile(f"(?:^|_)(?:{phrase})(?:_|$)")


MEASURE_WORDS = {"l1", "l2", "mse", "mae", "rmse", "huber", "bce", "ce", "nll"}
_WORD = re.compile(r"[^\W_]+")
_RECALL_CURVE = re.compile(r"(?:^|_)(?:pr|prc|precision|recall)(?:_|$)")  # `pr_auc`
_POSSESSIVE = re.compile(r"['’]s\b")  # "critic's loss"
_ONE_MINUS = re.compile(r"(?<![a-z0-9])1 ?- ?(?=[a-z])")  # "1-acc", "val/1 - ssim", not "layer1-acc"
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")  # between "val" and "Loss" in "valLoss"
_MEANS = frozenset({"avg", "mean", "average"})


@lru_cache(1 << 16)  # the same names come several times
def normalise(name: str) -> str:
    """Lower-case words joined by `_`, in English if `rules/words.yaml` knows them. Other characters than letters and
    digits separate words; a possessive `'s` is dropped. One minus a score is an error. The last of several words is
    made singular. A last word such as "history" is dropped.

    >>> normalise("Val/Loss"), normalise("test/1-SSIM"), normalise("val_losses"), normalise("reward_history")
    ('val_loss', 'test_error_of_ssim', 'val_loss', 'reward')
    """
    lower = _ONE_MINUS.sub("error of ", _POSSESSIVE.sub("", name.lower()))
    *words, last = _WORD.findall(in_english(lower)) or [""]
    if words and last in word_file().list_words:
        *words, last = words
    if words and last in _MEANS:  # `train losses.avg`
        words[-1] = word_file().plurals.get(words[-1], words[-1])
    return "_".join([*words, word_file().plurals.get(last, last) if words else last])


def names_split(name: str) -> bool:
    """Whether a name has a word for training or for held-out data.

    >>> names_split("train/loss"), names_split("loss")
    (True, False)
    """
    return not (word_file().training | role_file().words["val"]).isdisjoint(split_words(name))


def measure(name: str) -> str:
    """The normalised name without words for training or held-out data.

    >>> measure("val/precision"), measure("precision")
    ('precision', 'precision')
    """
    splits = word_file().training | role_file().words["val"]
    return "_".join(word for word in split_words(name) if word not in splits)


def is_unbounded(name: str) -> bool:
    """Whether a name has a score whose best value is neither 1 nor 100.

    >>> is_unbounded("val/PSNR"), is_unbounded("val_ssim")
    (True, False)
    """
    return _among(normalise(name), word_file().measures.unbounded)


def score_of_chance(name: str) -> float | None:
    """The score of a constant answer, 0 or 1/2; None where it is not known, or for the area under another curve.

    >>> score_of_chance("val/r2"), score_of_chance("val_auroc"), score_of_chance("val_acc"), score_of_chance("pr_auc")
    (0.0, 0.5, None, None)
    """
    plain, measures = normalise(name), word_file().measures
    if _among(plain, measures.zero_by_chance):
        return 0.0
    of_recall = _RECALL_CURVE.search(plain)
    return 0.5 if _among(plain, measures.half_by_chance) and not of_recall else None


def _among(name: str, words: Sequence[str]) -> bool:
    """Whether one of the regexes of scores fits some words of a normalised name: `psnr`, `val_si_sdr`, `pesq_mean`."""
    return bool(phrase_regex("|".join(words)).search(name))


def names_held_out(name: str) -> bool:
    """Whether a name has a word for held-out data.

    >>> names_held_out("valid"), names_held_out("train_inner")
    (True, False)
    """
    return not role_file().words["val"].isdisjoint(normalise(name).split("_"))


def split_words(name: str) -> list[str]:
    """The words of a name, also those that its capitals begin."""
    return normalise(CAPITAL.sub("_", name)).split("_")
