"""Names for metrics of several evaluation sets."""

import polars as pl

from loganalyst.model import table
from loganalyst.sources.files.evaluationsets import named


def points_of(rows: list[tuple[str, int, float]]) -> pl.DataFrame:
    metrics, steps, values = zip(*rows, strict=True)
    return table(
        "points",
        {"metric": list(metrics), "step": list(steps), "value": list(values), "source": ["a.json"] * len(rows)},
    )


def evaluation(step: int, *sets: str, head: str = "eval_") -> list[tuple[str, int, float]]:
    """What TRL logs for each set at a step: the trainer's own metrics with its name, and a margin without it."""
    rows = []
    for i, name in enumerate(sets):
        rows += [(f"{head}{name}_loss", step, 0.5), (f"{head}{name}_runtime", step, 1.0)]
        rows += [(f"{head}rewards/margins", step, 10.0 * step + i)]
    return rows


def values(points: pl.DataFrame, metric: str) -> list[float]:
    return points.filter(pl.col("metric") == metric)["value"].to_list()


def test_each_set_gets_its_values() -> None:
    """In the order of the sets, for JSON and for TensorBoard; metrics of the training stay as they are."""
    for head in ("eval_", "eval/", "run/eval/"):
        rows = [
            ("rewards/margins", 1, 0.1),
            *evaluation(1, "new", "old", head=head),
            *evaluation(2, "new", "old", head=head),
        ]
        found = named(points_of(rows))

        assert values(found, f"{head}new_rewards/margins") == [10.0, 20.0]
        assert values(found, f"{head}old_rewards/margins") == [11.0, 21.0]
        assert values(found, "rewards/margins") == [0.1]
        assert f"{head}rewards/margins" not in set(found["metric"])
        assert found["value"].to_list() == [value for _, _, value in rows]


def test_the_last_evaluation_may_lack_a_set() -> None:
    """A run that ends between the evaluations of two sets."""
    found = named(points_of([*evaluation(1, "new", "old"), *evaluation(2, "new")]))

    assert values(found, "eval_new_rewards/margins") == [10.0, 20.0]
    assert values(found, "eval_old_rewards/margins") == [11.0]


def test_one_set_or_one_value_a_step_keeps_its_name() -> None:
    """Nothing shows of which set a single value is."""
    alone = points_of(evaluation(1, "new"))
    once = points_of([*evaluation(1, "new", "old"), ("eval_bleu", 1, 30.0)])

    assert named(alone).equals(alone)
    assert values(named(once), "eval_bleu") == [30.0]
    assert named(table("points")).height == 0
