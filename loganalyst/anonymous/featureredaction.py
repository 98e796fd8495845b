"""The feature row without names: numbers, truth values, and words of closed lists."""

import re
from collections.abc import Mapping

from loganalyst.anonymous import vocabulary
from loganalyst.anonymous.tablejson import NOT_FINITE
from loganalyst.anonymous.tableredaction import WORDS
from loganalyst.curves import roles
from loganalyst.features import declared
from loganalyst.model import TRAINING_KINDS, FeatureValue

# words that features produce
GIVEN = frozenset(
    [
        "none",
        "training",
        "evaluation",
        "reinforcement",
        "adversarial",
        "job",
        "constant",
        "warmup_constant",
        "linear",
        "cosine",
        "one_cycle",
        "exponential",
        "inverse_sqrt",
        "step",
        "other",
        "epochs",
        "evaluations",
        "checkpoints",
        "changes",
        "rate",
        "epoch",
        "checkpoint",
        "evaluation",
        "restart",
        "config",
        "fit",
        "line",
        "first",
        "loss",
        "power",
        "law",
        "spike",
        "divergence",
        "nonfinite",
        "plateau",
        "level_up",
        "completed",
        "out_of_memory",
        "step_failed",
        "step_out_of_memory",
        "SIGKILL",
        "SIGTERM",
        "SIGSEGV",
        "SIGABRT",
        "SIGBUS",
        "SIGINT",
        "SIGFPE",
        "SIGHUP",
        "operation",
        "size",
        "type",
        "low",
        "usual",
        "high",
        *TRAINING_KINDS,
    ]
)
_NUMBERS = re.compile(r"[\d,: –-]{1,200}")  # ranks such as `0, 3-5` and durations such as `1-02:30:00`
_COUNTED = ("_ranks", "_clock", "_waiting", "_silent")  # ends of features with such values


def features_of(values: Mapping[str, FeatureValue], metrics: Mapping[str, str]) -> dict[str, FeatureValue]:
    """The values that may be written; `metrics` maps names of metrics to their replacements."""
    known = {name: _value(name, value, metrics) for name, value in values.items() if name in declared()}
    return {name: value for name, value in known.items() if value is not None}


def numbered(values: Mapping[str, FeatureValue]) -> dict[str, FeatureValue]:
    """The values of a document, with words such as `NaN` converted to numbers."""
    floats = {name for name, feature in declared().items() if feature.dtype == "float"}
    return {name: NOT_FINITE.get(str(v), v) if name in floats else v for name, v in values.items()}


def _value(name: str, value: FeatureValue, metrics: Mapping[str, str]) -> FeatureValue:
    if not isinstance(value, str):
        return value
    if value in metrics:
        return metrics[value]
    if name.endswith(_COUNTED) and _NUMBERS.fullmatch(value):
        return value
    known = vocabulary.patterns() | vocabulary.allowed("values") | WORDS | GIVEN | roles.all_roles().keys()
    return value if value in known or all(word in known for word in value.split(" ")) else None
