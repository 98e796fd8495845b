"""The input of the model: range, NaN, balance of the labels, repeated rows.

    input_statistics(loader)                                       # batches of (inputs, labels)
    input_statistics(loader, inputs="input_ids", labels="labels")  # batches that are dicts
    input_statistics(loader, labels=None)                          # no labels; also batches that are one tensor

Healthy: all values are finite; real-valued inputs have a mean near 0 and a deviation near 1; all labels occur.
Suspicious: a single NaN or Inf; inputs that are all the same; real values beyond 100 (not scaled: pixels up to 255);
a label in more than 0.9 of all rows, or 100 times more frequent than another; more than 0.01 of all rows repeated
(sampling with replacement and augmentation change this figure).
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice
from typing import Any

import torch


def input_statistics(
    loader: Iterable[Any], inputs: int | str = 0, labels: int | str | None = 1, batches: int = 100
) -> dict[str, Any]:
    """For the first `batches`: non-finite values; range, mean and deviation of the others; labels; repeated rows."""
    seen: Counter[bytes] = Counter()
    counts: Counter[int] = Counter()
    size = bad = bad_labels = 0
    total = squares = 0.0
    low, high, real = float("inf"), float("-inf"), False
    for drawn in islice(loader, batches):
        batch = {inputs: drawn} if torch.is_tensor(drawn) else drawn
        rows = (
            batch[inputs].detach().cpu().flatten(1) if batch[inputs].ndim > 1 else batch[inputs].detach().cpu()[:, None]
        )
        seen.update(blake2b(row.tobytes()).digest() for row in rows.contiguous().view(torch.uint8).numpy())
        values = rows[rows.isfinite()].double()
        real, size, bad = rows.is_floating_point(), size + len(values), bad + rows.numel() - len(values)
        total, squares = total + values.sum().item(), squares + values.square().sum().item()
        if len(values):
            low, high = min(low, values.min().item()), max(high, values.max().item())
        if labels is not None and not torch.is_tensor(drawn):
            bad_labels += int((~batch[labels].isfinite()).sum())
            if not batch[labels].is_floating_point() and batch[labels].ndim == 1:  # one class for each row
                counts.update(batch[labels].tolist())
    number, mean = seen.total(), total / max(size, 1)
    result = {"rows": number, "nonfinite": bad, "nonfinite_labels": bad_labels, "min": low, "max": high, "mean": mean}
    result |= {"std": max(squares / max(size, 1) - mean**2, 0.0) ** 0.5, "repeated": 1 - len(seen) / max(number, 1)}
    suspicious = _faults(result, counts, real=real)
    print(*(f"{name:<18} {value:>12.6g}" for name, value in result.items()), sep="\n")
    for label, count in counts.most_common(20):
        print(f"label {label:<12} {count:>12,}")
    print(*(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {**result, "labels": dict(counts), "suspicious": suspicious}


def _faults(result: dict[str, float], counts: Counter[int], *, real: bool) -> list[str]:
    """What is unusual in the statistics and the counts of the labels; `real`: the inputs are real-valued."""
    bad, bad_labels, low, high = (result[name] for name in ("nonfinite", "nonfinite_labels", "min", "max"))
    most, least = max(counts.values(), default=0), min(counts.values(), default=0)
    checks = {
        f"{bad} inputs and {bad_labels} labels are not finite": bad + bad_labels > 0,
        f"all inputs are {low:g}": low == high,
        f"inputs reach from {low:g} to {high:g}: not scaled": real and max(-low, high) > 100,
        f"{most} of {counts.total()} rows have the commonest label, {least} the rarest of {len(counts)}": most
        > min(0.9 * counts.total(), 100 * least),
        f"{result['repeated']:.1%} of the rows were seen before": result["repeated"] > 0.01,
    }
    return [text for text, found in checks.items() if found]
