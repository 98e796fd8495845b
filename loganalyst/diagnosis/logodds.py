"""Odds and log-odds of probabilities, and Platt scaling, which calibrates them."""

import math

from loganalyst.diagnosis.calibrationkind import calibration_kind
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.rule import Calibration
from loganalyst.thresholds import verdict_limit

CAP = 0.999  # keeps the odds finite


def logit(p: float) -> float:
    """Log-odds of 0 < p < 1."""
    return math.log(p / (1 - p))


def sigmoid(x: float) -> float:
    """The probability with log-odds x."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def odds(p: float) -> float:
    """The ratio of p < 1 to 1 - p."""
    return p / (1 - p)


def capped(p: float, direct: bool) -> float:
    """The probability, at most `indirect_cap` unless direct evidence supports the rule."""
    return min(p, CAP if direct else verdict_limit("indirect_cap"))


def calibrate(p: float, calibration: Calibration, answers: Answers | None = None) -> float:
    """Platt scaling of a probability (Platt 1999), shifted by the kind of the run with these answers."""
    shift = calibration.kinds.get(calibration_kind(answers.values), 0.0) if answers else 0.0
    x = logit(min(max(p, 1e-9), 1 - 1e-9))
    return sigmoid(calibration.slope * min(max(x, -calibration.reach), calibration.reach) + calibration.offset + shift)
