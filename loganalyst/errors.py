"""What can go wrong, told so that the reader can mend it: where, what was found, what is allowed."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["LogAnalystError", "ReplayError", "RuleError", "SourceError", "StoreError", "how_to_install", "nearest"]


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


class StoreError(LogAnalystError):
    """The store cannot be read or written."""


class ReplayError(LogAnalystError):
    """A checkpoint or a user's entry point cannot be replayed."""


def nearest(name: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?`` for the known name closest to `name`, or an empty string."""
    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def how_to_install(extra: str) -> str:
    """How to get the packages of an extra. It names no package of an index: that could be a stranger's.

    >>> how_to_install("replay")
    "`pip install '.[replay]'` in a checkout of loganalyst installs it"
    """
    return f"`pip install '.[{extra}]'` in a checkout of loganalyst installs it"
