"""One rule judged for one run, and the verdict of a probability."""

from dataclasses import dataclass

from loganalyst.diagnosis.rule import Rule, Scale
from loganalyst.model import Verdict
from loganalyst.thresholds import verdict_limit


@dataclass(frozen=True)
class Judged:
    """One rule judged for one run.

    `alone` is its probability by its own evidence, `share` that among its rivals. `confidence` is its calibrated share,
    within the limits. `seen` are the observed symptoms that it explains, `counted` is the weight of each item, `scale`
    selects the calibration. `under` is the likelier cause that explains it. `ended` says whether it ended a failed run.
    `supported`: its evidence, measurements and the user's words raise its odds. `limits` are the reasons for which its
    confidence is limited.
    """

    rule: Rule
    verdict: Verdict
    alone: float
    share: float
    confidence: float
    seen: tuple[str, ...]
    counted: tuple[float, ...]
    scale: Scale
    under: str | None = None
    ended: bool = False
    supported: bool = True
    limits: tuple[str, ...] = ()
    measured: bool = False  # whether it has evidence from outside the logs

    @property
    def candidate(self) -> bool:
        """Whether it is likely or possible."""
        return self.verdict in ("likely", "possible")

    @property
    def listed(self) -> bool:
        """Whether the answer names it: as a likely cause, or as a supported one that is probable enough."""
        return self.verdict == "likely" or (self.supported and self.confidence >= verdict_limit("listed"))

    @property
    def contradicted(self) -> bool:
        """Whether an item of evidence is clearly against it."""
        return min(self.counted, default=0.0) <= -verdict_limit("contradicts")

    @property
    def direct(self) -> bool:
        """Whether direct evidence supports it."""
        return self.scale != "circumstantial"


def threshold(p: float) -> Verdict:
    """`likely`, `possible` or `unlikely`, by `rules/verdicts.yaml`."""
    likely, possible = verdict_limit("likely"), verdict_limit("possible")
    return "likely" if p >= likely else "possible" if p >= possible else "unlikely"
