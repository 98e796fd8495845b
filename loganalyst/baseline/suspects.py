"""Which change is most likely behind what differs: one that a cause names, the only one, or what matters most."""

from collections.abc import Sequence

from loganalyst.baseline.kinds import Kinds
from loganalyst.model import Cause, Change, Suspect

REST = "other"  # the kind of settings that nothing is known of


def suspect(told: Sequence[Change], causes: Sequence[Cause], apart: bool, known: Kinds) -> Suspect | str:
    """The suspect, or why there is none. `told` has what matters most first, `causes` the likeliest; `apart`: whether
    the curves part or cannot tell.
    """
    named = ((c, cause) for cause in causes for c in told if known.kinds[c.kind].behind(cause.label, c.way))
    for change, cause in named:
        return Suspect(change, "named", f"for it can be behind: {cause.issue}")
    why = _none(told, causes, apart, known)
    if why:
        return why
    if len(told) == 1:
        return Suspect(told[0], "only", "for it is all that differs")
    return Suspect(told[0], "ranked", f"for of {len(told)} differences it is the one that usually matters most")


def _none(told: Sequence[Change], causes: Sequence[Cause], apart: bool, known: Kinds) -> str:
    """Why nothing can be named where no cause names a change; empty where something can."""
    if not told:
        return "nothing that was logged of both differs"
    if causes and causes[0].line is not None:  # what a log says is not the work of just any setting
        return f"nothing that differs is known to lead to this: {causes[0].issue}"
    if not apart and not causes:
        return "the curves stay together: no change made a difference"
    if len(told) >= known.too_many:
        return f"{len(told)} things differ, too many to name one"
    if told[0].kind == REST and len(told) > 1:
        return "of nothing that differs it is known how much it matters"
    return ""
