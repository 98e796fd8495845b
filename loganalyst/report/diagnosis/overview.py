"""A run in words: its pace, its checkpoints, how many causes could be judged, and what to do next."""

from collections.abc import Iterator

from loganalyst.model import Diagnosis
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, count, duration, number, percent, size, step

MAX_DISTANCE_TO_BEST = 0.02  # share of the run: a checkpoint this close to the best value counts as the best
MAX_NODES = 8  # named in a sentence
RESTARTS = {"restart": "yes", "do_not_restart": "no", "unknown": "not known"}
MIN_STEPS_A_SECOND = 0.2  # slower runs are described in seconds a step


def advice(d: Diagnosis) -> Row | None:
    """What to do next with a healthy run, and why."""
    advised = d.summary.get("recommendation")
    if not advised:
        return None
    ready = "ready: " if advised["kind"] == "ready" else ""
    return Row("Next", clean(f"{ready}{advised['change']} ({advised['why']})"))


def restart(d: Diagnosis) -> Row | None:
    """Whether to start a run again that was broken off, and why."""
    found = d.restart
    if found is None:
        return None
    nodes = ", ".join(clean(node, 80) for node in found.exclude_nodes[:MAX_NODES])
    away = f" without {nodes}" if nodes else " on another node"
    again = f" ({found.in_a_row} attempts in a row)" if found.in_a_row > 1 else ""
    answer = {**RESTARTS, "restart_elsewhere": f"yes,{away}"}[found.verdict]
    return Row("Restart", clean(f"{answer}: {found.reason}{again}", 400))


def pace(steps_per_second: float) -> str:
    """`12.5 steps a second`, or `41 s a step`."""
    if steps_per_second < MIN_STEPS_A_SECOND:
        return f"{duration(1 / steps_per_second)} a step"
    return f"{number(steps_per_second)} steps a second"


def checkpoints(d: Diagnosis) -> Iterator[str]:
    """Sentences on the checkpoints: how many, the last, the best, and what is missing or cannot be read."""
    found = d.summary.get("checkpoint")
    last, best = d.summary.get("last_step"), _best(d)
    if found is None:
        if d.run.path.is_dir() and last is not None:
            yield f"none found in the run's folder{best}"
        return
    at = f", the last at step {step(found['last_step'])}" if found["last_step"] is not None else ""
    yield count(d.run.checkpoints.height, "file") + at
    if found["named_best"]:
        yield f"best: {clean(found['named_best'], 120)}"
    elif found["nearest_step"] is not None and found["best_step"] is not None:
        near = abs(found["nearest_step"] - found["best_step"]) <= MAX_DISTANCE_TO_BEST * max(last or 0, 1)
        label = "best" if near else "none at the best value; the nearest"
        yield f"{label}: {clean(found['nearest'], 120)} (step {step(found['nearest_step'])}{best})"
    if found["unreadable"]:
        yield f"cannot be read (empty): {clean(', '.join(found['unreadable']), 240)}"


def keep(d: Diagnosis) -> str:
    """The checkpoint to keep, as a path, if it is not the last one; empty if that is not known."""
    found = d.summary.get("checkpoint") or {}
    if found.get("named_best"):
        return clean(found["named_best"], 120)
    near, best = found.get("nearest_step"), found.get("best_step")
    if near is None or best is None or near == found["last_step"]:
        return ""
    metric = clean(found["best_metric"], 80)
    distance = f"the nearest to the best {metric}, of step {step(best)}" if near != best else f"{metric} was best there"
    return f"{_folder(found['nearest'], near)} (step {step(near)}): {distance}"


def _folder(path: str, at: int) -> str:
    """The folder of a checkpoint whose name has the step, such as `checkpoint-2000`; else its file."""
    parts = clean(path, 160).split("/")
    named = next((i for i, part in enumerate(parts[:-1], 1) if part.endswith(str(at))), 0)
    return "/".join(parts[:named]) if named else "/".join(parts)


def _best(d: Diagnosis) -> str:
    """`, val/loss was best at step 400`."""
    found = d.summary.get("checkpoint") or {}
    metric, at = found.get("best_metric"), found.get("best_step")
    return f"; {clean(metric, 80)} was best at step {step(at)}" if metric and at is not None else ""


def coverage(d: Diagnosis) -> str:
    """How many of the applicable causes could be judged from the logs; empty if none could."""
    judged = (
        len(d.causes) + len(d.alternatives) + sum(r.verdict == "unlikely" for r in (*d.ruled_out, *d.not_supported))
    )
    every = judged + len(d.unknown)
    return f"{judged} of {every} causes could be judged ({percent(judged / every)})" if judged and every else ""


def gaps(d: Diagnosis) -> Iterator[Row]:
    """What a reader could not use, with the place and the reason."""
    for gap in d.run.gaps.iter_rows(named=True):
        at = f" from byte {gap['offset']:,}" if gap["offset"] else ""
        extent = f" ({size(gap['bytes'])})" if gap["bytes"] else ""
        yield Row(clean(gap["file"], 120) + at, clean(gap["why"]) + extent)
