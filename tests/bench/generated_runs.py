"""Ours, a rule of thumb and two tools of others on labelled runs made by `python -m fixtures.suite.generate DIR`.

    python tests/bench/generated_runs.py DIR... [--store STORE] [--tools FOLDER]

FOLDER is the `bin` of an environment with `runmedic` and `trainproof` (pip install runmedic trainproof); what is not
there is left out, and said to be. What they find is put into our labels generously (PEERS): every label one of their
findings may stand for counts, and trainproof is told which column is the loss. Notes that they call mere information
are no alarm. Ours are the rules as they are: `python -m loganalyst.evaluate` tells more of them.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from loganalyst import pipeline
from loganalyst.evaluate.accuracy import share
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.labelled import Place, labelled
from loganalyst.store import Store

Row = Mapping[str, object]
Said = list[set[str]]  # the labels each finding may stand for, the first finding first
TOO_LITTLE = {"plateau", "underfitting", "lr_too_low", "lr_schedule", "vanishing_gradients", "dead_units", "dead_run"}
UP = {"divergence", "lr_too_high", "distribution_shift"}
NAN = {"nan_loss", "bad_data", "lr_too_high", "numeric_overflow", "exploding_gradients"}
SPIKES = {"loss_spikes", "periodic_spikes", "bad_data"}
PEERS: Mapping[str, Mapping[str, set[str]]] = {
    "runmedic": {
        "non_finite": NAN,
        "divergence": UP,
        "loss_spikes": SPIKES,
        "no_learning": TOO_LITTLE | {"lr_too_high"},
        "overfitting": {"overfitting"},
        "grad_spikes": {"exploding_gradients", *SPIKES},
        "constant_lr_plateau": TOO_LITTLE,
    },
    "trainproof": {
        "TP-NAN": NAN,
        "TP-NAN-GRAD": NAN,
        "TP-DIVERGE": UP,
        "TP-FLAT": TOO_LITTLE,
        "TP-DEAD-RUN": TOO_LITTLE | {"lr_too_high"},
        "TP-GRAD-SPIKE": {"exploding_gradients", *SPIKES},
        "TP-ZERO-GRAD": {"vanishing_gradients", "dead_units", "frozen_parameters"},
        "TP-ZERO-LR": {"lr_schedule", "lr_too_low"},
        "TP-ZERO-LR-PARTIAL": {"lr_schedule"},
        "TP-ZERO-LOSS": {"bad_data", "data_leakage"},
        "TP-ZERO-LOSS-ONSET": {"bad_data", "data_leakage"},
        "TP-OVERFIT": {"overfitting"},
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Place.named, nargs="+", metavar="DIR")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--tools", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = labelled(asked.folders, Store(asked.store or folder))
    ours = answered(pipeline.catalogue(), runs)
    rows = pl.concat([runs.truths, runs.features], how="horizontal").to_dicts()
    print(f"{'':14}{'first right':>22}{'one of three':>22}{'sick: first':>22}{'healthy called sick':>24}")
    print(line("loganalyst", ours))
    print(line("rule of thumb", judged(runs.truths, map(thumb, rows))))
    for name, tool in (("runmedic", runmedic), ("trainproof", trainproof)):
        program = shutil.which(name, path=str(asked.tools)) if asked.tools else shutil.which(name)
        if program is None:
            print(f"{name:14}  left out: it is not installed (--tools)")
        else:
            print(line(name, judged(runs.truths, (tool(program, row) for row in rows))))


def thumb(row: Row) -> Said:
    """What many scripts do: NaN, or a last loss of twice the best."""
    if row["train_loss_nonfinite_count"]:
        return [{"nan_loss"}]
    last, best = row["train_loss_last"], row["train_loss_best"]
    return [{"divergence"}] if last is not None and best is not None and last > 2 * best > 0 else []


def runmedic(program: str, row: Row) -> Said:
    found = told([program, "diagnose", str(row["path"]), "--json"]) or []
    findings = [f for run in found for f in run["findings"] if f["severity"] != "info"]
    return [PEERS["runmedic"].get(f["check"], {f["check"]}) for f in findings]


def trainproof(program: str, row: Row) -> Said:
    columns = {"loss": "train_loss_metric", "grad_norm": "grad_norm_metric", "eval_loss": "val_loss_metric"}
    maps = [part for name, ours in columns.items() if row[ours] for part in ("--map", f"{name}={row[ours]}")]
    found = told([program, "doctor", str(row["path"]), *maps, "--json"]) or {"reports": []}
    findings = [f for report in found["reports"] for f in report["findings"] if f["level"] in ("FAIL", "WARN")]
    return [PEERS["trainproof"].get(f["id"], {f["id"]}) for f in findings if f["id"] != "TP-NO-LOSS"]


def told(command: list[str]) -> object:
    """What a program prints as JSON; None where it prints none, as where it cannot read the run."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return None


def judged(truths: pl.DataFrame, said: Iterable[Said]) -> pl.DataFrame:
    """`first`, `three` and `kind` as `answered` has them; a tool that finds nothing says that the run is healthy."""
    rows = []
    for labels, findings in zip(truths["labels"], said, strict=True):
        named = findings[:3] or [{"healthy"}]
        right = [bool(some & set(labels)) for some in named]
        rows.append((right[0], any(right), "causes" if findings else "healthy"))
    return pl.concat([truths, pl.DataFrame(rows, ["first", "three", "kind"], orient="row")], how="horizontal")


def line(name: str, answers: pl.DataFrame) -> str:
    """One line of the table."""
    healthy = answers["labels"].list.first() == "healthy"
    sick, alarms = answers.filter(~healthy), answers.filter(healthy)["kind"] != "healthy"
    shares = (share(answers["first"]), share(answers["three"]), share(sick["first"]), share(alarms))
    return f"{name:14}" + "".join(f"{s['value']:8.1%} ({s['low']:.0%} to {s['high']:.0%})".rjust(22) for s in shares)


if __name__ == "__main__":
    main()
