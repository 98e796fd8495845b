"""Features of the contents of checkpoints, from what the inspection found."""

from collections.abc import Callable
from pathlib import Path

from loganalyst.features import weightfiles
from loganalyst.features.context import Context
from loganalyst.model import (
    CheckpointChange,
    CheckpointScan,
    Inspection,
    InspectionFinding,
    OptimizerScan,
    TensorChange,
    TensorStats,
    Witness,
)

ContextOf = Callable[..., Context]


def tensor(name: str, *, nan: int = 0, dead_rows: int = 0, shape: tuple[int, ...] = (4, 2)) -> TensorStats:
    return TensorStats(name, shape, "float32", 8, nan, 0, 0, 0, None, None, None, None, None, dead_rows)


def scan(step: int, *tensors: TensorStats, optimizers: tuple[OptimizerScan, ...] = ()) -> CheckpointScan:
    path = Path(f"step-{step}.pt")
    return CheckpointScan(path, "pt", 1, tensors, (), 8, 0.25, (), optimizers, 1024.0, (), None, step)


def values(context_of: ContextOf, inspection: Inspection | None) -> dict[str, object]:
    """The values without their witnesses."""
    found = weightfiles.compute(context_of({}, inspection=inspection))
    return {name: value[0] if isinstance(value, tuple) else value for name, value in found.items()}


def test_without_an_inspection_nothing_is_known(context_of: ContextOf) -> None:
    assert values(context_of, None) == {}


def test_the_last_readable_checkpoint_counts(context_of: ContextOf) -> None:
    """One of two tensors holds NaN; a tensor of zeros only is no dead weight."""
    last = scan(200, tensor("fc", nan=2, dead_rows=1), tensor("head", dead_rows=4))
    broken = InspectionFinding("unreadable", "unusable", Path("runs/step-300.pt"), "ends early")
    inspection = Inspection((scan(100, tensor("fc")), last), (), (broken,))

    found = values(context_of, inspection)

    assert found == {
        "checkpoint_inspected_count": 2,
        "checkpoint_unreadable_count": 1,
        "checkpoint_unreadable_text": "step-300.pt ends early",
        "checkpoint_last_step": 200,
        "checkpoint_nonfinite_count": 1,
        "checkpoint_nonfinite_share": 0.5,
        "checkpoint_nonfinite_metric": "fc",
        "checkpoint_finite_step": 100,
        "checkpoint_embedding_share": 0.25,
        "checkpoint_dead_share": 0.25,
        "checkpoint_dead_metric": "fc",
        "checkpoint_loss_scale": 1024.0,
    }
    witness = weightfiles.compute(context_of({}, inspection=inspection))["checkpoint_nonfinite_count"]
    assert witness == (1, Witness(step=200, file="step-200.pt"))


def test_the_state_of_the_optimiser(context_of: ContextOf) -> None:
    optimizer = OptimizerScan(200, 1e-8, (0.1,), (tensor("m", nan=1), tensor("v")), ("v of fc",), 0.75)

    found = values(context_of, Inspection((scan(200, tensor("fc"), optimizers=(optimizer,)),), (), ()))

    assert found["checkpoint_optimizer_nonfinite_count"] == 1
    assert found["checkpoint_blown_up_count"] == 1
    assert found["checkpoint_blown_up_metric"] == "v of fc"
    assert found["checkpoint_eps_share"] == 0.75


def test_changes_between_the_last_two_checkpoints(context_of: ContextOf) -> None:
    """Tensors that only one of them has do not count."""
    old, new = scan(100, tensor("a")), scan(300, tensor("a"))
    verdicts = {"a": "frozen", "b": "changed", "c": "runaway", "d": "added"}
    changes = tuple(TensorChange(name, verdict) for name, verdict in verdicts.items())  # type: ignore[arg-type]

    found = values(context_of, Inspection((old, new), (CheckpointChange(old.path, new.path, changes, 0.1),), ()))

    assert found["checkpoint_compared_steps"] == 200
    assert found["checkpoint_frozen_share"] == 1 / 3
    assert found["checkpoint_frozen_metric"] == "a"
    assert found["checkpoint_runaway_metric"] == "c"
    assert (found["checkpoint_frozen_count"], found["checkpoint_reset_count"], found["checkpoint_runaway_count"]) == (
        1,
        0,
        1,
    )
