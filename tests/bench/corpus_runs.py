"""How often the diagnosis is right on labelled real runs, and how many healthy runs are called sick.

    python tests/bench/corpus_runs.py [--corpus DIR] [--wrong]

DIR holds `labels.csv` (run_path, label, secondary with `;` between) and the runs. A run is right when its label, or a
secondary one, is among the first three causes; a healthy one when nothing is named and the status is healthy.
`ambiguous` runs are read but not scored. The peer in the same table is the plain rule of thumb many scripts use:
NaN -> nan_loss, last loss above twice its minimum -> divergence, else healthy.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from loganalyst import diagnose
from loganalyst.errors import LogAnalystError
from loganalyst.model import Diagnosis

RENAMED = {"too_short": "dead_run"}
HERE = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=HERE.parent / "shared/corpus/runs")
    parser.add_argument("--wrong", action="store_true", help="print only runs that are wrong")
    args = parser.parse_args()
    rows = list(csv.DictReader((args.corpus / "labels.csv").open()))
    scored = [score(args.corpus, row) for row in rows]
    for row in scored:
        if not (args.wrong and row["right"]):
            print(f"{row['mark']} {row['seconds']:5.2f} s  {row['label']:18} {row['said']:60} {row['run'][-70:]}")
    counted = [r for r in scored if r["label"] != "ambiguous"]
    healthy = [r for r in counted if r["label"] == "healthy"]
    sick = [r for r in counted if r["label"] != "healthy"]
    print(f"\nruns {len(scored)}, scored {len(counted)}, not read {sum(r['error'] for r in scored)}")
    for name in ("right", "peer"):
        print(
            f"{'loganalyst' if name == 'right' else 'rule of thumb':14} right {share(counted, name)}  "
            f"failed runs right {share(sick, name)}  healthy called sick "
            f"{sum(not r[name] for r in healthy)}/{len(healthy)}"
        )
    first = sum(r["first"] for r in sick)
    print(f"{'':14} first cause right {first}/{len(sick)}; mean time {np.mean([r['seconds'] for r in scored]):.2f} s")


def share(rows: list[dict], key: str) -> str:
    hits = sum(bool(r[key]) for r in rows)
    return f"{hits}/{len(rows)} ({hits / max(len(rows), 1):.0%})"


def score(corpus: Path, row: dict[str, str]) -> dict:
    wanted = {RENAMED.get(w, w) for w in (row["label"], *row["secondary"].split(";")) if w}
    begin = time.perf_counter()
    try:
        found = diagnose(corpus / row["run_path"])
        labels, status, thumb = [c.label for c in found.causes[:3]], found.status, rule_of_thumb(found)
    except LogAnalystError as error:
        labels, status, thumb = [], f"error: {error}", "healthy"
    seconds = time.perf_counter() - begin
    well = row["label"] == "healthy"
    right = not labels and status == "healthy" if well else bool(wanted & set(labels))
    confidences = [f"{c.label} {c.confidence:.2f}" for c in found.causes[:3]] if not status.startswith("error") else []
    return {
        "run": row["run_path"],
        "label": row["label"],
        "right": right,
        "first": bool(labels) and labels[0] in wanted,
        "peer": (thumb == "healthy") if well else thumb in wanted,
        "mark": " " if row["label"] == "ambiguous" else ("+" if right else "-"),
        "said": f"{status[:20]}: {', '.join(confidences)}",
        "error": status.startswith("error"),
        "seconds": seconds,
    }


def rule_of_thumb(found: Diagnosis) -> str:
    losses = [c.values for c in found.curves if "loss" in c.metric.lower()]
    if any(not np.isfinite(v).all() for v in losses):
        return "nan_loss"
    if any(len(v) > 3 and v.min() > 0 and v[-1] > 2 * v.min() for v in losses):
        return "divergence"
    return "healthy"


if __name__ == "__main__":
    main()
