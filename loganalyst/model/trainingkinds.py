"""Kinds of training: what is trained, and how."""

from dataclasses import dataclass
from typing import Literal, get_args

from loganalyst.model.shortrepr import Short

# fmt: off
TrainingKindName = Literal[
    "pretraining", "fine-tuning", "preference", "verifiable-rewards", "reinforcement", "supervised", "detection",
    "self-supervised", "adversarial", "autoencoder", "diffusion", "speech", "graph", "forecasting", "physics",
    "boosting", "evaluation", "none",
]
# fmt: on
TRAINING_KINDS: tuple[TrainingKindName, ...] = get_args(TrainingKindName)


@dataclass(frozen=True, repr=False)
class TrainingKind(Short):
    """The kind of training of a run, in words (`meaning`), with the probability (0 to 1) that it is right.

    `witnesses` are the strongest facts that suggest the kind: the trainer, or metrics, settings and names. `sure` says
    whether rules for other kinds of training do not apply (`rules/verdicts.yaml`).

    >>> TrainingKind("preference", "preference training", 0.95, ("TRL DPOTrainer",)).kind
    'preference'
    """

    kind: str
    meaning: str
    probability: float
    witnesses: tuple[str, ...] = ()
    sure: bool = False
