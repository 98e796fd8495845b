"""Change points against human annotators: the univariate series of the Turing Change Point Dataset, where present.

    python -m tests.bench.human_annotations [DIR]

DIR holds `annotations.json` ({series: {annotator: [first indices of new segments]}}) and `<series>.json` with `values`.
The metrics are those of van den Burg and Williams (arXiv 2003.06222): F1 with a margin of five samples, and cover. One
fixed default for all series; nothing was fitted to them.
"""

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loganalyst.signals import change_points

HERE = Path(__file__).parents[2] / "../shared/data/tcpd"
MARGIN = 5
# best default setting of each published method on these 15 series (the dataset's own result files)
PUBLISHED = (
    ("binary segmentation", 0.772, 0.751),
    ("AMOC", 0.771, 0.783),
    ("PELT", 0.754, 0.741),
    ("BOCPD", 0.677, 0.653),
)
Marks = dict[str, list[int]]
Array = NDArray[np.float64]


def f1(found: list[int], annotations: Marks) -> float:
    """Precision against all annotators together, recall as their mean; index 0 belongs to every set."""

    def hits(truth: set[int]) -> int:
        left, count = sorted({0, *found}), 0
        for t in sorted(truth):
            close = [x for x in left if abs(x - t) <= MARGIN]
            if close:
                left.remove(min(close, key=lambda x: abs(x - t)))
                count += 1
        return count

    sets = [{0, *marks} for marks in annotations.values()]
    precision = hits(set().union(*sets)) / len({0, *found})
    recall = float(np.mean([hits(s) / len(s) for s in sets]))
    return 2 * precision * recall / (precision + recall)


def cover(found: list[int], annotations: Marks, n: int) -> float:
    """Mean over annotators of how well their segments are covered by ours (weighted Jaccard index)."""

    def segments(cuts: list[int]) -> list[tuple[int, int]]:
        at = sorted({0, *cuts, n})
        return list(itertools.pairwise(at))

    def best(a: tuple[int, int]) -> float:
        return max(
            max(0, min(a[1], b[1]) - max(a[0], b[0])) / (max(a[1], b[1]) - min(a[0], b[0])) for b in segments(found)
        )

    return float(np.mean([sum((a[1] - a[0]) / n * best(a) for a in segments(marks)) for marks in annotations.values()]))


def ours(values: Array) -> list[int]:
    return [c.index for c in change_points(values)]


def pelt(model: str, penalty: float) -> Callable[[Array], list[int]]:
    """Pelt of ruptures on the standardised series."""
    import ruptures

    def detect(values: Array) -> list[int]:
        x = (values - values.mean()) / (values.std() or 1.0)
        return list(ruptures.Pelt(model=model, min_size=2, jump=1).fit(x).predict(pen=penalty)[:-1])

    return detect


def window(values: Array) -> list[int]:
    import ruptures

    x = (values - values.mean()) / (values.std() or 1.0)
    cuts = ruptures.Window(width=max(4, x.size // 10), model="l2", jump=1).fit(x).predict(pen=2 * np.log(x.size))
    return list(cuts[:-1])


def main(folder: Path = HERE) -> None:
    if not folder.exists():
        print(f"no human-annotated series at {folder}")
        return
    annotations = json.loads((folder / "annotations.json").read_text())
    read = {f.stem: json.loads(f.read_text()).get("values") for f in sorted(folder.glob("*.json"))}
    series = {k: np.array(v, float) for k, v in read.items() if v is not None and np.ndim(v) == 1}
    methods = {
        "loganalyst": ours,
        "ruptures Pelt l2": pelt("l2", 10.0),
        "ruptures Pelt rbf": pelt("rbf", 10.0),
        "ruptures Window l2": window,
        "no change": lambda _: [],
    }
    for name, method in methods.items():
        found = {k: method(v) for k, v in series.items()}
        scores = [(f1(found[k], annotations[k]), cover(found[k], annotations[k], v.size)) for k, v in series.items()]
        mean = np.mean(scores, axis=0)
        print(f"human annotations ({len(series)} series) {name:20} F1 {mean[0]:.3f}  cover {mean[1]:.3f}")
        if name == "loganalyst":
            for (k, v), s in zip(series.items(), scores, strict=True):
                print(f"  {k:20} n {v.size:4}  F1 {s[0]:.2f}  cover {s[1]:.2f}  {found[k]}")
    for name, published, covered in PUBLISHED:
        print(f"human annotations (published default) {name:20} F1 {published:.3f}  cover {covered:.3f}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
