"""Repeats the steps from the same state with the same seed: is the result the same?"""

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import leaves
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `batches`, `operations`, `identical`. Differences become notes, because they affect every comparison."""
    other = _unstable_batch(bench)
    if other is not None:
        note = "batches(i) gives other values each time: the replay does not read what the training read"
        bench.notes.extend([note] if note not in bench.notes else [])
        return Measured("batches", f"{note} (batch {other:,})", True, {"batch": other}, start=bench.start)
    steps = min(bench.steps, int(bench.limits["steps"]))
    first, second = bench.train(seed, steps=steps), bench.train(seed, steps=steps)
    series = {"first": first.losses, "second": second.losses}
    pairs = zip(first.losses, first.norms, second.losses, second.norms, strict=False)
    step = next((bench.start + i for i, (a, b, c, d) in enumerate(pairs) if repr((a, b)) != repr((c, d))), None)
    if step is None and len(first.losses) != len(second.losses):
        return Measured(INCONCLUSIVE, "one of two runs ended earlier", series=series, start=bench.start)
    if step is None:
        text = f"{steps} repeated steps give bitwise equal losses and gradient norms"
        return Measured("identical", text, False, {"steps": steps}, series, bench.start)
    note = f"repeated steps differ from step {step:,} on: small differences mean nothing"
    bench.notes.extend([note] if note not in bench.notes else [])
    return Measured("operations", note, True, {"step": step}, series, bench.start)


def _unstable_batch(bench: Bench) -> int | None:
    """The first batch that differs when it is requested again."""
    import torch

    first = bench.start * bench.spec.accumulate
    for index in range(first, first + int(bench.limits["batches"])):
        pairs = zip(leaves(bench.batch(index)), leaves(bench.batch(index)), strict=False)
        if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for (_, a), (_, b) in pairs):
            return index
    return None
