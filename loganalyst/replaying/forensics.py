"""Evidence from the checkpoints themselves, without the user's code."""

from pathlib import Path
from typing import TYPE_CHECKING

from loganalyst.checkpoint import inspect
from loganalyst.model import Experiment, Inspection, Measured

if TYPE_CHECKING:
    from loganalyst.diagnosis.rule import ExperimentRule

NAME = "inspection"  # in rules/replay.yaml


def inspect_checkpoints(path: Path | None, last: Path | None) -> Inspection | None:
    """Inspect the checkpoint to replay and the run's last one. Raises SourceError."""
    paths = dict.fromkeys(p for p in (path, last) if p is not None)
    return inspect(*paths) if paths else None


def as_experiments(found: Inspection | None, stated: "ExperimentRule") -> tuple[Experiment, ...]:
    """Each kind of finding that distinguishes causes, as the outcome of an experiment that needs no code."""
    texts: dict[str, str] = {}
    for finding in found.findings if found else ():
        if finding.kind in stated.outcomes:
            texts.setdefault(finding.kind, f"{finding.path.name}: {finding.text}")
    means = {kind: outcome.means for kind, outcome in stated.outcomes.items()}
    return tuple(
        Experiment(NAME, stated.question, means, kind, text, (Measured(kind, text),)) for kind, text in texts.items()
    )
