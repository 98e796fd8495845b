"""How well changes are found: ours beside plain ruptures, on labelled synthetic curves and on human annotations.

    python -m tests.bench.change_points [--each 40] [--points 10000] [--seed 2026] [--human] [--wrong]

The thresholds were set on seed 0; the default seed is for judging only. An event counts as found within 1 % of the
points (divergence and plateau also within 3 %, printed apart); every change that is neither true nor benign is wrong.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from loganalyst import signals
from tests.bench import human_annotations
from tests.bench.faulty_curves import suite
from tests.bench.learning_curves import Labelled

Found = list[tuple[int, str]]
Detect = Callable[[Labelled], Found]
SAMPLE = 30  # curves given to ruptures
MOST = 1000  # points of a curve given to ruptures
RUPTURES = (
    ("Pelt l2", "l2", 3 * np.log(MOST)),
    ("Pelt l2, penalty x10", "l2", 30 * np.log(MOST)),
    ("Pelt rbf", "rbf", 10.0),
    ("Window l2, penalty x10", "window", 30 * np.log(MOST)),
)
SETTLED = 1.0  # noise units a curve may still move after a rightly called plateau
LATE = ("divergence", "plateau")  # kinds whose onset is soft


def ours(curve: Labelled) -> Found:
    found = signals.change_points(curve.values, curve.steps, worse=curve.worse, rate=curve.rate)  # type: ignore[arg-type]
    return [(c.index, c.kind) for c in found]


def with_ruptures(model: str, penalty: float) -> Detect:
    """Plain ruptures on at most 1,000 evenly picked points, in units of the noise (sd of the differences)."""
    import ruptures

    def detect(curve: Labelled) -> Found:
        keep = np.flatnonzero(np.isfinite(curve.values))
        keep = keep[:: max(1, -(-keep.size // MOST))]
        x = curve.values[keep]
        x = x / (np.median(np.abs(np.diff(x))) / 0.6745 / np.sqrt(2) or 1.0)
        if model == "window":
            method = ruptures.Window(width=max(10, keep.size // 20), model="l2", jump=2)
        else:
            method = ruptures.Pelt(model=model, min_size=3, jump=2 if model == "l2" else 5)
        return [(int(keep[c]), "level") for c in method.fit(x).predict(pen=penalty)[:-1]]

    return detect


def benign(curve: Labelled, index: int, kind: str) -> bool:
    """Whether a prediction that is no event does no harm."""
    if kind == "plateau":
        rest = curve.clean[index:]
        return float(np.ptp(rest)) <= SETTLED * max(curve.sigma, 0.02) * max(float(np.median(np.abs(rest))), 1e-9)
    return any(abs(index - at) <= curve.values.size // 50 for at in curve.benign)


@dataclass
class Score:
    """Sums over curves; `late` are the events found within 3 %, `named` those within 1 % with the right kind, too."""

    curves: int = 0
    events: int = 0
    hits: int = 0
    named: int = 0
    wrong: int = 0
    late: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, curve: Labelled, found: Found) -> None:
        n = curve.values.size
        self.curves += 1
        for at, what in curve.events:
            close = [k for i, k in found if abs(i - at) <= n // 100]
            self.events += 1
            self.hits += bool(close)
            self.named += what in close
            self.late += any(abs(i - at) <= 3 * n // 100 and k == what for i, k in found)
        near = [(i, k) for i, k in found if all(abs(i - at) > n // 100 for at, _ in curve.events)]
        bad = [k for i, k in near if not benign(curve, i, k)]
        self.wrong += len(bad)
        self.kinds.update(bad)

    def f1(self, hits: int) -> tuple[float, float, float]:
        precision, recall = hits / max(1, hits + self.wrong + self.hits - hits), hits / max(1, self.events)
        return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def score(name: str, detect: Detect, curves: list[Labelled], *, kinds: bool) -> dict[str, Score]:
    whole, healthy, per = Score(), Score(), dict[str, Score]()
    seconds = 0.0
    for curve in curves:
        start = time.process_time()
        found = detect(curve)
        seconds += time.process_time() - start
        for s in (whole, per.setdefault(curve.name, Score()), *([] if curve.events else [healthy])):
            s.add(curve, found)
    precision, recall, f1 = whole.f1(whole.named if kinds else whole.hits)
    alarms = healthy.wrong / max(1, healthy.curves)
    print(
        f"{name:24} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  false alarms per healthy curve "
        f"{alarms:.2f}  kind right {whole.named / max(1, whole.hits):.1%}  {seconds / len(curves) * 1e3:.1f} ms"
    )
    return per


def table(per: dict[str, Score]) -> None:
    for name, s in per.items():
        late = f"within 3 % {s.late / s.events:.2f}" if name in LATE else ""
        wrong = ", ".join(f"{k} {c}" for k, c in s.kinds.most_common())
        print(
            f"  {name:16} {s.curves:3} curves  events {s.events:3}  found {s.hits:3}  kind right {s.named:3}  "
            f"wrong {s.wrong:3}  {late} {wrong}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=40, help="curves of every kind")
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--ours", action="store_true", help="leave ruptures and the human annotations out")
    args = parser.parse_args()
    warnings.filterwarnings("error", category=RuntimeWarning, module="loganalyst")
    curves = list(suite(args.each, args.points, args.seed))
    print(f"{len(curves)} curves of {args.points} points, {sum(not c.events for c in curves)} healthy")
    per = score("loganalyst, kinds too", ours, curves, kinds=True)
    if not args.ours:
        some = curves[:: max(1, len(curves) // SAMPLE)]  # ruptures is slow: an even sample
        for name, model, penalty in RUPTURES:
            score(f"ruptures {name}", with_ruptures(model, penalty), some, kinds=False)
    table(per)
    if not args.ours:
        human_annotations.main()


if __name__ == "__main__":
    main()
