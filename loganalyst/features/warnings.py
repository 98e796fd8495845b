"""Features of warnings in the job log that name a cause on their own."""

import json
import re

import numpy as np
import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, Witness
from loganalyst.patterntraits import having

NEEDS = "the job log (SLURM output, stdout or stderr)"
FEATURES = (
    Feature("variance_warning_count", "int", "lines", "warnings that a variance or standard deviation was computed from too few values (0 = none found)", NEEDS),
    Feature("variance_warning_operation", "text", "", "operation that warned: var, std or another", NEEDS),
    Feature("range_warning_count", "int", "lines", "lines that name a mathematical operation without a finite result (0 = none found)", NEEDS),
    Feature("range_warning_operation", "text", "", "this operation on the first such line, in lower case: log, exp, divide, sqrt or another", NEEDS),
    Feature("range_warning_losses_later", "int", "points", "finite training losses that the same file prints after this line and before the first non-finite loss", NEEDS),
    Feature("inputs_too_long_count", "int", "lines", "warnings that an input is longer than the model allows (0 = none found)", NEEDS),
    Feature("inputs_too_long_most", "int", "tokens", "length that the model allows, by the first of these warnings", NEEDS),
    Feature("optimizer_state_lost_count", "int", "lines", "lines that say that the state of the optimiser was not restored (0 = none found)", NEEDS),
    Feature("weights_left_out_count", "int", "lines", "lines that say that ten or more weights of a checkpoint have other names than those of the model (0 = none found)", NEEDS),
    Feature("labels_masked_line_count", "int", "lines", "lines that say that a sample has no label that counts for the loss (0 = none found)", NEEDS),
    Feature("faulthandler_count", "int", "lines", "lines with which Python's faulthandler begins the stack of a crash (0 = none found)", NEEDS),
    Feature("thermal_slowdown_count", "int", "lines", "lines that say that heat slows a device down (0 = none found)", NEEDS),
    Feature("tracker_offline_count", "int", "lines", "lines that name a folder of W&B that was not sent (0 = none found)", NEEDS),
    Feature("tracker_offline_folder", "text", "", "this folder, on the first such line", NEEDS),
    Feature("script_line_count", "int", "lines", "lines of the job script that the shell could not run (0 = none found)", NEEDS),
    Feature("script_line_text", "text", "", "what the shell said of the first of them", NEEDS),
    Feature("inputs_nonfinite_count", "int", "lines", "warnings that a batch or an input holds NaN or infinite values (0 = none found)", NEEDS),
    Feature("unknown_tokens_count", "int", "lines", "lines that state the share of unknown tokens (0 = none found)", NEEDS),
    Feature("unknown_tokens_share", "float", "share", "share of unknown tokens that the first of these lines states", NEEDS),
    Feature("unshuffled_line_count", "int", "lines", "lines that say that the training data is not shuffled (0 = none found)", NEEDS),
)  # fmt: skip
MAX_TEXT = 160  # characters of a line in a note
# `LogBackward0` of PyTorch, `true_divide` of NumPy, `RealDiv` of TensorFlow
_WRAPPED = re.compile(r"^(?:true_|floor_)|Backward\d*$")


def compute(context: Context) -> Computed:
    """All of FEATURES; not known if no job log was read."""
    if not any(s.format == "text" for s in context.run.sources):
        return {}
    out: Computed = {}
    patterns = frozenset(context.run.lines["pattern"].unique())
    for name, trait in (
        ("variance_warning", "too_few_values"),
        ("range_warning", "out_of_range"),
        ("inputs_too_long", "inputs_too_long"),
        ("optimizer_state_lost", "optimizer_state_lost"),
        ("weights_left_out", "weights_left_out"),
        ("labels_masked_line", "labels_masked"),
        ("unshuffled_line", "not_shuffled"),
        ("faulthandler", "faulthandler_on"),
        ("thermal_slowdown", "too_hot"),
        ("tracker_offline", "tracker_offline"),
        ("script_line", "shell_line"),
        ("inputs_nonfinite", "inputs_nonfinite"),
        ("unknown_tokens", "unknown_tokens"),
    ):
        # Most logs have no such line, and a query costs time
        out |= {f"{name}_count": 0} if patterns.isdisjoint(having(trait)) else _counted(context, name, trait)
    return out


def _counted(context: Context, name: str, trait: str) -> Computed:
    """The number of lines with a trait, and what the first of them names."""
    found = context.run.lines.filter(pl.col("pattern").is_in(having(trait)))
    if trait == "out_of_range":
        found = found.filter(pl.col("captures").str.contains('"operation": ?"'))
    if not found.height:
        return {f"{name}_count": 0}
    first = found.row(0, named=True)
    witness = Witness(file=first["file"], line=first["line"], rank=first["rank"], node=first["node"])
    said = json.loads(first["captures"] or "{}")
    out: Computed = {f"{name}_count": (found.height, witness)}
    if trait == "too_few_values":
        out[f"{name}_operation"] = (said.get("operation") or "var", witness)
    elif trait == "out_of_range":
        out[f"{name}_operation"] = (_WRAPPED.sub("", said["operation"]).lower(), witness)
        out[f"{name}_losses_later"] = _losses_later(context, witness)
    elif trait == "tracker_offline":
        out[f"{name}_folder"] = (said["folder"], witness)
    elif trait == "shell_line":
        out[f"{name}_text"] = (first["text"].strip()[:MAX_TEXT], witness)
    elif trait == "unknown_tokens":
        out[f"{name}_share"] = (float(said["share"]) / 100, witness)
    elif trait == "inputs_too_long":
        out[f"{name}_most"] = (int(said["most"]), witness)
    return out


def _losses_later(context: Context, said: Witness) -> int | None:
    """The finite training losses between the line and the first non-finite one; None if they are in another file."""
    curve = next((c for c in context.with_role("train_loss") if c.source == said.file), None)
    if curve is None or said.line is None:
        return None
    broken = np.flatnonzero(~np.isfinite(curve.values))
    end = int(broken[0]) if broken.size else curve.values.size
    return int((curve.lines[:end] > said.line).sum())
