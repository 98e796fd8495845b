"""Direct evidence against the range of healthy runs of the same kind (`healthyruns`).

An item about a size does not count where every size that it asks for is as in healthy runs: its answer is not known.
Reports say so, and say how few healthy runs have such a value where it counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loganalyst.diagnosis import healthyruns
from loganalyst.diagnosis.rule import Item
from loganalyst.model import Evidence, Features, FeatureValue, HealthyPlace

if TYPE_CHECKING:
    from loganalyst.diagnosis.catalogue import Catalogue
    from loganalyst.diagnosis.evidence import Answer

MAX_WORDS = 25  # of a sentence with a clause about healthy runs
Values = Mapping[str, FeatureValue]


def usual(catalogue: "Catalogue", values: Values, items: Mapping[str, Sequence["Answer"]]) -> dict[str, dict[int, str]]:
    """The direct items that hold although all their sizes are as in healthy runs: rule -> position -> these runs."""
    kinds = _own_kinds(values)
    found: dict[str, dict[int, str]] = {}
    for rule, sizes in catalogue.size_claims.items() if kinds else ():
        for i, names in sizes.items():
            if items[rule][i] and (runs := _runs_like_it(catalogue.healthy_runs, names, values, kinds)):
                found.setdefault(rule, {})[i] = runs
    return found


def places(catalogue: "Catalogue", features: Features) -> dict[str, HealthyPlace]:
    """Where the numbers of a run lie among healthy runs of its kind, or of all kinds, if there are enough."""
    kinds = healthyruns.kinds(features.values)
    found = ((name, catalogue.healthy_runs.place(name, value, kinds)) for name, value in features.values.items())
    return {name: place for name, place in found if place is not None}


def withdrawn(
    items: Mapping[str, tuple["Answer", ...]], usual: Mapping[str, Mapping[int, str]]
) -> dict[str, tuple["Answer", ...]]:
    """The answers, where those of `usual` items are not known."""
    changed = {
        rule: tuple(None if i in at else holds for i, holds in enumerate(items[rule])) for rule, at in usual.items()
    }
    return {**items, **changed}


def worded(
    shown: Sequence[Evidence], items: Sequence[Item], usual: Mapping[int, str], values: Values, catalogue: "Catalogue"
) -> tuple[Evidence, ...]:
    """The evidence of a rule with what healthy runs say about its direct items."""
    of_runs = {items[i].id: runs for i, runs in usual.items()}
    by_id = {item.id: item for item in items}
    return tuple(_worded(e, by_id[e.id], of_runs.get(e.id), values, catalogue) for e in shown)


def _worded(e: Evidence, item: Item, runs: str | None, values: Values, catalogue: "Catalogue") -> Evidence:
    if runs is not None:
        return replace(e, text="; ".join(filter(None, (item.says.render(values), f"within the range of {runs}"))))
    clause = _clause(item, values, catalogue) if e.holds and e.kind == "direct" and e.weight > 0 else ""
    text = f"{e.text} ({clause})"
    return replace(e, text=text) if clause and len(text.split()) <= MAX_WORDS else e


def _clause(item: Item, values: Values, catalogue: "Catalogue") -> str:
    """`larger than in 98 % of 212 healthy detection runs`, for the only size in the sentence if it is unusual.

    The side is the one that the item asks for.
    """
    named = [f for f in healthyruns.sizes(item.ask.features, catalogue.declared) if f in item.says.features]
    place = (
        catalogue.healthy_runs.place(named[0], values.get(named[0]), _own_kinds(values)) if len(named) == 1 else None
    )
    if place is None:
        return ""
    is_large = f"{named[0]} >" in item.ask.text
    share = place.below if is_large else place.above
    if share < healthyruns.limits().unusual:
        return ""
    return f"{'larger' if is_large else 'smaller'} than in {int(share * 100)} % of {_runs(place.runs, place.kind)}"


def _runs_like_it(
    known: healthyruns.HealthyRuns, names: Sequence[str], values: Values, kinds: Sequence[str]
) -> str | None:
    """The healthy runs of the kind in words, if every known size is in their range; else None."""
    like = None
    for name in names:
        value = values.get(name)
        if value is None:
            continue
        found = known.enough(name, kinds)
        if found is None or not healthyruns.number(value) or not found[1].values[0] <= value <= found[1].values[-1]:
            return None
        like = _runs(found[1].runs, found[0])
    return like


def _own_kinds(values: Values) -> tuple[str, ...]:
    """The kinds of a run without the one of all runs."""
    return tuple(kind for kind in healthyruns.kinds(values) if kind != healthyruns.ANY)


def _runs(count: int, kind: str) -> str:
    return f"{count:,} healthy {kind} runs"
