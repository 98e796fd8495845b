"""Asks another run's features whether the promises of fixes hold, and which symptoms it has."""

from collections.abc import Mapping

from loganalyst.diagnosis.advice import change_text
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answer, feature_table, put
from loganalyst.diagnosis.rulesql import Ask
from loganalyst.model import Expectation, Features, FeatureValue


def expectations(
    catalogue: Catalogue, rule: str, before: Mapping[str, FeatureValue], after: Features
) -> tuple[Expectation, ...]:
    """The promise of each fix that the run `before` was offered, worded with its values and asked of the run `after`.

    Empty for a rule that the catalogue does not have.
    """
    fixes = catalogue.rules[rule].fix if rule in catalogue.rules else ()
    conditions = [ask for fix in fixes for ask in fix.conditions]
    answers = _asked(catalogue, conditions, before)
    answered = {ask.text: answer for ask, answer in zip(conditions, answers, strict=True)}
    promised = [(fix, fix.expect) for fix in fixes if fix.expect and fix.suits(answered)]
    holds = _asked(catalogue, [ask for _, ask in promised], after.values)
    return tuple(
        Expectation(change_text(fix, before), ask.text, held, _missing(catalogue, ask, after) if held is None else ())
        for (fix, ask), held in zip(promised, holds, strict=True)
    )


def symptoms(catalogue: Catalogue, features: Features) -> Mapping[str, Answer]:
    """Every symptom by its id: True (seen), False (looked for and not seen) or None (not known)."""
    ids = list(catalogue.symptoms)
    return dict(zip(ids, _asked(catalogue, [catalogue.symptoms[i].ask for i in ids], features.values), strict=True))


def _asked(catalogue: Catalogue, asks: list[Ask], values: Mapping[str, FeatureValue]) -> tuple[Answer, ...]:
    if not asks:
        return ()
    found = put(catalogue, list(dict.fromkeys(asks)), feature_table(catalogue, [values])).row(0, named=True)
    return tuple(found[ask.text] for ask in asks)


def _missing(catalogue: Catalogue, ask: Ask, features: Features) -> tuple[str, ...]:
    """What must be logged to answer."""
    unknown = [f for f in ask.features if features.values.get(f) is None]
    return tuple(dict.fromkeys(catalogue.declared[f].needs or f for f in unknown))
