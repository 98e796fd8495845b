"""Metrics with the values of another metric: a copy has the role of its model, a perplexity that of its loss."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.datasplits import HELD_OUT
from loganalyst.curves.metricnames import names_split
from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.model import Curve

MIN_DIFFERENT = 4  # different values that two metrics share only if one is a copy
MAX_LENGTH_RATIO = 3  # a copy may have fewer points than its model, but not many fewer
MIN_SPREAD = 0.01  # of the logarithm of a perplexity, so that it does not fit by chance
MAX_LOG_GAP = 0.01  # between a loss and the logarithm of its perplexity, both as printed
MAX_ERROR_GAP = 1e-3  # between 1 and an accuracy plus its error rate, both as printed
_TOTALS = {"loss_component": "train_loss", "val_loss_component": "val_loss"}
_LOSS_OF = {"val_perplexity": "val_loss", "train_perplexity": "train_loss"}
_ACCURACY_OF = {"val_loss": "val_accuracy", "val_loss_component": "val_accuracy"}
_BASES = (1.0, float(np.log(2)))  # a loss in nats or in bits


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics whose values another metric has too, with the role of that metric."""
    models = [c for c in found if not (claims[c.metric].unsure or claims[c.metric].role.name == "other")]
    of_role: dict[str, list[Curve]] = {}
    for curve in models:
        of_role.setdefault(claims[curve.metric].role.name, []).append(curve)
    pairs = (*_nameless(found, claims, models), *_of_held_out(models, claims, of_role), *_lone_terms(of_role))
    copies = {copy.metric: _copied(claims[copy.metric], claims[model.metric], model.metric) for copy, model in pairs}
    return copies | dict(_perplexities(claims, of_role)) | dict(_error_rates(claims, of_role))


def _copied(copy: Claim, model: Claim, name: str) -> Claim:
    certainty = max(model.confidence or 0.0, role_file().certainty.named)
    return claim(model.role.name, f"{copy.why}, but it has the values of {name}", certainty)


def _nameless(found: Sequence[Curve], claims: Claims, models: Sequence[Curve]) -> Iterator[tuple[Curve, Curve]]:
    """Metrics of no or an unsure role that equal a metric of a judged role, point by point."""
    by_ends = {_ends(c): c for c in reversed(models) if claims[c.metric].role.judged and _varies(c.values)}
    for curve in found:
        if claims[curve.metric].unsure or claims[curve.metric].role.name == "other":
            model = by_ends.get(_ends(curve))
            if model is not None and np.array_equal(curve.values, model.values, equal_nan=True):
                yield curve, model


def _ends(curve: Curve) -> tuple[int, float, float]:
    return curve.values.size, float(curve.values[0]), float(curve.values[-1])


def _of_held_out(
    models: Sequence[Curve], claims: Claims, of_role: dict[str, list[Curve]]
) -> Iterator[tuple[Curve, Curve]]:
    """Metrics that do not say their data, with values of a metric of held-out data."""
    for curve in models:
        held_out = HELD_OUT.get(claims[curve.metric].role.name)
        if held_out and not names_split(curve.metric) and claims[curve.metric].confidence != 1.0:
            model = next((m for m in of_role.get(held_out, ()) if _is_within(curve.values, m.values)), None)
            if model is not None:
                yield curve, model


def _lone_terms(of_role: dict[str, list[Curve]]) -> Iterator[tuple[Curve, Curve]]:
    """The only term of a loss, if it equals the total: it is the total under another name."""
    for term, total in _TOTALS.items():
        terms = of_role.get(term, ())
        if len(terms) == 1:
            model = next((m for m in of_role.get(total, ()) if _is_within(terms[0].values, m.values)), None)
            if model is not None:
                yield terms[0], model


def _is_within(values: NDArray[np.float64], model: NDArray[np.float64]) -> bool:
    """Whether the values are those of the model, or most of them."""
    similar_length = values.size <= model.size <= MAX_LENGTH_RATIO * values.size
    return similar_length and _varies(values) and bool(np.isin(values[np.isfinite(values)], model).all())


def _varies(values: NDArray[np.float64]) -> bool:
    return np.unique(values[np.isfinite(values)]).size >= MIN_DIFFERENT


def _perplexities(claims: Claims, of_role: dict[str, list[Curve]]) -> Iterator[tuple[str, Claim]]:
    """Perplexities of an unnamed split: exp of which loss they are."""
    for curve in of_role.get("train_perplexity", ()):
        for role, loss_role in _LOSS_OF.items():
            losses = (m for m in of_role.get(loss_role, ()) if _is_perplexity(curve, m))
            if not names_split(curve.metric) and (loss := next(losses, None)) is not None:
                why = f"{claims[curve.metric].why}, and exp of {loss.metric}"
                yield curve.metric, claim(role, why, role_file().certainty.confirmed)
                break


def _is_perplexity(curve: Curve, loss: Curve) -> bool:
    if not np.array_equal(curve.steps, loss.steps) or not (curve.values > 0).all():
        return False
    logs = np.log(curve.values)
    if not _varies(logs) or float(np.ptp(logs)) < MIN_SPREAD:
        return False
    return any(float(np.max(np.abs(logs - base * loss.values))) <= MAX_LOG_GAP for base in _BASES)


def _error_rates(claims: Claims, of_role: dict[str, list[Curve]]) -> Iterator[tuple[str, Claim]]:
    """Held-out errors that are what an accuracy lacks to 1 or to 100 %."""
    for role, accuracy_role in _ACCURACY_OF.items():
        for curve in of_role.get(role, ()):
            accuracies = (m for m in of_role.get(accuracy_role, ()) if _is_rest(curve, m))
            if (accuracy := next(accuracies, None)) is not None:
                why = f"{claims[curve.metric].why}, but 1 - {accuracy.metric}"
                yield curve.metric, claim("val_error_rate", why, role_file().certainty.confirmed)


def _is_rest(curve: Curve, accuracy: Curve) -> bool:
    if not np.array_equal(curve.steps, accuracy.steps) or not _varies(curve.values):
        return False
    sums = curve.values + accuracy.values
    return any(float(np.max(np.abs(sums / whole - 1))) <= MAX_ERROR_GAP for whole in (1.0, 100.0))
