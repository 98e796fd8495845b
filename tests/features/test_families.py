"""Features: what is known is exact, what is not known is None, and each value has its witness."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from loganalyst import features
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()


def test_nothing_logged_is_nothing_known(features_of: FeaturesOf) -> None:
    """Without any metric only facts about the run itself are known, and none is a made-up 0."""
    known = {k for k, v in features_of({}).values.items() if v is not None}

    assert known <= {
        "run_status", "run_is_running", "run_longest_metric", "run_evaluated", "run_log_expected", "run_end_told",
        "end_is_regular", "run_stopped_early",
    }  # fmt: skip


def test_every_declared_feature_has_a_column(features_of: FeaturesOf) -> None:
    """The row has exactly the declared features, in order, and no NaN."""
    row = features_of({"loss": DECAY, "grad_norm": [1.0] * 200, "lr": [0.1] * 200})

    assert list(row.values) == list(features.declared())
    assert not any(isinstance(v, float) and np.isnan(v) for v in row.values.values())


def test_declared_types(features_of: FeaturesOf) -> None:
    """A value has the type its declaration says."""
    kinds = {"float": (float, int), "int": int, "bool": bool, "text": str}
    row = features_of({"loss": DECAY, "val_loss": DECAY, "reward": DECAY, "lr": DECAY, "kl": DECAY, "grad_norm": DECAY})
    wrong = {
        name: value
        for name, value in row.values.items()
        if value is not None and not isinstance(value, kinds[features.declared()[name].dtype])
    }

    assert wrong == {}


@pytest.mark.parametrize("values", [[NAN] * 20, [1.0], [float("inf")] * 5, [1e308] * 10 + [-1e308] * 10, [5e-324] * 20])
def test_no_curve_is_too_odd(features_of: FeaturesOf, values: list[float]) -> None:
    """Curves without a finite value, of one value, or near the ends of the float range give a row, and no warning."""
    names = (
        "loss", "val_loss", "val_acc", "train_acc", "grad_norm", "lr", "loss_cls", "loss_box", "kl", "recon_loss",
        "codebook_perplexity", "d_loss", "g_loss", "reward", "entropy", "approx_kl", "loss_scale", "skipped_steps",
    )  # fmt: skip
    row = features_of(dict.fromkeys(names, values))

    assert not any(isinstance(v, float) and np.isnan(v) for v in row.values.values())


def test_nan_in_the_training_loss(features_of: FeaturesOf) -> None:
    """Where it began, how much there is, and the rise before it."""
    row = features_of({"loss": [*DECAY[:100], 0.5, 1.0, 2.0, NAN, NAN, NAN]})

    assert row.values["train_loss_nonfinite_count"] == 1
    assert row.values["train_loss_nonfinite_step"] == 103
    assert row.witnesses["train_loss_nonfinite_step"].step == 103
    assert row.values["train_loss_finite_before"] == 103
    assert row.values["train_loss_ends_nonfinite"] is True
    assert row.values["train_loss_run_up_ratio"] == pytest.approx(1.0 / np.quantile(DECAY[40:100], 0.9))


def test_clean_loss_has_zero_events_not_null(features_of: FeaturesOf) -> None:
    """0 = looked and none."""
    row = features_of({"loss": DECAY})

    assert row.values["train_loss_nonfinite_count"] == 0
    assert row.values["train_loss_nonfinite_step"] is None
    assert row.values["val_loss_nonfinite_count"] is None


@pytest.mark.parametrize(("end", "ratio"), [(math.nan, 4000.0), (6.0, 1.0)])
def test_the_highest_loss_of_the_first_fifth_is_that_of_the_runs_first_fifth(
    features_of: FeaturesOf, end: float, ratio: float
) -> None:
    """The 9th point is thrown up: one of the first 12 of 60, although all after it are NaN; late among 30."""
    loss = [40.0, 8.0, 7.0, 6.0, 5.0, 7.0, 9.0, 9.0, 160000.0]

    row = features_of({"loss": [*loss, *[end] * (51 if math.isnan(end) else 21)]})

    assert row.values["train_loss_early_max_ratio"] == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("loss", "end", "burst"),
    [
        ([184.0, 1746.0, 1748.0, 1747.0], 1747 / 184, 1748 / 1746.5),
        ([0.5, 0.4, 0.3, 40.0], 0.6, 40 / 0.45),  # one value may be a batch
        ([6e15, 0.08, 0.09, 3e15, 0.06, 0.05, 0.07], 0.05 / 6e15, 3e15 / 0.08),
        ([1e8, 1e6, 1e3, 2.0, 1.0, 0.9, 1.8], 0.9 / 1e8, 1.0),  # high before it came down, as regressions are
        ([4.0, 3e-7, 2e-7, 0.5, 1e-7], 1e-7 / 4, 500.0),  # beside next to nothing all is large
        ([1.0, math.nan, 2.0, 9.0, 9.0], 9.0, 9 / 5.5),
        ([-1.0, 2.0, 9.0, 9.0], None, None),
        ([1.0, 2.0, 9.0], None, None),
    ],
)
def test_how_a_loss_of_few_values_ends_and_bursts(
    features_of: FeaturesOf, loss: list[float], end: float | None, burst: float | None
) -> None:
    """The lower of the last two against the first, and the largest against the median once it was there."""
    row = features_of({"loss": loss}).values

    assert row["train_loss_end_ratio"] == (None if end is None else pytest.approx(end))
    assert row["train_loss_burst_ratio"] == (None if burst is None else pytest.approx(burst))


def test_lasting_zero(features_of: FeaturesOf) -> None:
    """A loss of exactly 0 to the end is an event with its step; one zero in passing is not."""
    row = features_of({"loss": [*DECAY[:50], *[0.0] * 20]})

    assert (row.values["train_loss_zero_count"], row.values["train_loss_zero_step"]) == (1, 50)
    assert features_of({"loss": [*DECAY[:50], 0.0, *DECAY[51:]]}).values["train_loss_zero_count"] == 0


def test_masked_nan(features_of: FeaturesOf) -> None:
    """The gradient norm may be NaN while the loss is clean."""
    row = features_of({"loss": DECAY, "grad_norm": [*[1.0] * 150, *[NAN] * 50]})

    assert row.values["train_loss_nonfinite_count"] == 0
    assert row.values["grad_norm_nonfinite_step"] == 150


def test_squared_norms_are_rooted(features_of: FeaturesOf) -> None:
    """A squared gradient norm is judged by its root."""
    assert features_of({"grad_norm_square": [4.0] * 20}).values["grad_norm_median"] == 2.0


def test_layers(features_of: FeaturesOf) -> None:
    """Largest against smallest layer, with their names."""
    row = features_of({"grad_norm/layer0.weight": [1e-9] * 20, "grad_norm/layer1.weight": [1e-1] * 20})

    assert row.values["layer_grad_ratio"] == pytest.approx(1e8)
    assert row.values["layer_grad_min_metric"] == "grad_norm/layer0.weight"


@pytest.mark.parametrize("points", [12, 1200])
def test_the_error_of_a_fall(features_of: FeaturesOf, points: int) -> None:
    """That of the ends of a line: as large as the noise of twelve values, a tenth of it for a hundred times as many."""
    values = 2 + 0.1 * np.random.default_rng(3).standard_normal(points)
    row = features_of({"loss": values.tolist()}).values

    noise = row["train_loss_noise_relative"] * row["train_loss_last"] / float(np.median(values[:3]))
    assert row["train_loss_drop_error"] == pytest.approx(noise * (12 / points) ** 0.5)


@pytest.mark.parametrize(
    ("rewards", "trend"),
    [([5.0, 4.0, 3.0, 2.0, 1.0], -1.0), ([4.0, 5.0, 3.0, 2.0, NAN, 1.0], -0.8), ([3.0, 2.0, 1.0, 0.0], None)],
)
def test_a_reward_that_falls(features_of: FeaturesOf, rewards: list[float], trend: float | None) -> None:
    """The order of five values or more, those that are no numbers left out."""
    assert features_of({"reward": rewards}).values["reward_trend"] == trend


def test_stuck_term(features_of: FeaturesOf) -> None:
    """A term that stays while another falls far is named, with its share of the total."""
    fall = (np.exp(-np.arange(200) / 20) + 1e-4).tolist()
    row = features_of({"loss": [a + 0.3 for a in fall], "residual_loss": fall, "boundary_loss": [0.3] * 200})

    assert row.values["component_stuck_metric"] == "boundary_loss"
    assert row.values["component_stuck_share"] == pytest.approx(0.3 / 0.30014, rel=1e-3)
    assert row.values["component_stuck_ratio"] == 1.0


def test_beside_a_term_below_zero_none_has_a_share(features_of: FeaturesOf) -> None:
    """What a critic says falls without an end: neither is it stuck, nor does its size tell the shares."""
    critic, recon = -np.geomspace(0.01, 100, 40), np.linspace(0.02, 0.01, 40)

    row = features_of({"loss_encoder": critic, "loss_decoder": recon, "loss_pixels": recon}).values
    assert (row["component_count"], row["component_stuck_metric"], row["component_zero_count"]) == (None, None, 0)


def test_a_term_far_above_the_total_is_only_watched(features_of: FeaturesOf) -> None:
    """A divergence of 220 beside a total of 0.1 is logged without its weight: it is no share of the total."""
    recon = np.geomspace(3.5, 0.03, 40)
    watched = {"loss_recon": recon, "loss_mmd": np.full(40, 0.02), "loss_kl": np.full(40, 220.0)}

    row = features_of({"loss_vae": recon + 0.05, **watched}).values
    assert (row["component_count"], row["component_top_metric"]) == (2, "loss_recon")
    assert features_of(watched).values["component_top_metric"] == "loss_kl"


def test_term_that_ends_nan(features_of: FeaturesOf) -> None:
    """A loss beside the training loss that turns NaN for good is an event; NaN by nature in between is not."""
    row = features_of({"value_loss": [*[1.0] * 20, NAN, NAN], "policy_loss": [1.0, NAN, 1.0]})

    assert row.values["other_loss_nonfinite_count"] == 1
    assert (row.values["other_loss_nonfinite_metric"], row.values["other_loss_nonfinite_step"]) == ("value_loss", 20)


def test_overfitting_numbers(features_of: FeaturesOf) -> None:
    """Best held-out step, rise since, and what training did meanwhile."""
    steps = np.arange(100)
    val = np.where(steps < 40, 1.0 - steps / 80, 0.5 + (steps - 40) / 200)
    row = features_of({"train_loss": (1.0 - steps / 110).tolist(), "val_loss": val.tolist()})

    assert row.values["val_loss_best_step"] == pytest.approx(40, abs=2)
    assert row.values["val_loss_rise_ratio"] == pytest.approx(1.55, abs=0.05)
    assert row.values["train_fall_since_val_best"] > 0.5


def test_rates_from_log_and_config(features_of: FeaturesOf) -> None:
    """The logged peak counts before the config; without a log the config is used."""
    logged = features_of({"lr": [0.1, 0.3, 0.1]}, {"lr": 5.0}).values
    assert (logged["lr_peak"], logged["lr_suggested"]) == (0.3, pytest.approx(0.1))
    assert features_of({"loss": DECAY}, {"optim.lr": 0.003}).values["lr_peak"] == 0.003
    assert features_of({"loss": DECAY}, {"max_grad_norm": 1.0}).values["config_clip"] == 1.0
    assert features_of({"loss": DECAY}, {"precision": "BF16-mixed"}).values["config_precision"] == "bf16-mixed"


def test_loss_scale(features_of: FeaturesOf) -> None:
    """Halvings and the floor of the loss scale."""
    row = features_of({"loss_scale": [65536.0, 32768.0, 32768.0, 16384.0, 1.0]})

    assert row.values["loss_scale_halvings"] == 3
    assert row.values["loss_scale_min_step"] == 4


def test_reward_trend_in_units_of_spread(features_of: FeaturesOf) -> None:
    """A rising reward gains many spreads, a wandering one none."""
    rng = np.random.default_rng(1)
    rising = np.concatenate([np.linspace(0, 100, 150), 100 + rng.normal(0, 2, 150)])
    flat = rng.normal(0, 1, 300)

    assert features_of({"ep_rew_mean": rising.tolist()}).values["reward_gain_spread"] > 5
    assert abs(features_of({"ep_rew_mean": flat.tolist()}).values["reward_gain_spread"]) < 1


@pytest.mark.parametrize(("epsilon", "known"), [([0.98, 0.9, 0.84, 0.8], False), ([0.98, 0.7, 0.3, 0.1], True)])
def test_what_random_actions_earn_is_no_gain(features_of: FeaturesOf, epsilon: list[float], known: bool) -> None:
    """While most of them are random, the policy hardly acts."""
    rewards = [12.0, 9.0, 14.0, 10.0, 13.0, 8.0, 11.0, 12.0, 9.0, 14.0, 10.0, 13.0]
    found = features_of({"reward": rewards, "epsilon": [e for e in epsilon for _ in range(3)]}).values

    assert (found["reward_gain_spread"] is not None) is known
    assert found["reward_last"] == 13.0


def test_entropy_gone_early(features_of: FeaturesOf) -> None:
    """The share of the run after entropy fell below 2 %; the sign of an entropy loss does not matter."""
    row = features_of({"entropy_loss": [*[-0.7] * 10, *[-0.001] * 90]})

    assert row.values["entropy_low_share"] == pytest.approx(0.9)
    assert row.values["entropy_low_step"] == 10


def test_discriminator(features_of: FeaturesOf) -> None:
    """Levels of both losses."""
    row = features_of({"D_loss": [1.0] * 50 + [0.001] * 50, "G_loss": [1.0] * 50 + [9.0] * 50})

    assert row.values["discriminator_loss_last"] == pytest.approx(0.001)
    assert row.values["generator_loss_ratio"] == pytest.approx(9.0)


def test_codebook(features_of: FeaturesOf) -> None:
    """Use of the codebook against its size in the config."""
    row = features_of({"codebook_perplexity": [100.0] * 10 + [2.0] * 10}, {"num_embeddings": 512})

    assert row.values["codebook_share"] == pytest.approx(2 / 512)
    assert row.values["codebook_last_ratio"] == pytest.approx(0.02)


def test_loss_that_comes_down_to_zero(features_of: FeaturesOf) -> None:
    """A hinge loss, or one rounded to three digits, comes down to 0; a loss that is cut off does not."""
    name = "train_loss_before_zero_share"
    rounded = np.round(0.01 * np.exp(-np.arange(60) / 5), 3).tolist()

    assert features_of({"loss": [*DECAY[:50], *[0.0] * 20]}).values[name] == pytest.approx(
        np.median(DECAY[45:50]) / np.median(DECAY[:3])
    )
    assert features_of({"loss": rounded}).values[name] == 0.0
    assert features_of({"loss": DECAY}).values[name] is None
    assert features_of({"loss": [6.2645, *[0.0] * 9]}).values[name] == 1.0
    assert features_of({"loss": [0.01, *[0.0] * 9]}).values[name] == 0.0


def test_guessing_is_where_an_untrained_model_begins(features_of: FeaturesOf) -> None:
    """A language model that comes down to 2.485 is not guessing among 12 classes; one thrown there at once is."""
    noise = np.random.default_rng(1).normal(0, 0.01, 300)
    falling = np.log(12) + 4 * np.exp(-np.arange(300) / 40) + noise
    thrown = np.log(12) + 30 * np.exp(-np.arange(300) / 5) + noise

    assert features_of({"loss": falling.tolist()}).values["train_loss_chance_classes"] == 0
    assert features_of({"loss": thrown.tolist()}).values["train_loss_chance_classes"] == 12


def test_accuracy_in_per_cent_is_a_share(features_of: FeaturesOf) -> None:
    """Per cent and shares give the same gap."""
    row = features_of({"train_acc": [50.0, 80.0, 95.0, 96.0], "val_acc": [48.0, 75.0, 89.0, 90.0]})

    assert row.values["accuracy_gap"] == pytest.approx(0.06)
    assert row.values["val_accuracy_last"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("logged", "kind"),
    [
        ({"loss": DECAY}, "training"),
        ({"loss": DECAY[:3]}, None),
        ({"val_acc": DECAY}, "evaluation"),
        ({"loss": DECAY, "episode_reward": DECAY}, "reinforcement"),
        ({"d_loss": DECAY, "g_loss": DECAY}, "adversarial"),
        ({"system/gpu.0.temp": DECAY}, None),
    ],
)
def test_kind_of_run(features_of: FeaturesOf, logged: dict[str, list[float]], kind: str | None) -> None:
    """Told by what was logged four times at least."""
    assert features_of(logged).values["run_kind"] == kind


def test_what_a_cut_of_the_rate_brought(features_of: FeaturesOf) -> None:
    """A loss that falls only after the rate is cut was held back by it."""
    held = [10.0] * 60 + np.linspace(10, 5, 40).tolist()
    row = features_of({"loss": held, "lr": [20.0] * 60 + [5.0] * 40})

    assert row.values["lr_cut_at_share"] == pytest.approx(60 / 99)
    assert row.values["lr_cut_gain_share"] == pytest.approx(1.0)
    assert features_of({"loss": DECAY, "lr": [0.1] * 200}).values["lr_cut_gain_share"] is None


def test_a_reward_at_its_highest_has_gained(features_of: FeaturesOf) -> None:
    """Where a second half hardly changes any more, the gain is not measured by itself."""
    climb, top = [0.12, 0.3, 0.43, 0.58, 0.77, 0.78, 0.87, 0.88], [0.88] * 92
    wavering = [*top[:70], 0.78, *top[71:]]

    assert features_of({"reward": [*climb, *top]}).values["reward_gain_spread"] == pytest.approx(4.447, abs=0.001)
    assert features_of({"reward": [*climb, *wavering]}).values["reward_gain_spread"] == pytest.approx(7.5)
    assert features_of({"reward": [0.0, 0.0, 1.0] * 7 + [0.0] * 79}).values["reward_gain_spread"] == 0.0


def test_a_reward_that_began_at_its_highest_did_not_rise_to_it(features_of: FeaturesOf) -> None:
    """Heavy tails: one of the first values is above all others."""
    reward = [4000.0, 100.0] + [300.0 + 50.0 * (k % 7) for k in range(58)]

    assert features_of({"episode_reward": reward}).values["reward_best_gain_spread"] == 0.0
    assert features_of({"episode_reward": reward[::-1]}).values["reward_best_gain_spread"] > 3


def test_a_reward_that_never_changes_has_no_gain(features_of: FeaturesOf) -> None:
    """Without any spread the gain is 0, not unknown."""
    assert features_of({"reward": [-200.0] * 100}).values["reward_gain_spread"] == 0.0


def test_codes_are_counted_by_a_perplexity(features_of: FeaturesOf) -> None:
    """A perplexity of 1 is one code of 512, a usage of 1 is the whole codebook."""
    one = features_of({"codebook_perplexity": [1.0] * 50}, config={"num_embeddings": 512}).values
    whole = features_of({"codebook_usage": [1.0] * 50}).values

    assert (one["codebook_codes"], one["codebook_share"]) == (1.0, 1 / 512)
    assert (whole["codebook_codes"], whole["codebook_share"]) == (None, 1.0)


def test_held_out_loss_that_ends_as_nan(features_of: FeaturesOf) -> None:
    """NaN by nature comes and goes; a held-out loss that is NaN to the end is broken."""
    broken = features_of({"loss": DECAY, "val_loss": [*DECAY[:100], *[NAN] * 100]}).values
    passing = features_of({"loss": DECAY, "val_loss": [NAN, *DECAY[1:]]}).values

    assert (broken["val_loss_ends_nonfinite"], broken["val_loss_nonfinite_metric"]) == (True, "val_loss")
    assert passing["val_loss_ends_nonfinite"] is False


def test_single_nonfinite_gradients_of_a_loss_scale(features_of: FeaturesOf) -> None:
    """Skipped steps of mixed precision are few and do not last; a NaN for good does."""
    skipped = features_of({"loss": DECAY, "grad_norm": [float("inf"), *[1.0] * 99, NAN, *[1.0] * 99]}).values
    lost = features_of({"loss": DECAY, "grad_norm": [*[1.0] * 100, *[NAN] * 100]}).values

    assert (skipped["grad_norm_nonfinite_share"], skipped["grad_norm_ends_nonfinite"]) == (0.01, False)
    assert (lost["grad_norm_nonfinite_share"], lost["grad_norm_ends_nonfinite"]) == (0.5, True)


@pytest.mark.parametrize(
    ("end", "lost"),
    [([30.0] * 4, 0.0), ([30.0] * 10 + [20.0] * 30, 0.5), ([30.0] * 6 + [10.0] * 8, 1.0), ([10.0] * 30, 1.0)],
)
def test_a_reward_that_rises_late_is_not_lost(features_of: FeaturesOf, end: list[float], lost: float) -> None:
    """What came after the best counts, not a level of the last tenth that the rise lies in."""
    climb = np.linspace(10, 30, 8).tolist()
    row = features_of({"reward": [10.0] * 88 + climb + end})

    assert row.values["reward_lost_share"] == pytest.approx(lost, abs=0.1)


@pytest.mark.parametrize(
    ("beside", "kind", "known"),
    [("reward", "reinforcement", True), ("mean_token_accuracy", "training", False), ("x", "reinforcement", True)],
)
def test_the_entropy_of_predictions_is_no_policys(features_of: FeaturesOf, beside: str, kind: str, known: bool) -> None:
    """A language model's trainer logs the entropy of its tokens beside their accuracy."""
    row = features_of({"loss": DECAY, "entropy": DECAY, beside: DECAY})

    assert row.values["run_kind"] == kind
    assert (row.values["entropy_first"] is not None) is known
