"""Features of reinforcement learning."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import reinforcement
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()


@pytest.mark.parametrize(
    ("rewards", "trend"),
    [([5.0, 4.0, 3.0, 2.0, 1.0], -1.0), ([4.0, 5.0, 3.0, 2.0, NAN, 1.0], -0.8), ([3.0, 2.0, 1.0, 0.0], None)],
)
def test_the_trend_of_a_reward(features_of: FeaturesOf, rewards: list[float], trend: float | None) -> None:
    """From five finite values on."""
    assert features_of({"reward": rewards}).values["reward_trend"] == trend


def test_the_trend_of_a_reward_in_standard_errors(features_of: FeaturesOf) -> None:
    """Thirty values that each exceed all before: 435 pairs, whose number scatters by 56.05 without a trend."""
    values = features_of({"reward": [float(k) for k in range(30)]}).values

    assert values["reward_trend_z"] == pytest.approx(435 / 56.05, rel=1e-4)


@pytest.mark.parametrize(
    ("rewards", "share"),
    [
        ([float(k) for k in range(30)], 0.5185),  # mean 28 at the end, 14.5 in the middle, 1 at first
        ([float(min(k, 12)) for k in range(30)], 0.0),
        ([float(-k) for k in range(30)], None),
    ],
)
def test_the_share_of_a_gain_that_came_late(features_of: FeaturesOf, rewards: list[float], share: float | None) -> None:
    """Unknown where nothing was gained."""
    found = features_of({"reward": rewards}).values["reward_late_share"]

    assert found == (None if share is None else pytest.approx(share, abs=0.02))


def test_the_best_reward_is_the_highest_that_was_logged(features_of: FeaturesOf) -> None:
    """At its step; of few values, the last is the last."""
    rewards = [1.0, 2.0, 9.0, 5.0, 6.0, 5.5, 5.0, 4.0, 3.0, 2.0, 7.0, 2.5]
    row = features_of({"reward": rewards}).values

    assert (row["reward_best"], row["reward_best_step"], row["reward_last"]) == (9.0, 2, 2.5)


@pytest.mark.parametrize(
    ("rewards", "share"),
    [
        ([k % 5 / 100 for k in range(58)] + [0.02] * 6, 0.02),  # of a hundred episodes each
        ([1 / n for n in range(40, 101)], 1 / 98),  # of more and more episodes
        ([0.0123 * (k % 3) for k in range(60)], None),
        ([0.01 * (k % 3) for k in range(40)], None),  # too few
        ([0.01 * k for k in range(120)], None),  # above 1
        ([0.0] * 60, None),
    ],
)
def test_a_reward_that_counts_successful_episodes(
    features_of: FeaturesOf, rewards: list[float], share: float | None
) -> None:
    """Every value is a share of at most a hundred."""
    assert features_of({"reward": rewards}).values.get("reward_success_share") == share


def test_gain_of_a_reward_in_standard_errors(features_of: FeaturesOf) -> None:
    """A rising reward gains many standard errors, a noisy one none."""
    rng = np.random.default_rng(1)
    rising = np.concatenate([np.linspace(0, 100, 150), 100 + rng.normal(0, 2, 150)])
    flat = rng.normal(0, 1, 300)

    assert features_of({"ep_rew_mean": rising.tolist()}).values["reward_gain_z"] > 5
    assert abs(features_of({"ep_rew_mean": flat.tolist()}).values["reward_gain_z"]) < 2


@pytest.mark.parametrize(("epsilon", "known"), [([0.98, 0.9, 0.84, 0.8], False), ([0.98, 0.7, 0.3, 0.1], True)])
def test_rewards_of_random_actions_are_no_gain(features_of: FeaturesOf, epsilon: list[float], known: bool) -> None:
    """While most actions are random, the policy hardly acts."""
    rewards = [12.0, 9.0, 14.0, 10.0, 13.0, 8.0, 11.0, 12.0, 9.0, 14.0, 10.0, 13.0]
    found = features_of({"reward": rewards, "epsilon": [e for e in epsilon for _ in range(3)]}).values

    assert (found["reward_gain_z"] is not None) is known
    assert found["reward_last"] == 13.0


def test_an_entropy_that_is_printed_as_zero(features_of: FeaturesOf) -> None:
    """0.00 after 0.06 may be a twelfth of it; 0.0000 after 0.69 is next to nothing."""
    rewards = [float(i % 7) for i in range(100)]
    coarse = [round(0.06 * 0.95**i, 2) for i in range(100)]
    fine = [round(0.69 * 0.85**i, 4) for i in range(100)]

    assert features_of({"reward": rewards, "entropy": coarse}).values["entropy_last_share"] == pytest.approx(1 / 12)
    assert features_of({"reward": rewards, "entropy": fine}).values["entropy_last_share"] < 1e-3


def test_rounded_rewards_that_repeat_by_chance(features_of: FeaturesOf) -> None:
    """Rewards near 0.91 with two decimals repeat; rewards of 500.0 at each episode do not by chance."""
    noise = np.random.default_rng(2).standard_normal(100)
    near, top = [round(0.91 + 0.01 * x, 2) for x in noise], [*range(400, 450), *[500] * 50]

    assert features_of({"reward": near}).values["reward_constant_share"] is None
    assert features_of({"reward": top}).values["reward_constant_share"] == 1.0


def test_zero_advantages_with_few_decimals(features_of: FeaturesOf) -> None:
    """0.00 among advantages of 0.01 is not known to be 0; 0.00 among advantages of 1 is."""
    small = [round(0.02 * abs(x), 2) for x in np.random.default_rng(2).standard_normal(100)]
    large = [round(1.5 + 0.01 * (i % 53), 2) for i in range(50)] + [0.0] * 50

    assert features_of({"advantages": small}).values["advantage_zero_share"] is None
    assert features_of({"advantages": large}).values["advantage_zero_share"] == 1.0


def test_entropy_lost_early(features_of: FeaturesOf) -> None:
    """The share of the run after it fell below 2 %; the sign of an entropy loss does not matter."""
    row = features_of({"entropy_loss": [*[-0.7] * 10, *[-0.001] * 90]})

    assert row.values["entropy_low_share"] == pytest.approx(0.9)
    assert row.values["entropy_low_step"] == 10


def test_a_reward_that_reached_its_maximum_has_gained(features_of: FeaturesOf) -> None:
    """The scatter of the flat part is the unit, also if it is almost 0."""
    climb, top = [0.12, 0.3, 0.43, 0.58, 0.77, 0.78, 0.87, 0.88], [0.88] * 92
    wavering = [*top[:70], 0.78, *top[71:]]

    assert features_of({"reward": [*climb, *top]}).values["reward_gain_z"] > 5
    assert features_of({"reward": [*climb, *wavering]}).values["reward_gain_z"] > 5
    assert features_of({"reward": [0.0, 0.0, 1.0] * 7 + [0.0] * 79}).values["reward_gain_z"] < 0


def test_a_reward_that_began_at_its_highest_did_not_rise(features_of: FeaturesOf) -> None:
    """With heavy tails, one of the first values exceeds all others. Nor is one such value at the end a rise."""
    reward = [4000.0, 100.0] + [300.0 + 50.0 * (k % 7) for k in range(58)]

    assert features_of({"episode_reward": reward}).values["reward_best_gain_z"] == 0
    assert features_of({"episode_reward": reward[::-1]}).values["reward_best_gain_z"] < 3


def test_a_reward_that_never_changes_has_no_gain(features_of: FeaturesOf) -> None:
    """Without any spread the gain is 0, not unknown."""
    assert features_of({"reward": [-200.0] * 100}).values["reward_gain_z"] == 0.0


@pytest.mark.parametrize(
    ("end", "lost"),
    [([30.0] * 4, 0.0), ([30.0] * 10 + [20.0] * 30, 0.5), ([30.0] * 6 + [10.0] * 8, 1.0), ([10.0] * 30, 1.0)],
)
def test_a_reward_that_rises_late_is_not_lost(features_of: FeaturesOf, end: list[float], lost: float) -> None:
    """Values after the best count, not the level of a last tenth that contains the rise."""
    climb = np.linspace(10, 30, 8).tolist()
    row = features_of({"reward": [10.0] * 88 + climb + end})

    assert row.values["reward_lost_share"] == pytest.approx(lost, abs=0.1)


def test_the_step_at_which_a_reward_is_lost(features_of: FeaturesOf) -> None:
    """It stays below the middle of 10 and 30 from step 84 on; a reward that is kept has no such step."""
    climb = [10.0] * 20 + np.linspace(10, 30, 40).tolist() + [30.0] * 20

    assert features_of({"reward": [*climb, 28.0, 26.0, 24.0, 22.0, *[11.0] * 16]}).values["reward_lost_step"] == 84
    assert features_of({"reward": climb}).values["reward_lost_step"] is None


@pytest.mark.parametrize(
    ("other", "kind", "known"),
    [("reward", "reinforcement", True), ("mean_token_accuracy", "training", False), ("x", "reinforcement", True)],
)
def test_the_entropy_of_predictions_is_no_policy_entropy(
    features_of: FeaturesOf, other: str, kind: str, known: bool
) -> None:
    """A language model's trainer logs the entropy of its tokens with their accuracy."""
    row = features_of({"loss": DECAY, "entropy": DECAY, other: DECAY})

    assert row.values["run_kind"] == kind
    assert (row.values["entropy_first"] is not None) is known


def test_where_the_value_loss_ran_away(features_of: FeaturesOf) -> None:
    """The first value above ten times the lowest level."""
    row = features_of({"episode_reward": [1.0] * 100, "value_loss": [5.0] * 40 + [2.0] * 30 + [500.0] * 30}).values

    assert (row["value_loss_rise_step"], row["value_loss_rise_ratio"]) == (70, 250.0)
    assert (
        features_of({"episode_reward": [1.0] * 100, "value_loss": [5.0] * 100}).values["value_loss_rise_step"] is None
    )


def test_an_entropy_that_grows(features_of: FeaturesOf) -> None:
    """The step at which it first exceeded twice its first level."""
    assert features_of({"reward": [1.0] * 60, "entropy": [0.5] * 40 + [1.5] * 20}).values["entropy_high_step"] == 40


def test_groups_with_equal_rewards(features_of: FeaturesOf) -> None:
    """Half of the last advantages are 0; nine in ten groups tie."""
    row = features_of({"reward": [0.1] * 40, "advantages/std": [*[1.0] * 20, *[0.0, 1.0] * 10],
                       "frac_reward_zero_std": [0.9] * 40}).values  # fmt: skip

    assert (row["advantage_zero_share"], row["reward_tie_last"]) == (0.5, 0.9)


def test_lost_success_rate(features_of: FeaturesOf) -> None:
    """A quarter of the best success rate is lost; the value function's loss rises tenfold."""
    row = features_of({"success_rate": [*np.linspace(0, 0.8, 20), *[0.8] * 10, *[0.6] * 30], "reward": [0.1] * 60,
                       "value_loss": [*np.linspace(2, 1, 30), *[10.0] * 30]}).values  # fmt: skip

    assert row["success_loss_from_best"] == pytest.approx(0.25, abs=0.03)
    assert row["success_rate_last"] == pytest.approx(0.6)
    assert row["value_loss_rise_ratio"] == pytest.approx(10, rel=0.1)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert reinforcement.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_a_collapse_does_not_hide_the_rise_before_it(features_of: Callable[..., Features]) -> None:
    """The reward rises steadily for two thirds of the run and is lost at once: the rise counts by its own scatter."""
    noise = np.random.default_rng(3).normal(0, 0.01, 300)
    reward = np.concatenate([np.linspace(0.3, 0.7, 200), np.full(100, 0.0)]) + noise
    values = features_of({"reward": list(reward)}).values

    assert values["reward_best_gain_z"] > 10
    assert values["reward_lost_share"] > 1


def test_a_wandering_reward_has_no_such_rise(features_of: Callable[..., Features]) -> None:
    """A level that wanders as far as it rises is no rise."""
    reward = 0.5 + 0.1 * np.sin(np.arange(300) / 15)
    values = features_of({"reward": list(reward)}).values

    assert values["reward_best_gain_z"] < 3
