"""What differs between two runs: settings, code, versions, and where they ran."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loganalyst.baseline.differencekinds import Kind, Kinds
from loganalyst.model import Change, Run, Way

FACTS = ("_wandb.", "wandb-metadata.", "env.")  # where trackers and dumps put facts about the run
SAME_NUMBER = 1e-9  # relative difference of two spellings of one number


class Setting(NamedTuple):
    """A value as logged, and as a number if it is one."""

    text: str
    number: float | None


def changes(before: Run, after: Run, known: Kinds) -> list[Change]:
    """The changes from `before` to `after`, by how much they matter.

    Facts that only one run logged are left out, and so are all settings if one run logged none: whether they differ is
    not known.
    """
    old, new = settings(before), settings(after)
    both = not missing(before, known) and not missing(after, known)
    rows = []
    for key in {**old, **new}:
        kind = known.kind_of(key)
        in_both = key in old and key in new
        if (
            kind is not None
            and (in_both or (both and kind.section == "config"))
            and _differ(old.get(key), new.get(key))
        ):
            rows.append((kind.rank, key, _change(key, kind, old.get(key), new.get(key))))
    return [change for _, _, change in sorted(rows, key=lambda row: row[:2])]


def missing(run: Run, known: Kinds) -> bool:
    """Whether no setting of the run was logged."""
    kinds = (known.kind_of(key) for key in settings(run))
    return not any(kind is not None and kind.section == "config" for kind in kinds)


def settings(run: Run) -> Mapping[str, Setting]:
    """All settings and facts by key, without the prefix of the tracker. The last value of a key counts."""
    found = {_plain(key): Setting(value, number) for key, value, number in _rows(run) if value is not None}
    nodes = run.jobs["nodes"].drop_nulls().to_list() if run.jobs.height else []
    return {**found, **({"slurm_job_nodelist": Setting(nodes[-1], None)} if nodes else {})}


def _rows(run: Run) -> Iterator[tuple[str, str | None, float | None]]:
    yield from run.config.select("key", "value", "number").iter_rows()


def _plain(key: str) -> str:
    return next((key.removeprefix(prefix) for prefix in FACTS if key.startswith(prefix)), key)


def _differ(a: Setting | None, b: Setting | None) -> bool:
    if a is None or b is None:
        return a is not b
    if a.number is not None and b.number is not None:
        return not (
            math.isclose(a.number, b.number, rel_tol=SAME_NUMBER) or (a.number != a.number and b.number != b.number)
        )
    return a.text.strip() != b.text.strip()


def _change(key: str, kind: Kind, before: Setting | None, after: Setting | None) -> Change:
    return Change(
        key=key,
        kind=kind.name,
        section=kind.section,
        before=before.text if before else None,
        after=after.text if after else None,
        way=way(before.number if before else None, after.number if after else None),
    )


def way(before: float | None, after: float | None) -> Way | None:
    """The direction of a change; None if a value is no number."""
    if before is None or after is None or before == after:
        return None
    return "up" if after > before else "down"
