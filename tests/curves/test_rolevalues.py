"""Values that contradict a role."""

from collections.abc import Sequence

import pytest

from loganalyst.curves.rolevalues import changes
from tests.curves.curvesof import claims_of, curves_of

FALLING = [1 / (1 + k / 10) for k in range(20)]


def judged(metric: str, values: Sequence[float], **others: Sequence[float]) -> str:
    """The role of the metric."""
    logged = {metric: values, **others}
    claims = claims_of(*logged)
    return (claims | dict(changes(curves_of(logged), claims)))[metric].role.name


@pytest.mark.parametrize(
    ("metric", "values", "role"),
    [
        ("val_acc", [0.1, 0.5, 0.9], "val_accuracy"),
        ("val_acc", [10.0, 50.0, 100.0], "val_accuracy"),
        ("val_acc", [100.00001, 99.0, 98.0], "val_accuracy"),
        ("val_acc", [1000.0, 4500.0, 9800.0], "other"),
        ("train_acc", [*[0.5] * 19, 250.0], "train_accuracy"),  # a glitch of the log
        ("train_acc", [-0.1, -0.2, -0.3], "other"),
        ("grad_norm", [-1.0, 0.5, -0.5], "other"),
        ("val_ppl", [0.9, 0.5, 0.2], "other"),
        ("val_ppl", [90.0, 5.0, 2.0], "val_perplexity"),
        ("explained_variance", [-3.0, 0.2, 0.9], "explained_variance"),
        ("explained_variance", [3.0, 20.0, 90.0], "other"),
        ("lr", [1e-3, 1e-4, 0.0], "learning_rate"),
        ("train_mse", [-5.0, -4.0, -3.0], "other"),
        ("train_nll", [-5.0, -4.0, -3.0], "train_loss"),
        ("loss", [-5.0, -4.0, -3.0], "train_loss"),
    ],
)
def test_ranges(metric: str, values: list[float], role: str) -> None:
    assert judged(metric, values) == role


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ([35153.0, 12.0, 410.0], "instance_count"),
        ([3.0, 4.0, 7.0], "instance_count"),
        ([0.0, 1.0, 0.0], "loss_component"),  # rounded
        ([3.0, 3.0, 3.0], "loss_component"),
        ([2.5, 1.5, 1.25], "loss_component"),
    ],
)
def test_counts_are_no_terms(values: list[float], role: str) -> None:
    assert judged("box_loss", values, train_loss=FALLING) == role


def test_a_whole_term_of_a_whole_total() -> None:
    """The program prints no decimals."""
    assert judged("box_loss", [30.0, 20.0, 10.0], train_loss=[90.0, 80.0, 70.0]) == "loss_component"


@pytest.mark.parametrize(("factor", "role"), [(1e4, "other"), (100.0, "loss_component"), (0.1, "loss_component")])
def test_what_dwarfs_the_total_is_no_term(factor: float, role: str) -> None:
    assert judged("aux1_loss", [factor * x + 0.01 for x in FALLING], train_loss=FALLING) == role


@pytest.mark.parametrize(
    ("factor", "roles"),
    [
        (1.0, ("train_accuracy", "val_accuracy")),
        (100.0, ("train_accuracy", "val_accuracy")),
        (5.0, ("train_loss", "val_loss")),
    ],
)
def test_rising_shares_of_nameless_measures(factor: float, roles: tuple[str, str]) -> None:
    """A program prints `Acc: Train=0.96 Val=0.84`, and only `Train` and `Val` are names."""
    train, val = ([factor * (1 - x) * top for x in FALLING] for top in (1.0, 0.9))

    assert (judged("Train", train, Val=val), judged("Val", val, Train=train)) == roles
    assert judged("Train", FALLING, Val=val) == "train_loss"


@pytest.mark.parametrize("name", ["full_loss_num", "loss_scaling_factor", "l2_norm"])
def test_names_of_other_numbers(name: str) -> None:
    assert judged(name, FALLING, train_loss=FALLING) == "other"


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ([float(n) for n in range(20)], "wall_time"),
        ([float(n % 10) for n in range(40)], "step_time"),  # too many restarts
        ([float(n % 30) for n in range(60)], "wall_time"),  # one restart
        ([1.0 + n % 2 for n in range(20)], "step_time"),
        ([float(n) for n in range(5)], "step_time"),
    ],
)
def test_a_clock_is_no_step_time(values: list[float], role: str) -> None:
    assert judged("time", values) == role


@pytest.mark.parametrize(
    ("values", "held_out", "role"),
    [
        ([0.0] * 20, FALLING, "other"),
        ([0.0] * 20, [0.5] * 20, "train_loss"),  # nothing moves: the loss may be 0
        ([*[0.0] * 19, 0.5], FALLING, "train_loss"),
        ([0.0] * 4, FALLING, "train_loss"),
    ],
)
def test_a_loss_that_is_always_0_while_the_weights_move(values: list[float], held_out: list[float], role: str) -> None:
    """The program logs 0 in the place of the loss."""
    assert judged("train_loss", values, val_loss=held_out) == role


@pytest.mark.parametrize(
    ("metric", "beside", "role"),
    [
        ("eval_loss", ("eval_win", "eval_draw"), "other"),
        ("arena/losses", ("arena/wins", "arena/draws"), "other"),
        ("vs_random_loss", ("vs_random_win", "vs_random_tie"), "other"),
        ("eval_loss", ("eval_win_rate", "eval_draws_total"), "val_loss"),
        ("eval_loss", ("eval_accuracy",), "val_loss"),
    ],
)
def test_lost_games_are_no_loss(metric: str, beside: tuple[str, ...], role: str) -> None:
    """Wins and draws of the same name say what is counted."""
    assert judged(metric, [20.0, 18.0, 2.0], **{name: [0.0, 2.0, 18.0] for name in beside}) == role


def test_a_score_that_boosting_prints_under_the_name_of_a_loss() -> None:
    """CatBoost prints `learn` and `test` of its metric, whatever that is."""
    rising = [0.7 + 0.01 * k for k in range(20)]
    higher = [x + 0.05 for x in rising]

    assert judged("test", FALLING, learn=FALLING) == "val_loss"
    assert judged("test", rising, learn=FALLING) == "val_score"
    assert judged("test", rising, learn=higher) == "val_accuracy"
    assert judged("learn", higher, test=rising) == "train_accuracy"
