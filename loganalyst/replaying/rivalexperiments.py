"""Which experiment may rule out most of what a confirmed cause shares a symptom with."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from loganalyst.model import Experiment
from loganalyst.replaying.verdicts import SAYS, Stated, said, verdict

if TYPE_CHECKING:
    from loganalyst.diagnosis.confidence import Judged


def telling(
    found: "Judged", every: Mapping[str, "Judged"], experiments: Sequence[Experiment], stated: Stated
) -> str | None:
    """Of the experiments that the open rivals name, and that were not made, the one that may refute most of them; of
    those first that explain what is `found`, or that the experiments so far speak for as well. None where none may.
    """
    rivals = _open(found, every, experiments)
    made = {e.name for e in experiments}
    left = list(dict.fromkeys(name for j in rivals for name in j.rule.replay if name not in made))

    def worth(name: str) -> tuple[int, int]:
        may = [j for j in rivals if _least(stated, name, j) <= -SAYS]
        pressing = [j for j in may if found.rule.id in j.rule.explains or said(j.rule.id, experiments) > 0]
        return len(pressing), len(may)

    best = max(left, key=worth, default=None)
    return best if best and any(worth(best)) else None


def _open(found: "Judged", every: Mapping[str, "Judged"], experiments: Sequence[Experiment]) -> "list[Judged]":
    """Rivals that are not refuted, the likeliest first; a consequence of what is found is none."""
    return [
        j
        for j in every.values()
        if found.rule.id not in (j.rule.id, j.under)
        and j.verdict != "not_applicable"
        and set(j.seen) & set(found.seen)
        and verdict(j, experiments) != "refuted"
    ]


def _least(stated: Stated, name: str, rival: "Judged") -> float:
    """What an experiment says of a rival in the outcome that speaks most against it."""
    return min(stated[name].weight(rival.rule, outcome) for outcome in stated[name].outcomes)
