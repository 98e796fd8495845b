"""A run in numbers: the rows at the end of every report."""

from collections.abc import Iterable, Mapping
from typing import Any

from loganalyst.model import Diagnosis
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, count, duration, number, step
from loganalyst.report.diagnosis.overview import checkpoints, coverage, pace
from loganalyst.report.diagnosis.stepwords import named_by

_ENOUGH = 3  # points that show how a metric counts
_NEAR_END = 0.8  # of the lines of its log: a metric that is still printed there did not end early
_FEWER = 0.5  # of the last step of the run


def best(d: Diagnosis) -> tuple[str, ...]:
    """The best value of each headline metric, validation metrics first. A single value is not called the best.

    A metric with the role, best value and step of one before it is the same under another name.
    """
    held_out_first = sorted(d.summary.get("metrics", ()), key=lambda m: not m["role"].startswith("val_"))
    held_out_first = [*{(m["role"], m["best"], m["best_step"]): m for m in reversed(held_out_first)}.values()][::-1]
    return tuple(
        ("best " if m["points"] > 1 else "")
        + f"{clean(m['metric'], 80)} {number(m['best'])}{_at(d, m['best_step'])}{_of_its_own(d, m)}"
        for m in held_out_first
    )


def _of_its_own(d: Diagnosis, m: Mapping[str, Any]) -> str:
    """` of its own counter`, where a metric goes on to the end of its log but counts far fewer steps than the others:
    updates beside batches, such as `val step 832` below `batch 28,800`.
    """
    curve = next((c for c in d.curves if c.metric == m["metric"] and len(c.lines)), None)
    last, beside = d.summary.get("last_step"), [c for c in d.curves if len(c.lines)]
    if curve is None or last is None or m["points"] < _ENOUGH or d.features.values.get("run_steps_are_rows"):
        return ""
    end = max(int(c.lines[-1]) for c in beside if c.source == curve.source)
    to_the_end = int(curve.lines[-1]) >= _NEAR_END * end
    return " of its own counter" if to_the_end and int(curve.steps[-1]) < _FEWER * last else ""


def facts(d: Diagnosis) -> Iterable[Row]:
    """Path, origin, progress, speed, amount of data, headline metrics, checkpoints, coverage, and files left out."""
    yield Row("Path", clean(d.run.path))
    yield Row("Run id", clean(d.run.id))
    if d.run.framework or d.run.host:
        yield Row("Made by", clean(", on ".join(t for t in (d.run.framework, d.run.host) if t)))
    for label, key, say in (
        ("Duration", "duration_s", duration),
        ("Last step", "last_step", step),
        ("Epochs", "epochs", number),
        ("Speed", "steps_per_second", pace),
    ):
        of_rows = key == "last_step" and d.features.values.get("run_steps_are_rows")
        if d.summary.get(key) is not None and not of_rows:
            yield Row(label, say(d.summary[key]))
    yield Row("Read", f"{count(d.run.points.height, 'point')} of {count(len(d.metrics), 'metric')}")
    for m in d.summary.get("metrics", ()):
        ends = f"{number(m['first'])} → {number(m['last'])}{_at(d, m['last_step'])}"
        course = f"{ends}; best {number(m['best'])}{_at(d, m['best_step'])}"
        once = f"{number(m['last'])}{_at(d, m['last_step'])}, its only value"
        yield Row(clean(m["metric"], 80), course if m["points"] > 1 else once)
    yield from (Row("Checkpoints", text) for text in checkpoints(d))
    if judged := coverage(d):
        yield Row("Coverage", judged)
    yield from (Row("Joined", clean(basis)) for basis in d.run.basis)
    for log in d.run.suggested:
        yield Row("Not joined", clean(f"may belong to this run: {log}; name it after the run to join it"))
    yield from (Row("Left out", clean(ignored)) for ignored in d.run.ignored)


def _at(d: Diagnosis, place: int | None) -> str:
    """` at step 1,500`; ` in row 31` where the log has no such steps, and nothing where each metric has one value."""
    if not d.features.values.get("run_steps_are_rows") or place is None:
        return f" at step {step(place)}"
    return f" in {named_by(d)(place)}" if d.summary.get("last_step") else ""
