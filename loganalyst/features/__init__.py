"""Features: turn the tables and findings of a run into one row of declared values. A family is a module with FEATURES
and compute().
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import numpy as np

from loganalyst.features.context import Computed, Context
from loganalyst.features.rolecertainty import marked
from loganalyst.model import Feature, Features, FeatureValue, Witness
from loganalyst.threads import side_by_side


@cache
def families() -> tuple[ModuleType, ...]:
    """The modules of this folder that declare features, sorted by name."""
    names = sorted(m.name for m in iter_modules(__path__))
    modules = (import_module(f"{__name__}.{name}") for name in names)
    return tuple(m for m in modules if hasattr(m, "FEATURES"))


@cache
def declared() -> Mapping[str, Feature]:
    """Every declared feature by name, in order of declaration."""
    return {f.name: f for family in families() for f in family.FEATURES}


def compute(context: Context) -> Features:
    """The feature row of the run. A value is None where it is not known; NaN counts as not known."""
    values: dict[str, FeatureValue] = dict.fromkeys(declared())
    witnesses: dict[str, Witness] = {}
    by_metric = {curve.metric: curve for curve in context.curves}
    by_role = {role: context.with_role(role)[0] for role in {c.role.name for c in context.curves if c.values.size}}
    for name, value, witness in _computed(context):
        if name not in values:
            raise KeyError(f"feature {name!r} is computed but not declared")
        values[name] = None if value != value else value  # noqa: PLR0124 (only NaN differs from itself)
        if (seen := marked(witness, declared()[name], values[name], by_metric, by_role)) is not None:
            witnesses[name] = seen
    for name, given in context.run.given.items():
        if name in values and values[name] is None:
            values[name] = given
    return Features(values, witnesses)


def _computed(context: Context) -> Iterator[tuple[str, FeatureValue, Witness | None]]:
    @np.errstate(over="ignore", invalid="ignore")  # values near the largest float overflow to infinity
    def compute_family(family: ModuleType) -> Computed:
        computed: Computed = family.compute(context)
        return computed

    sizes = [curve.values.size for curve in context.curves]
    for computed in side_by_side(compute_family, families(), values=sum(sizes), largest=max(sizes, default=0)):
        for name, value in computed.items():
            yield (name, *value) if isinstance(value, tuple) else (name, value, None)
