"""The measure of metrics whose names mean nothing, by the name of their file: `cnn/rgb` in `accuracy.json`.

No metric of the file may have a meaning of its own: beside a loss, other columns may be anything.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import numpy as np

from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.curves.roles import proposed
from loganalyst.model import OF_FILE, Curve, filemeasure

MIN_POINTS = 5  # that show a course


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics whose measure only the name of their file says."""
    files: dict[str, list[Curve]] = {}
    for curve in found:
        if claims[curve.metric].role.judged or claims[curve.metric].role.name == "other":
            files.setdefault(curve.source or "", []).append(curve)
    changed = dict[str, Claim]()
    for source, curves in files.items():
        if (measure := filemeasure.measure(PurePosixPath(source))) and _mean_nothing(curves, claims):
            changed |= dict(_measured(curves, measure))
    return changed


def _mean_nothing(curves: Sequence[Curve], claims: Claims) -> bool:
    others = all(claims[c.metric].role.name == "other" and c.values.size >= MIN_POINTS for c in curves)
    return others and not any(filemeasure.says_measure(c.metric.rpartition(OF_FILE)[2]) for c in curves)


def _measured(curves: Sequence[Curve], measure: str) -> Iterator[tuple[str, Claim]]:
    names = {f"{c.metric.rpartition(OF_FILE)[2]}/{measure}": c for c in curves}
    for name, (role, _) in proposed(names).items():
        if role.judged and _may_have(names[name], role.name):
            why = f"the file is named after {measure!r}"
            yield names[name].metric, claim(role.name, why, role_file().certainty.doubted)


def _may_have(curve: Curve, role: str) -> bool:
    """Whether the values lie in the range of the role, if it has one."""
    bounds = role_file().roles[role].range
    values = curve.values[np.isfinite(curve.values)]
    return not bounds or bool(((values >= bounds[0]) & (values <= bounds[1])).all())
