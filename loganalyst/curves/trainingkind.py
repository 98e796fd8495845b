"""The kind of training that a run is: what its trainer says, else what its metrics and settings suggest.

`rules/kinds.yaml` holds the witnesses of each kind and their weights.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import field

from loganalyst.curves.roles import normalise
from loganalyst.curves.trainers import Trainer
from loganalyst.model import OF_FILE, Run
from loganalyst.rulefiles import Positive, Shape, Share, Text, needed, ours

MAX_SETTING = 60  # characters of a value that may name a kind; longer ones are prose or lists
_TASKLESS = "any"  # the kind of a trainer whose users train all kinds

Weight = Annotated[float, needed("a weight above 0, at most 2", gt=0, le=2)]


class _Kind(Shape, frozen=True):
    meaning: Text
    roles: dict[str, Weight] = field(default_factory=dict)
    metrics: dict[str, Weight] = field(default_factory=dict)
    settings: dict[str, Weight] = field(default_factory=dict)


class _File(Shape, frozen=True):
    doubt: Positive
    by_trainer: Share
    kinds: dict[str, _Kind]


class TrainingKind(NamedTuple):
    """A kind of training, the probability that it is right (0 to 1), and its strongest witnesses in words."""

    kind: str
    probability: float
    witnesses: tuple[str, ...]


@cache
def _file() -> _File:
    return ours("kinds.yaml", _File)


def meaning(kind: str) -> str:
    """What a kind is, in words; the name itself for a kind that only trainers state."""
    known = _file().kinds.get(kind)
    return known.meaning if known else kind


def training_kind(run: Run, roles: Iterable[str], trainer: Trainer | None) -> TrainingKind | None:
    """The kind of training of a run with metrics of these `roles`; None where nothing suggests one."""
    if trainer and trainer.kind != _TASKLESS:
        return TrainingKind(trainer.kind, _file().by_trainer, (trainer.title,))
    seen = {"roles": set(roles), "metrics": _metric_words(run), "settings": _setting_words(run)}
    found = {name: _witnesses(kind, seen) for name, kind in _file().kinds.items()}
    sums = {name: sum(weights.values()) for name, weights in found.items()}
    best = max(sums, key=lambda name: sums[name])
    if not sums[best]:
        return None
    strongest = sorted(found[best], key=lambda name: -found[best][name])[:3]
    return TrainingKind(best, sums[best] / (sum(sums.values()) + _file().doubt), tuple(strongest))


def _witnesses(kind: _Kind, seen: Mapping[str, set[str]]) -> dict[str, float]:
    sorts = {"roles": kind.roles, "metrics": kind.metrics, "settings": kind.settings}
    return {name: weight for sort, known in sorts.items() for name, weight in known.items() if name in seen[sort]}


def _metric_words(run: Run) -> set[str]:
    """Words of metric names, and pairs of neighbouring words (`box_loss`)."""
    return _words(normalise(name.rpartition(OF_FILE)[2]) for name in run.points["metric"].unique())


def _setting_words(run: Run) -> set[str]:
    """Words of the keys and short values of the settings, and of the names of files; whole keys too."""
    values = run.config["value"].drop_nulls()
    short = values.filter(values.str.len_chars() <= MAX_SETTING).unique().to_list()
    keys = run.config["key"].unique().to_list()
    files = [Path(source.path).stem for source in run.sources]
    return {key.rpartition(".")[2].lower() for key in keys} | _words(
        normalise(text) for text in (*keys, *short, *files)
    )


def _words(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        words = name.split("_")
        found.update(words)
        found.update(f"{first}_{second}" for first, second in pairwise(words))
    return found
