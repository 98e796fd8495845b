"""Errors that say where, what was found and what is allowed, so that the user can correct it."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["LogAnalystError", "ReplayError", "RuleError", "SourceError", "StoreError", "how_to_install", "nearest"]


# beginnings of findings that quote nothing of the file
_OUR_WORDS = (
    "is no folder",
    "is too large",
    "larger than",
    "nested too",
    "not a regular",
    "rules names",
    "no literals",
)
_GUESS = "did you mean"  # begins a hint that may quote the file


class LogAnalystError(Exception):
    """Base of all errors this package raises on purpose.

    `where` is a path (with `:line` where known), `what` the finding, `allowed` what would have been accepted.
    """

    def __init__(self, where: object, what: str, allowed: str = "") -> None:
        self.where, self.what, self.allowed = str(where), what, allowed
        super().__init__(f"{where}: {what}" + (f"; {allowed}" if allowed else ""))

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.where, self.what, self.allowed)


class SourceError(LogAnalystError):
    """A file or directory of a run cannot be read."""


class RuleError(LogAnalystError):
    """A rule, pattern, role or settings file is not valid."""

    def unquoted(self) -> "RuleError":
        """The error without any text of the file, only where it is and what is allowed. For files that came with a run.

        >>> str(RuleError("r/x.yaml:3", "status is 's3cret'", "preview, stable or deprecated").unquoted())
        'r/x.yaml:3: is not valid; preview, stable or deprecated'
        """
        what = self.what if self.what.startswith(_OUR_WORDS) else "is not valid"
        return RuleError(self.where, what, "" if self.allowed.startswith(_GUESS) else self.allowed)


class StoreError(LogAnalystError):
    """The store cannot be read or written."""


class ReplayError(LogAnalystError):
    """A checkpoint or a user's entry point cannot be replayed."""


def nearest(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?`` for the known name closest to `name`, or an empty string."""
    close = get_close_matches(name, list(known), n=1)
    return f"{_GUESS} {close[0]!r}?" if close else ""


def how_to_install(extra: str) -> str:
    """How to install the packages of an extra. It names no package of an index, which could belong to someone else.

    >>> how_to_install("replay")
    "`pip install '.[replay]'` in a checkout of loganalyst installs it"
    """
    return f"`pip install '.[{extra}]'` in a checkout of loganalyst installs it"
