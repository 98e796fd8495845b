"""The kind of training that a run is: what its trainer says, else what its metrics, settings and names suggest.

`rules/kinds.yaml` holds the witnesses of each kind and their weights.
"""

import math
import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

from msgspec import field

from loganalyst.curves.metricnames import normalise
from loganalyst.curves.trainers import Trainer
from loganalyst.model import OF_FILE, Run, TrainingKind, TrainingKindName
from loganalyst.rulefiles import Positive, Shape, Share, Text, needed, ours

MAX_SETTING = 60  # characters of a value that may name a kind; a longer one is prose or holds settings itself
MAX_HOLDER = 4096  # characters of a value that is searched for settings
FOLDERS = 4  # names at the end of the run's path that may name a kind
MAX_WITNESSES = 3
_TASKLESS: Final = "any"  # the kind of a trainer whose users train all kinds
_INNER = re.compile(
    r'"([^"\n]{1,60})"|^[ \t]{0,20}([\w-]{1,60}):[ \t]{1,9}([\w.-]{1,60})$', re.MULTILINE
)  # "task": "ner", or task: ner
_HUMP = re.compile(r"([a-z])([A-Z])")  # smilesVAE

Weight = Annotated[float, needed("a weight above 0, at most 2", gt=0, le=2)]


class _Kind(Shape, frozen=True):
    meaning: Text
    roles: dict[str, Weight] = field(default_factory=dict)
    metrics: dict[str, Weight] = field(default_factory=dict)
    settings: dict[str, Weight] = field(default_factory=dict)
    trainers: dict[str, Weight] = field(default_factory=dict)
    usual: dict[str, tuple[Positive, Positive]] = field(default_factory=dict)


class _File(Shape, frozen=True):
    doubt: Positive
    steepness: Positive
    by_trainer: Share
    by_folder: Share
    by_one: Share
    kinds: dict[TrainingKindName, _Kind]


@cache
def _file() -> _File:
    return ours("kinds.yaml", _File)


def training_kind(run: Run, roles: Iterable[str], trainer: Trainer | None) -> TrainingKind | None:
    """The kind of training of a run with metrics of these `roles`; None where nothing suggests one."""
    file = _file()
    if trainer and trainer.kind != _TASKLESS:
        return TrainingKind(trainer.kind, file.kinds[trainer.kind].meaning, file.by_trainer, (trainer.title,))
    found = _witnesses(run, set(roles), trainer)
    odds = {name: math.expm1(file.steepness * sum(weights.values())) for name, weights in found.items()}
    best = max(odds, key=lambda name: odds[name])
    if not odds[best]:
        return None
    strongest = sorted(found[best], key=lambda witness: -found[best][witness])
    highest = file.by_trainer if len(strongest) > 1 else file.by_one
    probability = min(odds[best] / (sum(odds.values()) + file.doubt), highest)
    return TrainingKind(best, file.kinds[best].meaning, probability, tuple(strongest[:MAX_WITNESSES]))


def usual_range(kind: str, feature: str) -> tuple[float, float] | None:
    """The ordinary range of a feature in trainings of this kind; None where none is known.

    >>> from loganalyst.curves.trainingkind import usual_range
    >>> usual_range("preference", "lr_peak"), usual_range("supervised", "lr_peak")
    ((1e-07, 5e-05), None)
    """
    return next((found.usual.get(feature) for name, found in _file().kinds.items() if name == kind), None)


def stated_kind(kind: TrainingKindName, probability: float) -> TrainingKind:
    """A kind that was found before, such as that of an anonymous document."""
    return TrainingKind(kind, _file().kinds[kind].meaning, probability)


def _witnesses(run: Run, roles: set[str], trainer: Trainer | None) -> dict[TrainingKindName, dict[str, float]]:
    """The weight of each witness of each kind. Names of folders are words as in settings, and weigh less."""
    metrics, settings = _metric_words(run), _setting_words(run)
    folders = _words(map(_folder_name, run.path.parts[-FOLDERS:])) - settings
    found: dict[TrainingKindName, dict[str, float]] = {}
    for name, kind in _file().kinds.items():
        weighed = {word: kind.settings[word] * _file().by_folder for word in folders & kind.settings.keys()}
        for known, seen in ((kind.roles, roles), (kind.metrics, metrics), (kind.settings, settings)):
            weighed |= {word: weighed.get(word, 0.0) + known[word] for word in known if word in seen}
        if trainer and trainer.id in kind.trainers:
            weighed[trainer.title] = kind.trainers[trainer.id]
        found[name] = weighed
    return found


def _metric_words(run: Run) -> set[str]:
    """Words of metric names, and pairs of neighbouring words (`box_loss`)."""
    return _words(normalise(name.rpartition(OF_FILE)[2]) for name in run.points["metric"].unique())


def _setting_words(run: Run) -> set[str]:
    """Words of the keys and short values of the settings, and of the names of files; whole keys too. A long value may
    hold settings itself.
    """
    values = run.config["value"].drop_nulls().unique()
    lengths = values.str.len_chars()
    short = values.filter(lengths <= MAX_SETTING).to_list()
    inner = [text for value in values.filter(lengths > MAX_SETTING) for text in _held(value)]
    keys = run.config["key"].unique().to_list()
    files = [Path(source.path).stem for source in run.sources]
    return {key.rpartition(".")[2].lower() for key in keys} | _words(map(normalise, (*keys, *short, *inner, *files)))


def _held(value: str) -> list[str]:
    """The keys and texts of settings in one long value, such as the JSON of a model's config."""
    return [text for groups in _INNER.findall(value[:MAX_HOLDER]) for text in groups if text]


def _folder_name(name: str) -> str:
    """A folder's name as words: `smiles_vae` for smilesVAE."""
    return normalise(_HUMP.sub(r"\1 \2", name))


def _words(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        words = name.split("_")
        found.update(words)
        found.update(f"{first}_{second}" for first, second in pairwise(words))
    return found
