"""The kind of run whose answers share a calibration: answers are right more often for some kinds than for others."""

from collections.abc import Mapping
from typing import Literal, get_args

from loganalyst.model import FeatureValue

CalibrationKind = Literal["supervised", "language", "preference", "reinforcement", "generative", "job"]
KINDS: tuple[CalibrationKind, ...] = get_args(CalibrationKind)
_OF_TRAINING: Mapping[str, CalibrationKind] = {  # all other kinds of training count as supervised
    "pretraining": "language",
    "fine-tuning": "language",
    "preference": "preference",
    "verifiable-rewards": "preference",
    "reinforcement": "reinforcement",
    "adversarial": "generative",
    "autoencoder": "generative",
    "diffusion": "generative",
}


def calibration_kind(values: Mapping[str, FeatureValue]) -> CalibrationKind:
    """The kind of a run by its features. A log without curves is a `job`.

    >>> calibration_kind({"run_kind": "training", "training_kind": "pretraining"}), calibration_kind({})
    ('language', 'supervised')
    """
    if values.get("run_kind") == "job":
        return "job"
    return _OF_TRAINING.get(str(values.get("training_kind")), "supervised")
