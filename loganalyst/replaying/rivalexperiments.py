"""The choice of the experiment that may rule out most rivals of a confirmed cause."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from loganalyst.model import Experiment
from loganalyst.replaying.verdicts import MIN_WEIGHT, Stated, total_weight, verdict

if TYPE_CHECKING:
    from loganalyst.diagnosis.judged import Judged


def most_decisive(
    found: "Judged", every: Mapping[str, "Judged"], experiments: Sequence[Experiment], stated: Stated
) -> str | None:
    """The experiment that may refute most open rivals, of those that they name and that have not been made. Rivals that
    explain the `found` cause, or that the experiments support too, count first. None if no experiment may refute
    any.
    """
    rivals = _open_rivals(found, every, experiments)
    made = {e.name for e in experiments}
    candidates = list(dict.fromkeys(name for j in rivals for name in j.rule.replay if name not in made))

    def worth(name: str) -> tuple[int, int]:
        refutable = [j for j in rivals if _strongest_against(stated, name, j) <= -MIN_WEIGHT]
        urgent = [j for j in refutable if found.rule.id in j.rule.explains or total_weight(j.rule.id, experiments) > 0]
        return len(urgent), len(refutable)

    best = max(candidates, key=worth, default=None)
    return best if best and any(worth(best)) else None


def _open_rivals(found: "Judged", every: Mapping[str, "Judged"], experiments: Sequence[Experiment]) -> "list[Judged]":
    """Rivals that are not refuted, the likeliest first. A consequence of the found cause is not a rival."""
    return [
        j
        for j in every.values()
        if found.rule.id not in (j.rule.id, j.under)
        and j.verdict != "not_applicable"
        and set(j.seen) & set(found.seen)
        and verdict(j, experiments) != "refuted"
    ]


def _strongest_against(stated: Stated, name: str, rival: "Judged") -> float:
    """The weight of the outcome that speaks most against a rival."""
    return min(stated[name].weight(rival.rule, outcome) for outcome in stated[name].outcomes)
