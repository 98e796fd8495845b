"""Which change is most likely behind what differs: one that a cause names, the only one, or what matters most."""

from collections.abc import Collection, Sequence

from loganalyst.baseline.differencekinds import Kinds
from loganalyst.model import Cause, Change, Suspect

REST = "other"  # the kind of settings that nothing is known of


def suspect(
    told: Sequence[Change], causes: Sequence[Cause], both: Collection[str], known: Kinds, *, apart: bool
) -> Suspect | str:
    """The suspect, or why there is none.

    `told` has what matters most first, `causes` the likeliest; `both` are labels of causes that the baseline has too,
    which no change made; `apart`: whether the curves part or cannot tell.
    """
    own = [cause for cause in causes if cause.label not in both]
    if causes and not own and told:
        return f"the baseline has the same cause: {causes[0].issue}"
    named = ((c, cause) for cause in own for c in told if known.kinds[c.kind].behind(cause.label, c.way))
    for change, cause in named:
        return Suspect(change, "named", f"for it can be behind: {cause.issue}")
    if why := _none(told, own, apart, known):
        return why
    if len(told) == 1:
        return Suspect(told[0], "only", "for it is all that differs")
    if own and own[0].label in known.any_setting:
        choices = [c for c in told if c.way is None] or told
        return Suspect(choices[0], "ranked", f"for another choice leads through other code: {own[0].issue}")
    return Suspect(told[0], "ranked", f"for of {len(told)} differences it is the one that usually matters most")


def _many(told: Sequence[Change]) -> int:
    """How many things differ; another node, other code, other versions are one each, however much is logged of them."""
    return len({c.key if c.section == "config" else c.section for c in told})


def _none(told: Sequence[Change], causes: Sequence[Cause], apart: bool, known: Kinds) -> str:
    """Why nothing can be named where no cause names a change; empty where something can."""
    if not told:
        return "nothing that was logged of both differs"
    free = bool(causes) and causes[0].label in known.any_setting
    if causes and causes[0].line is not None and not free:  # what a log says is not the work of just any setting
        return f"nothing that differs is known to lead to this: {causes[0].issue}"
    if not apart and not causes:
        return "the curves stay together: no change made a difference"
    if (many := _many(told)) >= known.too_many:
        return f"{many} things differ, too many to name one"
    if told[0].kind == REST and len(told) > 1 and not free:
        return "of nothing that differs it is known how much it matters"
    return ""
