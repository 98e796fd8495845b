"""How sure it is that the metrics behind a feature have the role that the feature is about."""

import re
from collections.abc import Mapping
from dataclasses import replace

from loganalyst.model import Curve, Feature, FeatureValue, Witness


def marked(
    witness: Witness | None,
    feature: Feature,
    value: FeatureValue,
    curves: Mapping[str, Curve],
    roles: Mapping[str, Curve],
) -> Witness | None:
    """The witness of a known value with the confidence in the role of its metric; `curves` are by metric, `roles` the
    first curve of each role. A value without a witness rests on the roles that the feature needs.
    """
    if value is None:
        return witness
    if witness is not None and witness.metric is not None:
        curve = curves.get(witness.metric)
        return replace(witness, role_confidence=curve.role_confidence) if curve else witness
    needed = [roles[word].role_confidence for word in re.findall(r"\w+", feature.needs) if word in roles]
    known = [confidence for confidence in needed if confidence is not None]
    return replace(witness or Witness(), role_confidence=min(known)) if known else witness
