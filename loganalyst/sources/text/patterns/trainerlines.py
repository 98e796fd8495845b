"""Lines in which trainers say how they ended, and texts that show which trainer prints them (`rules/trainers`).

Such a line is of a pattern of `rules/text`, in the trainer's own words: the features know the pattern, not the trainer.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from loganalyst.patterntraits import having
from loganalyst.rulefiles import Place
from loganalyst.trainerfiles import Line, TrainerFiles, Why

_TRAITS: Mapping[Why, str] = {"early": "early_stop", "plan": "planned_stop", "signal": "signal_stop"}
_SPECIAL = re.compile(r"[.*+?()\[\]{}|^$\\]")  # characters that a regex understands


class TrainerLine(msgspec.Struct, frozen=True):
    """A kind of line of a trainer: the id of the pattern whose meaning it has, a text and a regex, an example, and its
    place in the file.
    """

    id: str
    text: str
    regex: str
    example: str
    place: Place


def lines(read: TrainerFiles) -> Iterator[TrainerLine]:
    """The lines of `ends` and `stopped` of all trainers.

    >>> from loganalyst.trainerfiles import trainer_files
    >>> next((line.id, line.text) for line in lines(trainer_files()) if "fit`" in line.text)
    ('training-finished', '`Trainer.fit` stopped: `max_')
    """
    for name, shape in read.shapes.items():
        file = read.files[name]
        for i, line in enumerate(shape.ends):
            yield _line("finished", line, file.place("ends", i))
        for i, stop in enumerate(shape.stopped):
            yield _line(_TRAITS[stop.why], stop, file.place("stopped", i))


def witnesses(read: TrainerFiles) -> tuple[str, ...]:
    """The texts of log lines that point to a trainer."""
    return tuple(sorted({text for shape in read.shapes.values() for text in shape.witnesses.lines}))


def _line(trait: str, line: Line, place: Place) -> TrainerLine:
    """A line with the meaning of the first pattern that has the trait."""
    regex = line.regex or _SPECIAL.sub(r"\\\g<0>", line.text)
    return TrainerLine(having(trait)[0], line.text, regex, line.line, place)
