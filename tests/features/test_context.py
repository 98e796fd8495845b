"""What every feature family looks at: curves by role, settings, levels and witnesses."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features.context import (
    Context,
    event,
    first_level,
    first_witness,
    last_level,
    logged_near,
    lowest_index,
    median,
    ratio,
    tau,
    witness_at,
)
from loganalyst.model import Witness, table

ContextOf = Callable[..., Context]
NAN = float("nan")


def test_curves_of_a_role_come_longest_first_then_losses_then_short_names(context_of: ContextOf) -> None:
    context = context_of(
        {"train/nll": [1.0] * 5, "train/xent_loss": [1.0] * 5, "train/loss": [1.0] * 5, "loss": [1.0] * 9}
    )

    names = [curve.metric for curve in context.with_role("train_loss")]

    assert names == ["loss", "train/loss", "train/xent_loss", "train/nll"]
    assert context.with_role("val_loss") == []


@pytest.mark.parametrize(
    ("logged", "entropies"),
    [
        ({"entropy": [1.0]}, 1),
        ({"entropy": [1.0], "train_accuracy": [0.5]}, 0),
        ({"entropy": [1.0], "train_accuracy": [0.5], "reward": [1.0]}, 1),
    ],
)
def test_an_entropy_with_an_accuracy_is_one_of_predictions(
    context_of: ContextOf, logged: dict[str, list[float]], entropies: int
) -> None:
    assert len(context_of(logged).policy_entropy()) == entropies


def test_settings_are_found_by_the_end_of_their_keys(context_of: ContextOf) -> None:
    """The order of the asked keys decides before the order of the settings."""
    context = context_of({}, config={"model.Optim.lr": 0.1, "lr": "auto", "data.name": "books"})

    assert context.number("learning_rate", "lr") == 0.1
    assert context.number("optim.lr") == 0.1
    assert context.text("name", "lr") == "books"
    assert context.text("lr") == "0.1"
    assert context.number("name") is None


def test_a_sum_of_losses_has_another_scale_than_a_mean(context_of: ContextOf) -> None:
    context = context_of({"train_loss": [300.0, 200.0, 100.0], "val_loss": [3.0, 2.0, 1.0], "val_error": [1.0]})
    train, val = context.with_role("train_loss")[0], context.with_role("val_loss")[0]

    assert not context.comparable(train, val)
    assert context.comparable(val, train)
    assert context.gap(train, val).final_ratio is None
    assert context.gap(val, train).final_ratio is not None


def test_a_held_out_loss_of_one_term_has_another_scale_than_the_total(context_of: ContextOf) -> None:
    """It ends at the reconstruction term, and the total holds a term of the codebook too."""
    logged = {"loss": [1.2, 1.1, 1.0, 1.0], "recon_loss": [1.1, 0.8, 0.5, 0.4], "vq_loss": [0.1, 0.3, 0.5, 0.6]}
    of_term, of_total = ([1.1, 0.9, 0.5, 0.41], [1.2, 1.1, 1.0, 1.1])
    for held_out, comparable in ((of_term, False), (of_total, True)):
        context = context_of({**logged, "val_loss": held_out})
        assert context.comparable(context.with_role("train_loss")[0], context.with_role("val_loss")[0]) is comparable


def test_values_after_the_loss_became_nan_mean_nothing(context_of: ContextOf) -> None:
    logged = {"loss": [1.0, 0.9, NAN, 0.8, NAN, NAN], "perplexity": [30.0, 29.0, 28.0, 27.0, 1.0, 1.0]}
    context = context_of(logged)
    perplexity = next(c for c in context.curves if c.metric == "perplexity")

    assert context.until_nonfinite(perplexity).tolist() == [30.0, 29.0, 28.0, 27.0]


def test_findings_are_those_of_kind_and_role(context_of: ContextOf) -> None:
    context = context_of({"loss": [1.0] * 20 + [NAN], "val_loss": [1.0] * 20})

    assert context.findings_on("nonfinite", "train_loss")["step"].to_list() == [20]
    assert context.findings_on(("spike", "nonfinite"), "val_loss").height == 0


def test_witnesses_name_the_point(context_of: ContextOf) -> None:
    curve = context_of({"loss": [3.0, 2.0, 1.0]}).with_role("train_loss")[0]

    assert witness_at(curve, 1) == Witness("loss", 1, "m.csv", None)
    assert witness_at(curve) == Witness("loss", file="m.csv")


def test_an_event_has_a_count_and_the_step_of_the_first() -> None:
    found = table("findings", {"metric": ["loss", "loss"], "step": [7, 9], "file": ["a", "a"], "line": [3, 4]})
    witness = Witness("loss", 7, "a", 3)

    assert first_witness(found) == witness
    assert event("spike", True, found) == {"spike_count": (2, witness), "spike_step": (7, witness)}
    assert event("spike", True, found.clear()) == {"spike_count": 0}
    assert event("spike", False, found) == {}


def test_levels_are_medians_of_finite_values() -> None:
    values = np.array([NAN, 9.0, 1.0, 2.0, *np.arange(20.0)])

    assert first_level(values) == 2.0
    assert last_level(values) == 19.0
    assert first_level(np.array([NAN])) is None
    assert last_level(np.array([NAN])) is None


@pytest.mark.parametrize(
    ("values", "expected"), [([3.0, 1.0, 2.0], 2.0), ([4.0, 1.0, 2.0, 3.0], 2.5), ([1.0, NAN], NAN)]
)
def test_the_median_is_that_of_numpy(values: list[float], expected: float) -> None:
    assert median(np.array(values)) == pytest.approx(expected, nan_ok=True)


def test_tau_is_the_balance_of_ordered_pairs() -> None:
    """1, 3, 2: two pairs rise and one falls. Long series are thinned, and short ones have none."""
    assert tau(np.array([1.0, NAN, 3.0, 2.0]), 3) == pytest.approx(1 / 3)
    assert tau(np.arange(1000.0), 3) == 1.0
    assert tau(np.array([1.0, 2.0]), 3) is None


@pytest.mark.parametrize(
    ("a", "b", "quotient"), [(1.0, 2.0, 0.5), (None, 2.0, None), (1.0, None, None), (1.0, 0.0, None)]
)
def test_a_ratio_needs_both_numbers(a: float | None, b: float | None, quotient: float | None) -> None:
    assert ratio(a, b) == quotient


def test_the_quantum_of_zeros_is_that_of_their_file(context_of: Callable[..., Context]) -> None:
    """Zeros show no digits. They count as rounded only if each other curve of the file is."""
    rounded, exact = [round(2 - 0.0137 * i, 4) for i in range(60)], [1 / (i + 3) for i in range(60)]
    zeros = [0.0] * 60

    def found(**curves: list[float]) -> float:
        context = context_of({"lr": zeros, **curves})
        return context.quantum(context.curves[0])

    assert found(loss=rounded) == 1e-4
    assert found(loss=rounded, count=[float(i) for i in range(60)]) == 1e-4
    assert found(loss=rounded, grad_norm=exact) == 0
    assert found() == 0


def test_the_logged_value_near_a_level() -> None:
    values = np.array([9.0, 8.0, *np.arange(60.0), NAN])

    assert logged_near(values, 58.6) == 59.0
    assert logged_near(values, 8.0) == 54.0  # of the last tenth only
    assert logged_near(values[:20], 8.0) == 17.0  # few values have no level: the last one
    assert logged_near(values, None) is None
    assert logged_near(np.array([NAN]), 1.0) == 1.0


def test_the_lowest_value_is_the_first_finite_one() -> None:
    assert lowest_index(np.array([NAN, 2.0, 1.0, 1.0, -np.inf])) == 2
    assert lowest_index(np.array([NAN])) is None


def test_the_kind_of_training_of_a_document_stays(context_of: Callable[..., Context]) -> None:
    """An anonymous document has no names that suggest a kind, but it states the kind that was found."""
    given = {"training_kind": "speech", "training_kind_probability": 0.9}
    found = context_of({"d_loss": [1.0] * 9, "g_loss": [1.0] * 9}, given=given).training_kind

    assert found is not None
    assert (found.kind, found.probability, found.sure) == ("speech", 0.9, True)


@pytest.mark.parametrize(("ratings", "main"), [(10, "Self-play/ELO"), (9, "Environment/Cumulative Reward")])
def test_the_rating_is_the_reward_of_self_play(ratings: int, main: str, context_of: Callable[..., Context]) -> None:
    found = context_of(
        {"Environment/Cumulative Reward": [0.0, 0.5] * 20, "Self-play/ELO": [1200.0 + n for n in range(ratings)]}
    )
    reward = found.main_reward()
    assert reward is not None
    assert reward.metric == main


def test_a_training_loss_eight_times_as_high_is_a_sum(context_of: ContextOf) -> None:
    for times, comparable in ((16.0, False), (5.0, True)):
        context = context_of({"train_loss": [times * x for x in (1.6, 1.5, 1.4)], "val_loss": [1.6, 1.5, 1.4]})
        assert context.comparable(*(context.with_role(role)[0] for role in ("train_loss", "val_loss"))) is comparable
