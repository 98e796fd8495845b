"""The effective history of a run."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import polars as pl
import pytest

from loganalyst.curves.effective import curves, effective, last_training, stand_ins
from loganalyst.curves.roles import all_roles, assign
from loganalyst.model import Run, Source, table


def points(
    session: int, steps: Sequence[int | None], values: Sequence[float], metric: str = "loss", source: str = "a"
) -> pl.DataFrame:
    return table(
        "points", {"session": session, "metric": metric, "step": list(steps), "value": list(values), "source": source}
    )


def kept(*parts: pl.DataFrame) -> list[float]:
    every = pl.concat(parts)
    rows = effective(every, {"a": "tensorboard", "b": "csv", "c": "tensorboard"})
    return every["value"].to_list() if rows is None else every["value"][rows].to_list()


def test_a_last_evaluation_that_is_printed_twice_outvotes_no_file() -> None:
    """Eight logged values count next to nine printed ones without steps; four do not, next to nine."""
    printed = points(0, range(9), [0.5] * 9, "eval_loss", "log")
    for logged, value in ((8, 0.4), (4, 0.5)):
        every = pl.concat([printed, points(0, range(10, 10 + logged), [0.4] * logged, "eval_loss", "state")])
        rows = effective(every, {"log": "text", "state": "json"})
        assert rows is not None
        assert set(every["value"][rows]) == {value}


def test_repeated_steps_count_once() -> None:
    """After a restart from step 3, the values of the later session count."""
    assert kept(points(0, range(5), [10, 11, 12, 13, 14]), points(1, [3, 4, 5], [23, 24, 25])) == [
        10,
        11,
        12,
        23,
        24,
        25,
    ]


def test_a_fresh_start_replaces_the_session_before() -> None:
    """A session that begins at the first step again is another training."""
    assert kept(points(0, range(3), [1, 2, 3]), points(1, range(3), [7, 8, 9])) == [7, 8, 9]


def test_the_same_metric_in_two_formats_counts_once() -> None:
    """The longer record is used."""
    both = [points(0, range(3), [1, 2, 3]), points(0, range(4), [5, 6, 7, 8], source="b")]

    assert kept(*both) == [5, 6, 7, 8]


def test_as_many_points_in_a_file_as_were_printed() -> None:
    """A Keras history counts epochs from 0, its progress bar from 1: they are no points of one curve."""
    rows = [(0, i, 2.5 - i / 4, "history.csv") for i in range(3)] + [
        (0, i + 1, 2.5 - i / 4, "log.txt") for i in range(3)
    ]
    columns = dict(zip(("session", "step", "value", "source"), zip(*rows, strict=True), strict=True))
    for kept, printed in ((3, 0), (2, 3)):  # with fewer points in the file, the printed ones count
        points = table("points", {"metric": ["loss"] * 6, **columns})[[*range(kept), 3, 4, 5]]
        rows_used = effective(points, {"history.csv": "csv", "log.txt": "text"})
        assert rows_used is not None
        assert points[rows_used]["source"].to_list() == ["history.csv"] * (3 - printed) + ["log.txt"] * printed


def test_files_written_in_parallel_are_sorted_by_step() -> None:
    """Files written later, or with steps that go back, follow the earlier ones."""
    one, two = points(0, [1, 4, 6], [1, 2, 3]), points(0, [2, 3, 6], [4, 5, 3], source="c")
    assert kept(one, two) == [1, 4, 5, 2, 3]

    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    begun, again = (f.with_columns(time=pl.lit(t, f["time"].dtype)) for f, t in ((one, early), (two, late)))
    assert kept(begun, again) == [1, 2, 3, 4, 5]
    assert kept(one, points(0, [3, 2, 6], [5, 4, 3], source="c")) == [1, 2, 3, 5, 4]


def test_points_without_steps_are_kept() -> None:
    """A NULL step is unknown, not superseded."""
    assert kept(points(0, [None, None], [1, 2]), points(1, [0], [3])) == [1, 2, 3]


def run_of(frame: pl.DataFrame) -> Run:
    return Run(points=frame, sources=(Source("a", "csv", 1),))


def test_nan_stays_in_the_curve() -> None:
    """NaN and infinity are data."""
    run = run_of(points(0, range(3), [1.0, float("nan"), float("inf")]))
    (curve,) = curves(run, assign(["loss"]))

    assert [str(v) for v in curve.values] == ["1.0", "nan", "inf"]
    assert curve.steps.tolist() == [0, 1, 2]


def test_terms_without_a_total_are_summed() -> None:
    """Loss terms at the same steps make a training loss if none was logged."""
    frame = pl.concat([points(0, range(2), [1, 2], "train/box_loss"), points(0, range(2), [10, 20], "train/cls_loss")])
    found = curves(run_of(frame), assign(["train/box_loss", "train/cls_loss"]))
    (summed,) = stand_ins(found, all_roles())

    assert summed.values.tolist() == [11.0, 22.0]
    assert summed.metric == "train/box_loss + train/cls_loss"


def test_a_logged_total_is_not_replaced() -> None:
    """With a logged total nothing is summed."""
    names = ["loss", "box_loss", "cls_loss"]
    frame = pl.concat([points(0, range(2), [1, 2], n) for n in names])

    assert stand_ins(curves(run_of(frame), assign(names)), all_roles()) == []


def of_metrics(**logged: Sequence[float]) -> list[str]:
    """Names and roles of the curves that replace the losses missing in `logged`."""
    frame = pl.concat([points(0, range(len(v)), v, name) for name, v in logged.items()])
    return [f"{c.metric}: {c.role.name}" for c in stand_ins(curves(run_of(frame), assign(list(logged))), all_roles())]


def test_the_fitness_of_a_population_is_its_reward() -> None:
    """The average says more than the best; next to a loss the fitness is a score of a detector."""
    assert of_metrics(Best_Fitness=[1.0, 2.0], Avg_Fitness=[0.5, 1.0]) == ["reward: Avg_Fitness: reward"]
    assert of_metrics(best_fitness=[1.0, 2.0]) == ["reward: best_fitness: reward"]
    assert of_metrics(fitness=[1.0, 2.0], val_loss=[2.0, 1.0]) == []
    assert of_metrics(fitness=[1.0, 2.0], reward=[2.0, 1.0]) == []


def test_the_margin_of_two_implicit_rewards() -> None:
    """Rewards of a policy begin at 0; scores of a reward model do not, and a logged margin is not replaced."""
    policy = {"chosen_reward": [0.0, -1.0], "rejected_reward": [0.05, -3.0]}

    assert of_metrics(**policy) == ["chosen_reward - rejected_reward: preference_margin"]
    assert of_metrics(chosen_reward=[2.0, 3.0], rejected_reward=[1.0, 0.0]) == []
    assert of_metrics(**policy, margin=[0.0, 2.0]) == []


def test_a_perplexity_alone_is_a_loss() -> None:
    """Its logarithm, for training and held-out data; an infinite or zero perplexity has no finite one."""
    frame = pl.concat([points(0, range(3), [8.0, math.inf, 0.0], "ppl"), points(0, [0], [4.0], "val_ppl")])
    train, val = stand_ins(curves(run_of(frame), assign(["ppl", "val_ppl"])), all_roles())

    assert (train.metric, train.role.name, val.metric, val.role.name) == (
        "ln ppl",
        "train_loss",
        "ln val_ppl",
        "val_loss",
    )
    assert train.values.tolist() == [math.log(8), math.inf, -math.inf]
    assert val.values.tolist() == [math.log(4)]


def test_a_perplexity_with_its_loss_adds_no_curve() -> None:
    """A logged loss is not replaced, and the perplexity of codes is no loss."""
    assert of_metrics(loss=[1.0], ppl=[2.7], val_ppl=[3.0]) == ["ln val_ppl: val_loss"]
    assert of_metrics(loss=[1.0], val_loss=[1.0], ppl=[2.7], val_ppl=[3.0]) == []
    assert of_metrics(recon_loss=[1.0], perplexity=[300.0]) == []


FALL = [0.47, 0.37, 0.31, 0.27, 0.22, 0.17, 0.13, 0.11]


def epochs(values: Sequence[float], epochs: Sequence[float], metric: str = "loss", session: int = 0) -> pl.DataFrame:
    steps = range(10 * session, 10 * session + len(values))
    return points(session, steps, values, metric).with_columns(pl.Series("epoch", epochs, dtype=pl.Float64))


def test_the_last_of_several_trainings_counts() -> None:
    """It starts where epochs restart and the loss returns to its start; other curves are cut there too."""
    counted = [*range(1, 9)] * 3
    frame = pl.concat([epochs(FALL * 3, counted), epochs([2 * v for v in FALL] * 3, counted, "val_loss")])
    loss, val = last_training(curves(run_of(frame), assign(["loss", "val_loss"])))

    assert (loss.steps.tolist(), loss.values.tolist()) == ([*range(16, 24)], FALL)
    assert (val.steps.tolist(), val.values.tolist()) == ([*range(16, 24)], [2 * v for v in FALL])


def test_a_second_training_is_recognised_by_its_held_out_loss() -> None:
    """Few losses per epoch; the first held-out ones carry the step of the previous training."""
    values = [0.012, 0.004, 0.002, 1.3, 0.9, 0.6, 0.5]
    val = points(0, [3, 8, 12, 12, 12, 13, 14], values, "val_loss").with_columns(
        pl.Series("epoch", [1, 2, 3, 1, 2, 3, 4], dtype=pl.Float64), pl.Series("line", [9, 15, 20, 32, 33, 35, 36])
    )
    rate = points(0, [11, 12, 13], [2e-6, 1e-6, 4e-5], "lr").with_columns(pl.Series("line", [18, 19, 34]))
    val_loss, lr = last_training(curves(run_of(pl.concat([val, rate])), assign(["val_loss", "lr"])))

    assert (val_loss.steps.tolist(), val_loss.values.tolist()) == ([12, 12, 13, 14], [1.3, 0.9, 0.6, 0.5])
    assert lr.values.tolist() == [4e-5]


def test_a_training_that_begins_below_the_end_of_the_one_before() -> None:
    """The first two show that the table holds several trainings of eight epochs; the third is a better model."""
    better = [x / 10 for x in FALL]
    (loss,) = last_training(curves(run_of(epochs([*FALL, *FALL, *better], [*range(1, 9)] * 3)), assign(["loss"])))

    assert loss.values.tolist() == better

    shorter = [*range(1, 9), *range(1, 9), *range(1, 8)]  # perhaps cut off, perhaps a second phase
    (loss,) = last_training(curves(run_of(epochs([*FALL, *FALL, *better[:7]], shorter)), assign(["loss"])))

    assert loss.values.tolist() == [*FALL, *better[:7]]


@pytest.mark.parametrize(
    ("values", "counted"),
    [
        (FALL * 2, range(1, 17)),  # epochs go on: whatever happened there is to be judged
        (FALL * 2, [1] * 16),  # one epoch at a time
        ([*FALL, *(0.11 - 0.01 * i for i in range(8))], [*range(1, 9)] * 2),  # goes on where it was
        ([*FALL, *FALL], [*range(9, 17), *range(12, 20)]),  # not from the first
        ([*FALL, 0.47, 0.37], [*range(1, 9), 1, 2]),  # too few for a level
        (FALL[::-1] * 2, [*range(1, 9)] * 2),  # nothing was learned that could be lost
    ],
)
def test_curves_of_a_single_training_are_kept(values: list[float], counted: Sequence[float]) -> None:
    (loss,) = last_training(curves(run_of(epochs(values, list(counted))), assign(["loss"])))

    assert loss.values.tolist() == values


def folds(metric: str, begins: float) -> pl.DataFrame:
    """Three folds of boosting: steps count from 100 again, without epochs, and the score starts over."""
    values = [begins + 0.01 * k for k in range(8)]
    steps = [100 * (k + 1) for k in range(8)]
    return points(0, steps * 3, values * 3, metric).with_columns(pl.Series("line", range(1, 25)))


def test_the_last_fold_counts_where_only_scores_are_printed() -> None:
    both = pl.concat([folds("train's auc", 0.9), folds("valid's auc", 0.85)])
    found = curves(run_of(both), assign(["train's auc", "valid's auc"]))
    train, valid = last_training(found)

    assert train.steps.tolist() == valid.steps.tolist() == [100 * (k + 1) for k in range(8)]
    assert valid.lines.tolist() == [*range(17, 25)]


def test_a_score_of_held_out_data_alone_starts_nothing() -> None:
    """It may fall at a restart of the schedule, or for another set."""
    (valid,) = last_training(curves(run_of(folds("valid's auc", 0.85)), assign(["train's auc", "valid's auc"])))

    assert valid.values.size == 24
