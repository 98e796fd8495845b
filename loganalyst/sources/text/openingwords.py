"""Words by which a line is no set-up line of a program (`rules/openings.yaml`)."""

from functools import cache

from loganalyst.rulefiles import Shape, Texts, ours


class OpeningWords(Shape, frozen=True):
    """Words of `training` and `trial_fails` are searched for as they are written, those of `faults`, `warnings` and
    `several` in lower case, and `trials` in any case. A description of a bar begins with one of `bars_beside`.
    """

    training: Texts
    faults: Texts
    warnings: Texts
    several: Texts
    trials: Texts
    trial_fails: Texts
    bars_beside: Texts
    bars_of_training: Texts


@cache
def opening_words() -> OpeningWords:
    """The words of the file. Raises RuleError.

    >>> "error" in opening_words().faults
    True
    """
    return ours("openings.yaml", OpeningWords)


def states_fault(text: str) -> bool:
    """Whether a line states a fault.

    >>> states_fault("RuntimeError: no space"), states_fault("Loading data")
    (True, False)
    """
    lower = text.lower()
    return any(word in lower for word in opening_words().faults)
