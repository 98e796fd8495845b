"""The diagnostic scripts that would decide an unsure diagnosis (`rules/scripts.yaml`), the most fitting first."""

from collections.abc import Iterable, Mapping
from functools import cache

from loganalyst.model import Cause, DecidingScript, FeatureValue, Symptom
from loganalyst.rulefiles import Shape, Text, Texts, ours

__all__ = ["deciding", "known"]

MAX_SCRIPTS = 3


class Entry(Shape, frozen=True):
    """What a script `answers`, the ids of the causes and symptoms that it is about, and the kinds of run (feature
    run_kind) in which it shows nothing.
    """

    answers: Text
    causes: Texts
    symptoms: Texts
    excluded_runs: Texts = ()


@cache
def known() -> Mapping[str, Entry]:
    """The entries by the name of their script."""
    return ours("scripts.yaml", dict[str, Entry])


def deciding(
    causes: Iterable[Cause], others: Iterable[str], symptoms: Iterable[Symptom], run_kind: FeatureValue = None
) -> tuple[DecidingScript, ...]:
    """The scripts for the stated `causes`, else for `others` (ids of rules that compete) and `symptoms`, in a run of
    this kind.

    A cause of high confidence needs none.
    """
    stated = tuple(causes)
    if stated and stated[0].verdict == "likely" and stated[0].band == "high":
        return ()
    first = [cause.id for cause in stated]
    rivals, seen = set(others), {symptom.id for symptom in symptoms}
    scores = {
        name: (sum(len(first) - i for i, id_ in enumerate(first) if id_ in e.causes) * 2)
        + len(rivals & {*e.causes})
        + len(seen & {*e.symptoms})
        for name, e in known().items()
        if run_kind not in e.excluded_runs
    }
    fitting = sorted((name for name in scores if scores[name]), key=lambda name: -scores[name])
    return tuple(DecidingScript(name, known()[name].answers) for name in fitting[:MAX_SCRIPTS])
