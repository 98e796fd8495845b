"""Write docs/trainers.md from `rules/trainers/`: `python docs/generate_trainers.py`. A test checks it."""

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from loganalyst.curves.trainers import Trainer, trainers
from loganalyst.report.common.markdowntext import escape

PAGE = Path(__file__).parent / "trainers.md"
INTRODUCTION = """\
# Trainers

`python docs/generate_trainers.py` generates this page from `rules/trainers/`. Change those files;
[CONTRIBUTING](../CONTRIBUTING.md#add-a-trainer) says how.

A trainer is the library or script that trained a run. {count} are known, and a file in `trainers/` of
your own rules adds one. A recognised trainer gives the role of every metric that it names; `loganalyst show RUN` says
so. Other metrics get their role [by their name](../rules/roles.yaml). The features `trainer`, `training_kind` and
`lr_peak_usual` show what was recognised ([features](features.md#trainer)).

"In a log" marks those that lines of their console output help to recognise. Such a log needs no other file. The same
files state in which forms a trainer prints its metrics, and which lines say that it ended or was stopped.

A kind of `any` means that the trainer's users train all kinds. The kind then follows from metrics and settings
([kinds](../rules/kinds.yaml)).
"""


def page() -> str:
    """The whole page."""
    every = sorted(trainers(), key=lambda t: (t.kind, t.title.lower()))
    return "\n".join([INTRODUCTION.format(count=len(every)), *_sections(every)])


def _sections(every: list[Trainer]) -> Iterator[str]:
    for kind, some in groupby(every, lambda t: t.kind):
        rows = "\n".join(map(_row, some))
        head = f"| trainer | step counts | metrics | in a log | usual peak rate | names read from |\n|{'---|' * 6}"
        yield f"## {kind}\n\n{head}\n{rows}\n"


def _row(trainer: Trainer) -> str:
    low, high = trainer.usual.get("lr_peak", (None, None))
    rate = "" if low is None else f"{low:.2g} to {high:.2g}"
    name = f"{escape(trainer.title)} (`{trainer.id}`)"
    count = len(trainer.exact) + len(trainer.patterns)
    lines = "yes" if trainer.witnesses["lines"] else ""
    return f"| {name} | {escape(trainer.step)} | {count} | {lines} | {rate} | {escape(trainer.source)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
