"""Write docs/features.md from the declarations: `python docs/generate_features.py`. A test checks it."""

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

`python docs/generate_features.py` generates this page from the declarations in `loganalyst/features/`. Change those.

Features are the {count} values of a run that rules can ask about ([format of rules](formats/rules.md)).
A run is one row of them. `loganalyst show RUN --features` prints the row of one run with the source of each value
(`--format json` for programs). The store's table `features` holds the rows of many runs ([store](store.md)).

An unknown value is NULL, never 0 and never NaN. An event has two features: `<event>_count`, which is 0 if the run was
searched and has none, and `<event>_step`, the step of the first one. If several metrics have the role, faults come from
the worst metric, and the shape comes from the metric with most values. The *first level* of a curve is about
the median of its first three values, the *last level* about that of its last tenth. `needs` names what a run must have
for the value to be known: a metric with this [role](../rules/roles.yaml), or a table of the run.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION.format(count=len(declared())), *_sections()])


def _sections() -> Iterator[str]:
    for family in families():
        yield _section(family)


def _section(family: ModuleType) -> str:
    """Return the section of one family: its subject and its features."""
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
