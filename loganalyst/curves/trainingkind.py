"""The kind of training that a run is: what its trainer says, else what its metrics, settings and names suggest.

`rules/kinds.yaml` holds the witnesses of each kind and their weights.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from msgspec import field

from loganalyst.curves.roles import normalise
from loganalyst.curves.trainers import Trainer
from loganalyst.model import OF_FILE, Run, TrainingKind, TrainingKindName
from loganalyst.rulefiles import Positive, Shape, Share, Text, needed, ours

MAX_SETTING = 60  # characters of a value that may name a kind; a longer one is prose or holds settings itself
MAX_HOLDER = 4096  # characters of a value that is searched for settings
FOLDERS = 4  # names at the end of the run's path that may name a kind
MAX_WITNESSES = 3
_TASKLESS = "any"  # the kind of a trainer whose users train all kinds
_INNER = re.compile(r'"([^"\n]{1,60})"|^\s*([\w-]{1,60}):[ \t]{1,9}([\w.-]{1,60})$', re.MULTILINE)  # "task": "ner", or task: ner
_HUMP = re.compile(r"([a-z])([A-Z])")  # smilesVAE

Weight = Annotated[float, needed("a weight above 0, at most 2", gt=0, le=2)]


class _Kind(Shape, frozen=True):
    meaning: Text
    roles: dict[str, Weight] = field(default_factory=dict)
    metrics: dict[str, Weight] = field(default_factory=dict)
    settings: dict[str, Weight] = field(default_factory=dict)
    trainers: dict[str, Weight] = field(default_factory=dict)


class _File(Shape, frozen=True):
    doubt: Positive
    steepness: Positive
    by_trainer: Share
    by_folder: Share
    kinds: dict[TrainingKindName, _Kind]


@cache
def _file() -> _File:
    return ours("kinds.yaml", _File)


def training_kind(run: Run, roles: Iterable[str], trainer: Trainer | None) -> TrainingKind | None:
    """The kind of training of a run with metrics of these `roles`; None where nothing suggests one."""
    file = _file()
    if trainer and trainer.kind != _TASKLESS:
        return TrainingKind(trainer.kind, file.kinds[trainer.kind].meaning, file.by_trainer, (trainer.title,))
    seen = {
        "roles": set(roles),
        "metrics": _metric_words(run),
        "settings": _setting_words(run),
        "trainers": {trainer.id} if trainer else set[str](),
    }
    folders = _words(map(_folder_name, run.path.parts[-FOLDERS:]))
    found = {name: _witnesses(kind, seen, folders - seen["settings"]) for name, kind in file.kinds.items()}
    odds = {name: math.expm1(file.steepness * sum(weights.values())) for name, weights in found.items()}
    best = max(odds, key=lambda name: odds[name])
    if not odds[best]:
        return None
    strongest = sorted(found[best], key=lambda name: -found[best][name])[:MAX_WITNESSES]
    probability = min(odds[best] / (sum(odds.values()) + file.doubt), file.by_trainer)
    return TrainingKind(best, file.kinds[best].meaning, probability, tuple(strongest))


def _witnesses(kind: _Kind, seen: Mapping[str, set[str]], folders: set[str]) -> dict[str, float]:
    """The weight of each witness of a kind. Names of folders are words as in settings, and weigh less."""
    sorts = {"roles": kind.roles, "metrics": kind.metrics, "settings": kind.settings, "trainers": kind.trainers}
    named = {f"folder {name}": weight * _file().by_folder for name, weight in kind.settings.items() if name in folders}
    return named | {name: weight for sort, known in sorts.items() for name, weight in known.items() if name in seen[sort]}


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
