"""The measure of metrics whose names mean nothing, by the name of their file: `cnn/rgb` in `accuracy.json`.

No metric of the file may have a meaning of its own: beside a loss, other columns may be anything. So may columns of
very different sizes. `loss.txt` may hold a step, a time, a loss and an accuracy: columns without names must all go the
same way. Counters and clocks are left aside, and so are whole numbers beside a loss.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import numpy as np

from loganalyst import filemeasure
from loganalyst.curves.metricnames import names_split
from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.curves.roles import proposed
from loganalyst.curves.unnamedmeasures import direction
from loganalyst.model import OF_FILE, Curve
from loganalyst.namewords import word_file
from loganalyst.thresholds import reading_limit

_UNNAMED = "column_"  # begins the names of columns without a name


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics whose measure only the name of their file says."""
    files: dict[str, list[Curve]] = {}
    for curve in found:
        if claims[curve.metric].role.judged or claims[curve.metric].role.name == "other":
            files.setdefault(curve.source or "", []).append(curve)
    changed = dict[str, Claim]()
    for source, curves in files.items():
        path = PurePosixPath(source)
        measure = filemeasure.measure(path)
        measured = [curve for curve in curves if not (_is_unnamed(curve) and _counts(curve, measure))]
        if measure and _mean_nothing(measured, claims):
            changed |= dict(_measured(measured, measure, filemeasure.data(path)))
    return changed


def _mean_nothing(curves: Sequence[Curve], claims: Claims) -> bool:
    others = all(
        claims[c.metric].role.name == "other" and c.values.size >= reading_limit("course_points") for c in curves
    )
    names = [c.metric.rpartition(OF_FILE)[2] for c in curves]
    if any(map(filemeasure.says_measure, names)) or (any(map(_is_unnamed, curves)) and not _go_one_way(curves)):
        return False
    return others and not any(map(_only_rises, curves)) and _are_alike(curves)


def _is_unnamed(curve: Curve) -> bool:
    return curve.metric.rpartition(OF_FILE)[2].startswith(_UNNAMED)


def _go_one_way(curves: Sequence[Curve]) -> bool:
    """Whether a few curves all fall, or all rise."""
    ways = {direction(curve.values[np.isfinite(curve.values)]) for curve in curves}
    return len(curves) <= reading_limit("unnamed_columns") and len(ways) == 1 and 0 not in ways


def _counts(curve: Curve, measure: str) -> bool:
    """Whether the values are those of a counter or a clock, or whole numbers where a loss is none."""
    values = curve.values[np.isfinite(curve.values)]
    whole = bool((values == np.rint(values)).all()) and bool((np.abs(values) > 1).any())
    return _only_rises(curve) or (whole and not word_file().files.fractions.isdisjoint(measure.split("_")))


def _are_alike(curves: Sequence[Curve]) -> bool:
    """Whether the curves are of one size, as those of one measure are."""
    finite = (np.abs(curve.values[np.isfinite(curve.values)]) for curve in curves)
    sizes = [float(np.median(values)) for values in finite if values.size]
    return bool(sizes) and max(sizes) <= reading_limit("one_measure_ratio") * min(sizes)


def _only_rises(curve: Curve) -> bool:
    """Whether the values exceed 1 and rise from point to point, as those of a clock or a counter do."""
    values = curve.values[np.isfinite(curve.values)]
    return values.size >= reading_limit("course_points") and float(values[-1]) > 1 and bool((np.diff(values) > 0).all())


def _measured(curves: Sequence[Curve], measure: str, data: str) -> Iterator[tuple[str, Claim]]:
    """The role of each metric by its name between the `data` and the `measure` that the name of the file says."""
    plain = {c.metric: c.metric.rpartition(OF_FILE)[2] for c in curves}
    before = {metric: "" if names_split(name) else f"{data}/" for metric, name in plain.items()}
    names = {f"{before[c.metric]}{plain[c.metric]}/{measure}": c for c in curves}
    for name, (role, _) in proposed(names).items():
        if role.judged and _may_have(names[name], role.name):
            why = f"the file is named after {measure!r}"
            yield names[name].metric, claim(role.name, why, role_file().certainty.doubted)


def _may_have(curve: Curve, role: str) -> bool:
    """Whether the values lie in the range of the role, if it has one."""
    bounds = role_file().roles[role].range
    values = curve.values[np.isfinite(curve.values)]
    return not bounds or bool(((values >= bounds[0]) & (values <= bounds[1])).all())
