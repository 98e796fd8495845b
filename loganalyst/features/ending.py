"""How the run ended: as stated, at its plan, by early stopping, or before its plan without a word."""

import numpy as np
import polars as pl

from loganalyst.features.configured import OF_PASSES
from loganalyst.features.context import Computed, Context, ratio
from loganalyst.features.progress import printed_epochs
from loganalyst.features.run import last_step, planned_steps
from loganalyst.features.setup import EPOCH_KEYS
from loganalyst.model import Feature, RunEnd
from loganalyst.patterntraits import having
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("run_end", "text", "", "how the run ended: as stated, else by its plan: finished, early_stopped or stopped_early_unexplained (NULL: nothing shows it)", "run"),
    Feature("run_epochs_done_share", "float", "share", "passes over the data as a share of the planned ones", "config"),
    Feature("run_file_cut", "text", "", "a file of metrics, or a log of records, that ends inside a record, of a run whose end nothing states", "run"),
    Feature("run_end_line_missing", "bool", "", "a log has the values that the trainer printed, but not the line that it prints when training ends, and its plan does not show that it ended", "run"),
)  # fmt: skip
CUT = "ends inside"  # gaps of files whose last record is incomplete: "the file ends inside a record"
_PATIENCE_KEYS = ("early_stopping_patience", "early_stop_patience", "early_stopping_rounds", "patience")
_USUAL_PATIENCE = (10, 20, 25, 30, 50, 75, 100, 150, 200, 250, 300, 500, 1000)  # trees without a better value
_SCORES = {"val_accuracy": -1, "val_score": -1, "val_loss": 1, "val_error_rate": 1}  # held-out roles: sign of harm


def compute(context: Context) -> Computed:
    """All of FEATURES."""
    epochs = _epochs_done_share(context)
    cut = _cut_file(context) if context.run.status == "unknown" else None
    end = _end(context, epochs, cut)
    return {
        "run_end": end,
        "run_epochs_done_share": epochs,
        "run_file_cut": cut,
        "run_end_line_missing": _end_line_missing(context) and end not in ("finished", "early_stopped"),
    }


def _end_line_missing(context: Context) -> bool:
    printed = any(source.format == "text" and source.points for source in context.run.sources)
    known = context.trainer is not None and context.trainer.prints_end
    return context.run.status == "unknown" and printed and known


def _end(context: Context, epochs: float | None, cut: str | None) -> RunEnd | None:
    status = context.run.status
    if status != "unknown":
        return "early_stopped" if status == "stopped_early" else status
    last, planned = last_step(context), planned_steps(context)
    share = ratio(last, planned) if planned else epochs
    # steps may count from 0, and the last ones need not fill a logging interval
    reached = planned is not None and last is not None and last + max(_interval(context), 1.0) >= planned
    if reached or (share is not None and share >= feature_limit("plan_reached")):
        return "finished"
    if share is not None and share < feature_limit("plan_missed"):
        return "early_stopped" if _waited_for_better(context) else "stopped_early_unexplained"
    return "stopped_early_unexplained" if cut else None


def _interval(context: Context) -> float:
    """The usual distance in steps between the values of the longest training curve; 0 without one."""
    curves = context.with_role("train_loss", "rl_loss", "reward", "generator_loss")[:1]
    return float(np.median(np.diff(curves[0].steps))) if curves and curves[0].steps.size > 1 else 0.0


def _epochs_done_share(context: Context) -> float | None:
    """The last epoch logged as a share of the configured epochs, or of those that a log printed. How much of a last
    epoch is done is not known of the latter.
    """
    logged = [c.epochs for c in context.curves] + [c.values for c in context.with_role("epoch")]
    done = max((float(np.nanmax(e)) for e in logged if np.isfinite(e).any()), default=_epochs_by_steps(context))
    share = ratio(done, context.number(*EPOCH_KEYS))
    if share is not None:
        return min(share, 1.0)
    printed = printed_epochs(context.run)
    return ratio(*map(float, printed)) if printed and printed[0] < printed[1] else None


def _epochs_by_steps(context: Context) -> float | None:
    """The epochs done where the trainer counts epochs as its steps, from 0 or 1; None if it does not."""
    last = last_step(context)
    if last is None or context.trainer is None or context.trainer.step != OF_PASSES:
        return None
    return float(last + any(curve.steps.size and curve.steps[0] == 0 for curve in context.curves))


def _cut_file(context: Context) -> str | None:
    """The first file whose last record is incomplete: a file of metrics, or a log that prints records (`{"loss": 1.2`)."""
    last = context.run.lines.filter(pl.col("pattern").is_in(having("cut_line"))).select("file", "text")
    opened = (file for file, text in last.iter_rows() if text.lstrip().startswith("{") and "}" not in text)
    if (log := next(opened, None)) is not None:
        return str(log)
    files = {source.path for source in context.run.sources if source.format not in (None, "text", "config")}
    cut = (file for file, why in context.run.gaps.select("file", "why").iter_rows() if CUT in why and file in files)
    return next(cut, None)


def _waited_for_better(context: Context) -> bool:
    """Whether a held-out value was best exactly as many evaluations before its end as the configured patience.

    Boosting writes its plan, but not its patience: there, any usual number counts.
    """
    configured = context.number(*_PATIENCE_KEYS)
    boosting = context.training_kind is not None and context.training_kind.kind == "boosting"
    patience = [configured] if configured else _USUAL_PATIENCE if boosting else []
    curves = [(c, sign) for role, sign in _SCORES.items() for c in context.with_role(role)]
    waits = [
        c.values.size - 1 - int(np.nanargmin(sign * c.values)) for c, sign in curves if np.isfinite(c.values).any()
    ]
    return any(0 <= wait - p <= 1 for wait in waits for p in patience if p >= 1)
