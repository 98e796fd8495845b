"""How well changes are found: ours beside plain ruptures, on labelled synthetic curves and on human annotations.

Run from the checkout: python -m tests.bench.change_points [curves per kind] [points].
An onset counts as found within 1 % of the points.
"""

import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from loganalyst import signals
from tests.bench.learning_curves import Labelled, suite

Found = list[tuple[int, str]]
TCPD = Path(__file__).parents[2] / "../shared/data/tcpd"
SAMPLE = 30  # curves given to ruptures
RUPTURES = (
    ("Pelt l2", "l2", 3 * np.log(1000)),
    ("Pelt l2, penalty x10", "l2", 30 * np.log(1000)),
    ("Pelt rbf", "rbf", 10.0),
)
SETTLED = 1.0  # noise units a curve may still move after a rightly called plateau


def ours(curve: Labelled) -> Found:
    return [(c.index, c.kind) for c in signals.change_points(curve.values, worse=curve.worse)]  # type: ignore[arg-type]


def with_ruptures(model: str, penalty: float) -> Callable[[Labelled], Found]:
    """Pelt on at most 1,000 evenly picked points, in units of the noise (sd of the differences)."""
    import ruptures

    def detect(curve: Labelled) -> Found:
        keep = np.flatnonzero(np.isfinite(curve.values))
        keep = keep[:: max(1, -(-keep.size // 1000))]
        x = curve.values[keep]
        x = x / (np.median(np.abs(np.diff(x))) / 0.6745 / np.sqrt(2) or 1.0)
        cuts = ruptures.Pelt(model=model, min_size=3, jump=2 if model == "l2" else 5).fit(x).predict(pen=penalty)
        return [(int(keep[c]), "level") for c in cuts[:-1]]

    return detect


def right(curve: Labelled, index: int, kind: str, named: bool) -> bool:
    """Whether a prediction is true or benign."""
    near = curve.values.size // 100
    if any(abs(index - at) <= near and (not named or kind == what) for at, what in curve.events):
        return True
    if kind == "plateau":
        rest = curve.clean[index:]
        return float(np.ptp(rest)) <= SETTLED * max(curve.sigma, 0.02) * max(float(np.median(np.abs(rest))), 1e-9)
    return any(abs(index - at) <= 2 * near for at in curve.benign)


def score(name: str, detect: Callable[[Labelled], Found], curves: list[Labelled], named: bool) -> dict[str, list[int]]:
    hit, missed, wrong, false, seconds = 0, 0, 0, [], 0.0
    per: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for curve in curves:
        start = time.process_time()
        found = detect(curve)
        seconds += time.process_time() - start
        near = curve.values.size // 100
        hits = sum(any(abs(i - at) <= near and (not named or k == what) for i, k in found) for at, what in curve.events)
        bad = sum(not right(curve, i, k, named) for i, k in found)
        hit, missed, wrong = hit + hits, missed + len(curve.events) - hits, wrong + bad
        if not curve.events:
            false.append(bad)
        row = per[curve.name]
        per[curve.name] = [row[0] + 1, row[1] + hits, row[2] + len(curve.events) - hits, row[3] + bad]
    precision, recall = hit / max(1, hit + wrong), hit / max(1, hit + missed)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    print(
        f"{name:24} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  "
        f"false alarms per healthy curve {np.mean(false):.2f}  {seconds / len(curves) * 1e3:.1f} ms"
    )
    return per


def tcpd_f1(found: list[int], annotations: dict[str, list[int]], margin: int = 5) -> float:
    """F1 as van den Burg and Williams define it (index 0 belongs to every set)."""

    def hits(truth: set[int]) -> int:
        left, count = sorted({0, *found}), 0
        for t in sorted(truth):
            close = [x for x in left if abs(x - t) <= margin]
            if close:
                left.remove(min(close, key=lambda x: abs(x - t)))
                count += 1
        return count

    sets = [{0, *marks} for marks in annotations.values()]
    precision = hits(set().union(*sets)) / len({0, *found})
    recall = float(np.mean([hits(s) / len(s) for s in sets]))
    return 2 * precision * recall / (precision + recall)


def human() -> None:
    """F1 on the univariate series of the Turing Change Point Dataset, where they are present."""
    if not TCPD.exists():
        print(f"no human-annotated series at {TCPD}")
        return
    marks = json.loads((TCPD / "annotations.json").read_text())
    methods = {"loganalyst": ours, "ruptures Pelt l2": with_ruptures("l2", 30.0), "no change": lambda _: []}
    scores: dict[str, list[float]] = defaultdict(list)
    for file in sorted(TCPD.glob("*.json")):
        values = np.array(json.loads(file.read_text())["values"] if file.stem != "annotations" else [[0, 0]], float)
        if values.ndim == 1:
            curve = Labelled(file.stem, values, values, 1.0)
            for name, method in methods.items():
                scores[name].append(tcpd_f1([i for i, _ in method(curve)], marks[file.stem]))
    for name, f1 in scores.items():
        print(f"human annotations ({len(f1)} series) {name:18} F1 {np.mean(f1):.3f}")


def main(each: int = 12, n: int = 10_000) -> None:
    warnings.filterwarnings("error", category=RuntimeWarning, module="loganalyst")
    curves = list(suite(each, n))
    print(f"{len(curves)} curves of {n} points, {sum(not c.events for c in curves)} healthy")
    per = score("loganalyst, kinds too", ours, curves, named=True)
    score("loganalyst, places", ours, curves, named=False)
    some = curves[:: max(1, len(curves) // SAMPLE)]  # ruptures is slow: an even sample
    for name, model, penalty in RUPTURES:
        score(f"ruptures {name}", with_ruptures(model, penalty), some, named=False)
    for name, (count, hit, missed, wrong) in per.items():
        print(f"  {name:16} {count:3} curves  hit {hit:3}  missed {missed:3}  wrong {wrong:3}")
    human()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
