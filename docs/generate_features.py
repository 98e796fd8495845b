"""Writes docs/features.md from the declarations: `python docs/generate_features.py`. A test checks it."""

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from types import ModuleType

from loganalyst.features import declared, families
from loganalyst.model import Feature

PAGE = Path(__file__).parent / "features.md"
INTRODUCTION = """\
# Features

Written by `python docs/generate_features.py` from the declarations in `loganalyst/features/`; change those.

A run is one row of these {count} values. Rules ask nothing else ([their format](formats/rules.md)).
`loganalyst show RUN --features` prints the row of one run with the place each value comes from (`--format json` for
programs), the store's table `features` holds the rows of many ([store](store.md)).

A value that is not known is NULL, never 0 and never NaN. An event is two features: `<event>_count`, 0 where it was
looked for and is not there, and `<event>_step` of the first one. Where several metrics have the role, what is wrong
with the worst counts; the shape is that of the one with most values. `needs` is what has to be there to know the value:
a [role](../rules/roles.yaml) of a metric, or a table of the run.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION.format(count=len(declared())), *_sections()])


def _sections() -> Iterator[str]:
    for family in families():
        yield _section(family)


def _section(family: ModuleType) -> str:
    """One family: what it is about, and its features."""
    name = family.__name__.rpartition(".")[2]
    about = cleandoc(family.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    rows = "\n".join(_row(f) for f in family.FEATURES)
    return f"## {name}\n\n{about}\n\n| feature | type | unit | meaning | needs |\n|---|---|---|---|---|\n{rows}\n"


def _row(f: Feature) -> str:
    cells = (f"`{f.name}`", f.dtype, f.unit, f.meaning, f"`{f.needs}`" if f.needs.isidentifier() else f.needs)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
