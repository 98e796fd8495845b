"""How often the diagnosis is right on runs made by `python -m fixtures.suite.generate DIR`, and how sure it is.

    python tests/bench/generated_runs.py DIR [--wrong] [--family NAME …]

A run is right where its first cause has one of the right labels (`first`), or one of the first three (`three`); one
that is healthy where no cause is named. `ambiguous` runs are not scored. Confidences of first causes and of "healthy"
are judged by the Brier score and the expected calibration error in ten bins, with its 95 % interval over 1,000 draws.
The peer in the same table is the plain rule of thumb of `corpus_runs.py`.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from corpus_runs import rule_of_thumb

from loganalyst import diagnose


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", action="store_true", help="print each run that is wrong")
    parser.add_argument("--family", nargs="*", default=[], help="only these")
    asked = parser.parse_args()
    rows = [scored(path) for path in sorted(asked.folder.glob("*.truth.yaml"))]
    rows = [row for row in rows if row["label"] != "ambiguous" and (not asked.family or row["family"] in asked.family)]
    for row in rows:
        if asked.wrong and not row["first"]:
            told = f"{row['run']} {row['family']:14} {row['injected']:18} {row['label']:18} {row['writer']:11}"
            print(told, row["said"])
    for key in ("label", "family", "writer"):
        table(key, rows)
    sick, healthy = [r for r in rows if r["label"] != "healthy"], [r for r in rows if r["label"] == "healthy"]
    mistaken = sum(not r["first"] for r in healthy), sum(r["status"] == "healthy" for r in sick)
    print(f"\nruns {len(rows)}: first {share(rows, 'first')}, rule of thumb {share(rows, 'peer')}")
    print(f"sick runs {len(sick)}: first {share(sick, 'first')}, three {share(sick, 'three')}")
    print(f"healthy called sick {mistaken[0]}/{len(healthy)}, sick called healthy {mistaken[1]}/{len(sick)}")
    told = [r for r in rows if r["confidence"] is not None]
    sure, right = np.array([r["confidence"] for r in told]), np.array([r["first"] for r in told])
    low, high = interval(sure, right)
    high_ones = right[sure >= 0.9]
    print(f"Brier {np.mean((sure - right) ** 2):.3f}, calibration error {calibration_error(sure, right):.3f} "
          f"({low:.3f} to {high:.3f}), right at 0.90 or more {high_ones.sum()}/{high_ones.size}; "
          f"{np.mean([r['seconds'] for r in rows]):.2f} s a run")  # fmt: skip


def scored(path: Path) -> dict[str, Any]:
    """One run against its truth."""
    truth = yaml.safe_load(path.read_text())
    begin = time.process_time()
    found = diagnose(path.parent / path.name.removesuffix(".truth.yaml"))
    seconds, labels = time.process_time() - begin, [cause.label for cause in found.causes[:3]]
    right = set(truth["labels"])
    well = found.status == "healthy" and not labels
    thumb = rule_of_thumb(found)
    return {
        "run": path.name.split(".")[0], "label": truth["labels"][0], "status": found.status, "seconds": seconds,
        "first": ("healthy" in right and well) or (bool(labels) and labels[0] in right),
        "three": ("healthy" in right and well) or bool(right & {*labels}), "peer": thumb in right,
        "confidence": found.causes[0].confidence if found.causes else found.confidence if well else None,
        "said": f"{found.status}: " + ", ".join(f"{c.id} {c.confidence:.2f}" for c in found.causes[:3]),
        **{key: truth[key] for key in ("family", "injected", "writer")},
    }  # fmt: skip


def table(key: str, rows: list[dict[str, Any]]) -> None:
    """Shares by one property of the runs."""
    groups = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    print(f"\n{key:20}{'runs':>6}{'first':>14}{'three':>14}")
    for name, some in sorted(groups.items()):
        print(f"{name:20}{len(some):6}{share(some, 'first'):>14}{share(some, 'three'):>14}")


def share(rows: list[dict[str, Any]], key: str) -> str:
    hits = sum(bool(row[key]) for row in rows)
    return f"{hits}/{len(rows)} ({hits / max(len(rows), 1):.0%})"


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Mean over the runs of how far their bin's share of right ones is from its mean confidence."""
    bins = np.minimum((sure * 10).astype(int), 9)
    each = [(bins == b) for b in range(10) if (bins == b).any()]
    return float(sum(some.mean() * abs(sure[some].mean() - right[some].mean()) for some in each))


def interval(sure: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of the calibration error over draws with replacement."""
    chance = np.random.default_rng(0)
    draws = (chance.integers(0, sure.size, sure.size) for _ in range(1000))
    low, high = np.quantile([calibration_error(sure[d], right[d]) for d in draws], [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()
