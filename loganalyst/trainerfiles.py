"""The files of trainers, `rules/trainers/*.yaml`, ours and the user's: their shape, and loading them.

`curves/trainers.py` takes names of metrics and witnesses from them; the reader of logs takes what a trainer prints.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import field

from loganalyst.errors import RuleError
from loganalyst.model import TrainingKindName
from loganalyst.rulefiles import RuleFile, Shape, Text, load, needed, rules_dir, typed, yaml_files

FOLDER = "trainers"
MIN_SNIPPET_CHARS = 3

Kind: TypeAlias = TrainingKindName | Literal["any"]
Norm = Annotated[float, needed("a norm above 0", gt=0)]
Weight = Annotated[float, needed("a weight above 0, at most 2", gt=0, le=2)]
SNIPPET = "a text of one line with three characters or more"  # it is searched for among hundreds of others
Snippet = Annotated[str, needed(SNIPPET, pattern=rf"^[^\n]{{{MIN_SNIPPET_CHARS},}}$")]
Why: TypeAlias = Literal["early", "plan", "signal"]


class Witnesses(Shape, frozen=True):
    """What points to a trainer, by sort, each with a weight."""

    metrics: dict[str, Weight] = field(default_factory=dict)
    settings: dict[str, Weight] = field(default_factory=dict)
    files: dict[str, Weight] = field(default_factory=dict)
    readers: dict[str, Weight] = field(default_factory=dict)
    lines: dict[str, Weight] = field(default_factory=dict)


class Line(Shape, frozen=True):
    """A kind of line that a trainer prints: an example, a text that is in each of them, and a regex (None: the text
    alone decides).
    """

    line: Text
    text: Snippet
    regex: str | None = None


class Stop(Line, frozen=True):
    """A line that says why the trainer stopped: no progress (`early`), a limit that was set (`plan`), or a signal."""

    why: Why = "plan"


class Print(Shape, frozen=True):
    """A line of numbers in a form of the trainer's own, and what it says in plain words.

    `#` is a number in `regex` and `as`. The numbers of `as` are those of the line, in order; those at the end may be
    left out. `reads` has the metrics of the example, `step` and `epoch` their place.
    """

    line: Text
    text: Snippet
    regex: Text
    plain: Text = field(name="as")
    reads: dict[str, float]
    step: int | None = None
    epoch: float | None = None


class TrainerFile(Shape, frozen=True):
    """One file of a trainer, as written. It clips gradients at the norm `clips` where no setting says otherwise."""

    title: Text
    source: Text
    kind: Kind
    witnesses: Witnesses
    step: Text | None = None
    extends: Text | None = None
    prefixes: tuple[str, ...] = ()
    metrics: dict[str, str] = field(default_factory=dict)
    usual: dict[str, tuple[float, float]] = field(default_factory=dict)
    clips: Norm | None = None
    prints: tuple[Print, ...] = ()
    ends: tuple[Line, ...] = ()
    stopped: tuple[Stop, ...] = ()


class TrainerFiles(msgspec.Struct, frozen=True):
    """Trainers by their id, in the order of reading: as written, and with the lines of the file; and the faults of
    those that were left out.
    """

    shapes: Mapping[str, TrainerFile]
    files: Mapping[str, RuleFile]
    faults: tuple[RuleError, ...]


@cache
def trainer_files(folders: tuple[Path, ...] = ()) -> TrainerFiles:
    """Our trainers and the valid ones of `folders`. Raises RuleError for a fault of ours.

    >>> trainer_files().shapes["sb3"].title
    'Stable-Baselines3'
    """
    files = {path.stem: load(path) for path in yaml_files(rules_dir(), FOLDER)}
    shapes = {name: _checked(file) for name, file in files.items()}
    faults = list[RuleError]()
    for path in (path for folder in folders for path in yaml_files(folder, FOLDER)):
        try:
            file = load(path)
            if path.stem in files:
                raise RuleError(path, f"trainer {path.stem!r} exists already", "another name of the file is needed")
            shapes[path.stem], files[path.stem] = _checked(file), file
        except RuleError as error:
            faults.append(error)
    return TrainerFiles(shapes, files, tuple(faults))


def _checked(file: RuleFile) -> TrainerFile:
    """The typed file. Raises RuleError for its first fault."""
    shape = typed(file, TrainerFile)
    for text in shape.witnesses.lines:
        if len(text) < MIN_SNIPPET_CHARS or "\n" in text:
            raise RuleError(file.where("witnesses", "lines", text), f"lines has {text!r}", SNIPPET)
    return shape
