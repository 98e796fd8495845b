"""Which curves share a panel, in what order, and how many points of each go into the page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve, Diagnosis
from loganalyst.report.common.scale import MIN_CURVE_POINTS, aligned
from loganalyst.report.diagnosis.showncurves import shown_curves

# Title of a panel, and the roles that share it, in the order of the page
GROUPS = (
    ("Loss", ("train_loss", "rl_loss", "val_loss")),
    ("Learning rate", ("learning_rate",)),
    ("Gradient norm", ("grad_norm", "grad_norm_squared")),
    ("Loss components", ("loss_component", "recon_loss", "quantisation_loss", "regularisation_loss", "kl")),
    ("Losses on held-out data", ("val_loss_component",)),
    ("Adversaries", ("generator_loss", "discriminator_loss")),
    ("Policy and value loss", ("policy_loss", "value_loss")),
    ("Scores", ("train_accuracy", "val_accuracy", "val_score", "success_rate")),
    ("Error rates", ("val_error_rate",)),
    ("Reward", ("reward",)),
    ("Policy", ("approx_kl", "clip_fraction", "entropy", "explained_variance")),
    ("Loss scale", ("loss_scale",)),
    ("Size of updates", ("update_ratio",)),
    ("Codebook and diversity", ("codebook_usage", "diversity", "sample_distance")),
    ("Speed", ("throughput",)),
    ("Time of a step", ("step_time", "data_time")),
    ("Memory of the GPU", ("gpu_memory",)),
    ("Use of the GPU", ("gpu_util",)),
    ("Memory of the host", ("host_memory",)),
    ("System", ("system",)),
)
MACHINE = ("Speed", "Time of a step", "Memory of the GPU", "Use of the GPU", "Memory of the host", "System")
GAP = "Validation minus training"
MAX_LINES, MAX_PANELS = 5, 24  # lines of a panel, panels of a page
MAX_SIZE_RATIO = 30.0  # curves whose medians differ by more do not share a linear axis
MAX_EMBEDDED_POINTS = 60_000  # points of all curves together; longer curves keep the extremes of groups
MIN_EMBEDDED_POINTS = 600  # of one curve
MAX_CURVES_OF_GROUP = 10


@dataclass(frozen=True)
class Panel:
    """Curves over one step axis: the run's if `shared`, otherwise their own. `machine`: readings of the machine."""

    title: str
    curves: tuple[Curve, ...]
    shared: bool
    machine: bool = False


def panels(d: Diagnosis) -> list[Panel]:
    """The panels of a page: the usual groups, the held-out gap, and other curves that a cause or symptom names."""
    curves = [c for c in d.curves if len(c.values)]
    if not curves:
        return []
    named = shown_curves(d)
    busiest = max([c for c in curves if c.role.judged] or curves, key=lambda c: len(c.values))
    made = [panel for title, roles in GROUPS for panel in _group(title, roles, curves, named, busiest)]
    drawn = {c.metric for panel in made for c in panel.curves}
    made += [
        Panel(c.role.meaning.capitalize(), (c,), _shared(c, busiest))
        for c in named
        if c.metric not in drawn and c.role.name != "layer_grad_norm"
    ]
    gap = held_out_gap(curves)
    made += [Panel(GAP, (gap,), _shared(gap, busiest))] if gap else []
    first = {"Reward": 0, "Loss": 1, "Learning rate": 2, "Gradient norm": 3, GAP: 4}
    return sorted(made, key=lambda p: (p.machine, not p.shared, first.get(p.title, 9)))[:MAX_PANELS]


def _group(
    title: str, roles: Sequence[str], curves: Iterable[Curve], named: Sequence[Curve], busiest: Curve
) -> Iterator[Panel]:
    """Panels of the curves with some roles: named curves first, then those with most points.

    Curves of different sizes or step axes get separate panels.
    """
    lead = [c.metric for c in named]
    of_group = [c for c in curves if c.role.name in roles and (len(c.values) >= MIN_CURVE_POINTS or c.metric in lead)]
    best = sorted(of_group, key=lambda c: (c.metric not in lead, roles.index(c.role.name), -len(c.values)))
    best = best[:MAX_CURVES_OF_GROUP]
    rate = title == "Learning rate"
    placed = sorted(best, key=lambda c: (not _shared(c, busiest), 0.0 if rate else _size(c)))
    for shared, some in groupby(placed, key=lambda c: _shared(c, busiest)):
        for together in _alike([*some], rate):
            order = sorted(together, key=lambda c: (roles.index(c.role.name), c.metric))
            yield Panel(title, tuple(order), shared, title in MACHINE)


def _shared(curve: Curve, busiest: Curve) -> bool:
    """Whether a curve counts the run's steps and does not reach far beyond them.

    A monitor that counts its readings may have many more readings than the run has steps.
    """
    low, high = int(busiest.steps[0]), int(busiest.steps[-1])
    air = max(high - low, 1) // 2
    return aligned(curve, busiest) and low - air <= curve.steps.min() and curve.steps.max() <= high + air


def _alike(curves: Sequence[Curve], any_size: bool) -> Iterator[list[Curve]]:
    """Groups of curves that one axis can show. The curves come by rising size."""
    group: list[Curve] = []
    for curve in curves:
        if group and (len(group) == MAX_LINES or (not any_size and _size(curve) > MAX_SIZE_RATIO * _size(group[0]))):
            yield group
            group = []
        group.append(curve)
    if group:
        yield group


def _size(curve: Curve) -> float:
    finite = np.abs(curve.values[np.isfinite(curve.values)])
    return float(np.median(finite)) if finite.size else 0.0


def held_out_gap(curves: Iterable[Curve]) -> Curve | None:
    """Validation minus training loss at the validation steps; None where too few of their points overlap."""
    by_role = {
        role: max((c for c in curves if c.role.name == role), key=lambda c: len(c.values), default=None)
        for role in ("train_loss", "val_loss")
    }
    train, val = by_role["train_loss"], by_role["val_loss"]
    if train is None or val is None or min(len(train.values), len(val.values)) < MIN_CURVE_POINTS:
        return None
    if not (aligned(val, train) and aligned(train, val)):
        return None
    finite = np.isfinite(train.values)
    if finite.sum() < MIN_CURVE_POINTS:
        return None
    inside = (val.steps >= train.steps[finite][0]) & (val.steps <= train.steps[finite][-1])
    if inside.sum() < MIN_CURVE_POINTS:
        return None
    level = np.interp(val.steps[inside], train.steps[finite], _smooth(train.values[finite]))
    keep = ("steps", "times", "epochs", "sessions", "lines")
    cut = {name: getattr(val, name)[inside] for name in keep}
    return replace(val, metric=f"{val.metric} − {train.metric}", values=val.values[inside] - level, **cut)


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over a hundredth of the curve, which keep the noise of single batches out of the gap."""
    width = max(len(values) // 100, 1)
    padded = np.pad(values, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.full(width, 1 / width), mode="valid")


def thinned(values: NDArray[np.float64], max_points: int) -> NDArray[np.int64]:
    """Positions of about `max_points` values at most.

    A longer curve keeps the lowest and highest value of even groups, both ends, and the first and last value of each
    non-finite stretch, so that no spike is lost.
    """
    n = len(values)
    if n <= max_points:
        return np.arange(n)
    size = -(-2 * n // max_points)
    padded = np.pad(values, (0, -n % size), mode="edge").reshape(-1, size)
    start = np.arange(len(padded)) * size
    finite = np.isfinite(values)
    low = np.where(np.isfinite(padded), padded, np.inf).argmin(axis=1) + start
    high = np.where(np.isfinite(padded), padded, -np.inf).argmax(axis=1) + start
    edge = np.flatnonzero(finite[1:] != finite[:-1])
    edges = np.concatenate([edge, edge + 1])[: max_points // 4]
    return np.unique(np.minimum(np.concatenate([low, high, edges, [0, n - 1]]), n - 1))
