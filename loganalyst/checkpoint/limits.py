"""From where on something in a checkpoint is worth a word: the limits of `rules/inspection.yaml`."""

from functools import cache

from loganalyst import rulefiles
from loganalyst.errors import RuleError


def limit(name: str) -> float:
    """The value of one limit. Raises RuleError where the file is not as it must be, KeyError for a name it lacks."""
    return _limits()[name]


@cache
def _limits() -> dict[str, float]:
    file = rulefiles.load(rulefiles.rules_dir() / "inspection.yaml")
    file.check_keys((), (), file.data if isinstance(file.data, dict) else ())
    for name in file.data:
        file.check_keys((name,), ("value", "unit", "meaning"))
        if type(file.data[name]["value"]) not in (int, float) or file.data[name]["value"] <= 0:
            raise RuleError(file.where(name, "value"), "not a number above 0")
    return {name: float(told["value"]) for name, told in file.data.items()}
