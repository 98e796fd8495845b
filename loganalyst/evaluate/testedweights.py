"""Fitted weights with which every rule still passes its own tests.

The tests in a rule's file state what it means. Where fitted weights break one, they go halfway back to the judged
weights until all pass, at last the whole way.
"""

from collections.abc import Mapping

from loganalyst.diagnosis import ruletests
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.rule import Weights
from loganalyst.evaluate.ratios import Ratios

SHARES = (0.5, 0.25, 0.0)  # of the way from the judged to the fitted weights
DIGITS = 2
Items = Mapping[str, tuple[float, float]]


def kept(catalogue: Catalogue, fitted: Ratios) -> Ratios:
    """The fitted ratios, nearer to the judged weights of `catalogue` for each rule that fails one of its tests."""
    found, at_fault = dict(fitted), failing(catalogue, fitted)
    for share in SHARES if at_fault else ():
        for rule in at_fault:
            found[rule] = _between(catalogue, rule, fitted[rule], share)
        at_fault = failing(catalogue.only(at_fault), {rule: found[rule] for rule in at_fault})
    return {rule: items for rule, items in found.items() if items}


def failing(catalogue: Catalogue, fitted: Ratios) -> set[str]:
    """The rules that fail a test of theirs with these weights. Tests on recorded runs are not run."""
    outcomes = ruletests.check(catalogue.weighted(Weights(fitted)))
    return {outcome.rule for outcome in outcomes if outcome.passed is False} & {*fitted}


def _between(catalogue: Catalogue, rule: str, fitted: Items, share: float) -> Items:
    """Weights at a share of the way from the judged to the fitted ones; none for a share of 0."""
    if not share:
        return {}
    judged = {item.id: (item.if_true, item.if_false) for item in catalogue.rules[rule].evidence}
    return {
        item: (_mixed(judged[item][0], true, share), _mixed(judged[item][1], false, share))
        for item, (true, false) in fitted.items()
    }


def _mixed(judged: float, fitted: float, share: float) -> float:
    return round(judged + share * (fitted - judged), DIGITS)
