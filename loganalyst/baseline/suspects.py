"""The change that is most likely responsible: one that a cause names, the only one, or the one that matters most."""

from collections.abc import Collection, Sequence

from loganalyst.baseline.differencekinds import Kinds
from loganalyst.model import Cause, Change, Suspect

UNKNOWN_KIND = "other"  # settings of unknown importance


def suspect(
    changes: Sequence[Change], causes: Sequence[Cause], both: Collection[str], known: Kinds, *, apart: bool
) -> Suspect | str:
    """The suspect, or why there is none.

    `changes` are ordered by how much they matter, `causes` by likelihood. `both` are labels of causes that the baseline
    has as well, so no change led to them. `apart` says whether the curves diverge, or cannot be compared.
    """
    new_causes = [cause for cause in causes if cause.label not in both]
    if causes and not new_causes and changes:
        return f"the baseline has the same cause: {causes[0].issue}"
    named = ((c, cause) for cause in new_causes for c in changes if known.kinds[c.kind].behind(cause.label, c.way))
    for change, cause in named:
        return Suspect(change, "named", f"because it can lead to: {cause.issue}")
    if why := _why_none(changes, new_causes, apart, known):
        return why
    if len(changes) == 1:
        return Suspect(changes[0], "only", "because it is the only difference")
    if new_causes and new_causes[0].label in known.any_setting:
        choices = [c for c in changes if c.way is None] or changes
        return Suspect(choices[0], "ranked", f"because another choice leads through other code: {new_causes[0].issue}")
    return Suspect(changes[0], "ranked", f"because of {len(changes)} differences it usually matters most")


def _count(changes: Sequence[Change]) -> int:
    """The number of differences. The node, the code and the versions count as one each."""
    return len({c.key if c.section == "config" else c.section for c in changes})


def _why_none(changes: Sequence[Change], causes: Sequence[Cause], apart: bool, known: Kinds) -> str:
    """Why no change can be named if no cause names one; empty if one can."""
    if not changes:
        return "nothing that both runs logged differs"
    free = bool(causes) and causes[0].label in known.any_setting
    if causes and causes[0].line is not None and not free:  # not every setting can lead to a fault in a log
        return f"no difference is known to lead to this: {causes[0].issue}"
    if not apart and not causes:
        return "the curves stay together: no change made a difference"
    if (count := _count(changes)) >= known.too_many:
        return f"{count} things differ, too many to name one"
    if changes[0].kind == UNKNOWN_KIND and len(changes) > 1 and not free:
        return "how much the differences matter is not known"
    return ""
