"""The highest confidence of a cause that a line of a job log states, where the line itself is weak evidence."""

from collections.abc import Mapping

from loganalyst.diagnosis.rule import Limit
from loganalyst.model import FeatureValue
from loganalyst.thresholds import verdict_limit


def limits(values: Mapping[str, FeatureValue]) -> list[Limit]:
    """The limits for causes that the root-cause line states, each with its reason.

    >>> [limit.highest for limit in limits({"log_root_basis": "words"})]
    [0.6]
    """
    found = []
    guessed = values.get("log_root_basis") == "words"
    # an exception is one, whatever its words
    if guessed and not (values.get("log_root_label") == "code_exception" and values.get("log_root_exception")):
        why = "no pattern knows the message; its words only suggest its subject"
        found.append(Limit(verdict_limit("guessed_cap"), why))
    if values.get("log_root_basis") == "cut":
        why = "the log ends within the traceback, before its exception"
        found.append(Limit(verdict_limit("guessed_cap"), why))
    if followed := values.get("log_root_followed"):
        why = f"{followed} lines with metrics follow the error, from a buffer or from a later start"
        found.append(Limit(verdict_limit("order_unsure_cap"), why))
    return found
