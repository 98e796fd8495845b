"""A comparison built by hand."""

import polars as pl
import pytest

from loganalyst.auditing import failurecontrasts, failuregroups
from loganalyst.comparing.comparisonresult import (
    Comparison,
    Importance,
    Interaction,
    Objective,
    Region,
    Scaling,
    ScalingFit,
    Seeds,
    Sensitivity,
    Suggestion,
)


@pytest.fixture
def small() -> Comparison:
    """Three runs over one learning rate, which matters; a second setting, which does not; a fitted law."""
    rates, losses = ["0.001", "0.01", "0.1"], [3.0, 2.0, None]
    runs = pl.DataFrame(
        {
            "run_id": ["a", "b", "c"], "path": ["/r/a", "/r/b", "/r/c"], "status": "healthy", "label": None,
            "objective": losses, "left_out": [None, None, "unstable"], "unstable": [False, False, True], "steps": 9,
            "failed": [False, False, True], "group": None, "seed": None, "config.lr": rates, "config.a|b": "1",
        }
    )  # fmt: skip
    profile = tuple({"level": x, "value": y, "low": y - 1, "high": y + 1} for x, y in ((0.001, 3.0), (0.01, 2.0)))
    matters = Importance("lr", "log", (), 0.8, 0.7, 0.9, 0.8, 0.01, 0.02, True, profile)
    other = Importance("a|b", "linear", (), 0.1, 0.0, 0.2, 0.1, 0.5, 0.5, False)
    best = ({"at": 1.0, "best": 0.01}, {"at": 2.0, "best": 0.01})
    sensitivity = Sensitivity(
        3, (matters, other), (Interaction(("lr", "a|b"), 0.1, 0.01, True, best),),
        (Region("lr", "log", 0.01, (0.001, 0.005, 0.01), "high", False),), 0.1,
    )  # fmt: skip
    fit = ScalingFit("tokens", "E + A x^-a", "fitted", 3, 8.0, "it falls", {"E": (1.0, 0.5, 1.5)}, 0.1,
                     ((1.0, 3.0), (8.0, 2.0)), ((1.0, 3.0, 2.5, 3.5), (16.0, 1.8, 1.5, 2.1)))  # fmt: skip
    return Comparison(
        runs, pl.DataFrame(schema=failuregroups.COLUMNS), pl.DataFrame(schema=failurecontrasts.COLUMNS),
        Objective("val", "val_loss", "up", "best", "the usual one", 2, {"unstable": 1}), sensitivity, None,
        Seeds(why_not="no seeds"), Scaling((fit,)), (), (),
        (Suggestion("explore", "Try 0.02", "it is best", "/r/b", {"lr": "0.02"}, (("it falls", "go on"),)),),
    )  # fmt: skip
