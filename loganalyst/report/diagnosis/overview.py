"""The run in words, healthy or not: its pace, its checkpoints, how much of it could be judged, what to do with it."""

from collections.abc import Iterator
from dataclasses import dataclass

from loganalyst.model import Diagnosis
from loganalyst.report.common.wording import clean, count, duration, number, percent, size, step

NEAR = 0.02  # of the run: a checkpoint so near to the best value is that of the best value


@dataclass(frozen=True)
class Row:
    """A label and its text."""

    label: str
    text: str


def advice(d: Diagnosis) -> Row | None:
    """What to do with a healthy run, and why."""
    told = d.summary.get("recommendation")
    if not told:
        return None
    ready = "ready: " if told["kind"] == "ready" else ""
    return Row("Next", clean(f"{ready}{told['change']} ({told['why']})"))


def pace(steps_per_second: float) -> str:
    """`12.5 steps a second`, or `41 s a step`."""
    if steps_per_second < 0.2:
        return f"{duration(1 / steps_per_second)} a step"
    return f"{number(steps_per_second)} steps a second"


def checkpoints(d: Diagnosis) -> Iterator[str]:
    """How many there are, the last, the one of the best value, and what is missing or cannot be read."""
    told = d.summary.get("checkpoint")
    last, best = d.summary.get("last_step"), _best(d)
    if told is None:
        if d.run.path.is_dir() and last is not None:
            yield f"none found in the run's folder{best}: its state cannot be taken up again"
        return
    at = f", the last at step {step(told['last_step'])}" if told["last_step"] is not None else ""
    yield count(d.run.checkpoints.height, "file") + at
    if told["named_best"]:
        yield f"best: {clean(told['named_best'], 120)}"
    elif told["nearest_step"] is not None and told["best_step"] is not None:
        near = abs(told["nearest_step"] - told["best_step"]) <= NEAR * max(last or 0, 1)
        says = "best" if near else "none of the best value; the nearest"
        yield f"{says}: {clean(told['nearest'], 120)} (step {step(told['nearest_step'])}{best})"
    if told["unreadable"]:
        yield f"cannot be read (empty): {clean(', '.join(told['unreadable']), 240)}"


def _best(d: Diagnosis) -> str:
    """`, val/loss was best at step 400`."""
    told = d.summary.get("checkpoint") or {}
    metric, at = told.get("best_metric"), told.get("best_step")
    return f"; {clean(metric, 80)} was best at step {step(at)}" if metric and at is not None else ""


def coverage(d: Diagnosis) -> str:
    """How many of the causes that fit such a run could be judged by what was logged; empty where none could."""
    judged = len(d.causes) + sum(r.verdict == "unlikely" for r in d.ruled_out)
    every = judged + len(d.unknown)
    return f"{judged} of {every} causes could be judged ({percent(judged / every)})" if judged and every else ""


def gaps(d: Diagnosis) -> Iterator[Row]:
    """What a reader could not use, where and why."""
    for gap in d.run.gaps.iter_rows(named=True):
        at = f" from byte {gap['offset']:,}" if gap["offset"] else ""
        extent = f" ({size(gap['bytes'])})" if gap["bytes"] else ""
        yield Row(clean(gap["file"], 120) + at, clean(gap["why"]) + extent)
