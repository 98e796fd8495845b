"""The limits by which a line of a job log is blamed or not, from `rules/blame.yaml`."""

from functools import cache

from loganalyst import rulefiles
from loganalyst.errors import RuleError


def limit(name: str) -> int:
    """The value of one limit. Raises RuleError where the file is not as it must be, KeyError for a name it lacks."""
    return _limits()[name]


@cache
def _limits() -> dict[str, int]:
    file = rulefiles.load(rulefiles.rules_dir() / "blame.yaml")
    file.check_keys((), (), file.data if isinstance(file.data, dict) else ())
    for name in file.data:
        file.check_keys((name,), ("value", "unit", "meaning"))
        if type(file.data[name]["value"]) is not int or file.data[name]["value"] < 1:
            raise RuleError(file.where(name, "value"), "not a positive whole number")
    return {name: told["value"] for name, told in file.data.items()}
