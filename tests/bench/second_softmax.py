"""Classifiers that are trained on purpose with another loss: which of them are told that it is not that of the task.

    python tests/bench/second_softmax.py [--seeds 1 2] [--classes 2 3 4 7 10 16 50] [--keep FOLDER]

Each is trained for 25 epochs on Gaussian blobs, that lie nearer to each other or further apart, and diagnosed by the
CSV of its epochs, alone and beside a config that says how many classes there are. The peer is a rule of thumb: the last
held-out loss is above 1 though nine in ten answers are right.
"""

import argparse
import csv
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import torch
from torch import Tensor, nn

from loganalyst import diagnose

EPOCHS, BATCH, SIZE, WIDTH = 25, 64, 2000, 20
APART = (0.6, 0.8, 1.2)
cross_entropy = nn.functional.cross_entropy
LOSSES: dict[str, Callable[[Tensor, Tensor, nn.Module], Tensor]] = {
    "second softmax": lambda z, y, _: cross_entropy(z.softmax(1), y),
    "plain": lambda z, y, _: cross_entropy(z, y),
    "smoothed by 0.1": lambda z, y, _: cross_entropy(z, y, label_smoothing=0.1),
    "smoothed by 0.2": lambda z, y, _: cross_entropy(z, y, label_smoothing=0.2),
    "weight decay in it": lambda z, y, m: cross_entropy(z, y) + 3e-3 * sum((p**2).sum() for p in m.parameters()),
    "focal": lambda z, y, _: _focal(cross_entropy(z, y, reduction="none")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 3, 4, 7, 10, 16, 50])
    parser.add_argument("--keep", type=Path, help="where the runs go, and stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told = Counter(found(given.keep or Path(folder), given.seeds, given.classes))
    print(
        f"{'told that the loss is not that of the task':44} {'alone':>10} {'classes known':>14} {'rule of thumb':>14}"
    )
    for loss in LOSSES:
        counts = (told[loss, how] for how in ("alone", "known", "thumb"))
        print(f"{loss:30} of {told[loss, 'runs']:3}         " + " ".join(f"{count:>12}" for count in counts))


def found(root: Path, seeds: Sequence[int], classes: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Each loss with `runs` once a run, and with who tells of it."""
    torch.set_num_threads(1)
    for loss, k, apart, seed in product(LOSSES, classes, APART, seeds):
        run = root / f"{loss.replace(' ', '-')}-{k}-{apart}-{seed}"
        run.mkdir(parents=True)
        last, right = trained(run / "metrics.csv", loss, k, apart, seed)
        yield loss, "runs"
        if last > 1 and right > 0.9:
            yield loss, "thumb"
        for how in ("alone", "known"):
            if how == "known":
                (run / "config.yaml").write_text(f"num_classes: {k}\n")
            if any(c.id == "wrong-loss" and c.verdict == "likely" for c in diagnose(run).causes):
                yield loss, how


def trained(file: Path, loss: str, k: int, apart: float, seed: int) -> tuple[float, float]:
    """Write the history of one training; its last held-out loss and accuracy."""
    torch.manual_seed(seed)
    centres = torch.randn(k, WIDTH) * apart
    x, y = _blobs(centres, SIZE)
    held_out = _blobs(centres, SIZE // 3)
    model = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, k))
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    rows = []
    for epoch in range(EPOCHS):
        sums = torch.zeros(2)
        for at in torch.randperm(SIZE).split(BATCH):
            scores = model(x[at])
            value = LOSSES[loss](scores, y[at], model)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            sums += torch.stack([value.detach() * len(at), (scores.argmax(1) == y[at]).sum()])
        with torch.no_grad():
            scores = model(held_out[0])
            ends = LOSSES[loss](scores, held_out[1], model), (scores.argmax(1) == held_out[1]).float().mean()
        rows.append([epoch, *(round(float(v), 4) for v in (*(sums / SIZE), *ends))])
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([["epoch", "train_loss", "train_acc", "val_loss", "val_acc"], *rows])
    return rows[-1][3], rows[-1][4]


def _blobs(centres: Tensor, size: int) -> tuple[Tensor, Tensor]:
    of = torch.randint(0, len(centres), (size,))
    return centres[of] + torch.randn(size, WIDTH), of


def _focal(losses: Tensor) -> Tensor:
    return ((1 - (-losses).exp()) ** 2 * losses).mean()


if __name__ == "__main__":
    main()
