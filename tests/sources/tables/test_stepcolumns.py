"""The step, epoch and time of logged rows."""

import re

import polars as pl
import pytest

from loganalyst.sources.tables import namedpoints, stepcolumns
from loganalyst.sources.tables.stepcolumns import Axes


def numbers(*values: float | None) -> pl.Series:
    return pl.Series(values, dtype=pl.Float64)


def test_matching():
    """In the order of the list, with blanks and hyphens as underscores."""
    assert stepcolumns.matching(["Epoch", "loss", "Global Step", "step"], stepcolumns.STEPS) == ["step", "Global Step"]


def test_times():
    """Seconds to nanoseconds, date texts, and NULL for anything else."""
    found = stepcolumns.times(numbers(1.7e9, 1.7e12, 1.7e18, 5.0)).to_list()

    assert [time and time.timestamp() for time in found] == [1.7e9, 1.7e9, 1.7e9, None]
    texts = pl.Series(["2026-03-01 10:00:00", "2026-03-01T11:00:00+01:00", "later"])
    assert [time and time.isoformat() for time in stepcolumns.times(texts).to_list()] == [
        "2026-03-01T10:00:00+00:00",
        "2026-03-01T10:00:00+00:00",
        None,
    ]


def test_choose():
    """A rising counter before a length; fractions are epochs; without a step the epoch counts."""
    rising, length = numbers(1, 2, 3), numbers(200, 200, 200)

    assert Axes.choose({"step": length, "iter": rising}).step == "iter"
    assert Axes.choose({"step": numbers(0.5, 1.5, 2.5)}).epoch == "step"
    assert Axes.choose({"epoch": rising, "loss": length}).step == "epoch"
    assert Axes.choose({"loss": length}).step is None


def test_an_epoch_that_begins_anew_in_each_row():
    """A loop of one-epoch trainings writes epoch 0 each time: then the rows are counted. Two rows do not show that."""
    losses = numbers(0.3, 0.2, 0.1)
    axes = Axes.choose({"epoch": numbers(0, 0, 0), "loss": losses})

    assert (axes.step, axes.epoch) == (None, "epoch")
    assert axes.place({"epoch": numbers(0, 0, 0)}, 3)["step"].to_list() == [0, 1, 2]
    assert Axes.choose({"epoch": numbers(5, 5, 5), "loss": losses}).step == "epoch"
    assert Axes.choose({"epoch": numbers(0, 0), "loss": numbers(0.3, 0.2)}).step == "epoch"


# columns as the programs write them: what counts steps, and counters that count less
REAL_TABLES = {
    # openai/baselines, ddpg/ddpg.py
    "total/steps": "obs_rms_mean rollout/episode_steps rollout/return total/episodes total/epochs total/steps",
    # openai/baselines, ppo2/ppo2.py
    "misc/total_timesteps": "eprewmean fps loss/approxkl misc/nupdates misc/serial_timesteps misc/total_timesteps",
    # openai/baselines, trpo_mpi/trpo_mpi.py
    "TimestepsSoFar": "EpLenMean EpRewMean EpThisIter EpisodesSoFar TimestepsSoFar TimeElapsed",
    # openai/baselines, a2c/a2c.py
    "total_timesteps": "explained_variance fps nupdates policy_entropy total_timesteps value_loss",
    # openai/baselines, deepq/deepq.py
    "steps": "episodes mean_100_episode_reward steps",
    # DLR-RM/stable-baselines3, common/on_policy_algorithm.py
    "time/total_timesteps": "rollout/ep_rew_mean time/iterations time/total_timesteps train/n_updates",
    # ray-project/ray, rllib/algorithms/algorithm.py
    "timesteps_total": "episode_reward_mean episodes_total timesteps_total training_iteration num_env_steps_sampled",
    # openai/spinningup, spinup/algos/pytorch/ppo/ppo.py
    "TotalEnvInteracts": "Epoch AverageEpRet EpLen TotalEnvInteracts LossPi Time",
    # rlworkgroup/garage, src/garage/_functions.py and trainer.py
    "TotalEnvSteps": "Evaluation/AverageReturn Evaluation/Iteration TotalEnvSteps",
    # astooke/rlpyt, rlpyt/runners/minibatch_rl.py
    "Diagnostics/CumSteps": "Diagnostics/Iteration Diagnostics/CumSteps Diagnostics/CumUpdates ReturnAverage",
    # lcswillems/rl-starter-files, scripts/train.py
    "frames": "update frames FPS duration return_mean entropy",
}


@pytest.mark.parametrize("counter", REAL_TABLES)
def test_the_column_that_counts_steps_is_the_step(counter: str) -> None:
    """Environment steps go before updates, iterations, episodes, epochs and the numbers of the rows."""
    slow, fast, other = numbers(1, 2, 3, 4), numbers(2000, 4000, 6000, 8000), numbers(0.1, 0.4, 0.2, 0.3)
    counts = re.compile("(?i)updates?$|iterations?$|episodes(_total|sofar)?$|epochs?$")  # total/episodes, EpisodesSoFar
    names = REAL_TABLES[counter].split()
    columns = {name: fast if name == counter else slow if counts.search(name) else other for name in names}

    axes = Axes.choose(columns)

    assert axes.step == counter
    assert axes.place(columns, 4)["step"].to_list() == [2000, 4000, 6000, 8000]


def test_a_name_in_a_group_counts_steps_only_if_it_rises() -> None:
    """Lengths and fractions are no counters."""
    assert Axes.choose({"rollout/steps": numbers(200, 180, 190, 200), "loss": numbers(1, 2, 1, 2)}).step is None
    assert Axes.choose({"time/steps": numbers(0.5, 1.5, 2.5, 3.5), "loss": numbers(1, 2, 1, 2)}).step is None


def test_steps_that_restart_in_each_epoch():
    """They become continuous; a missing step takes the one before it."""
    columns = {"epoch": numbers(0, 0, 1, 1), "step": numbers(0, 1, None, 1)}
    axes = Axes.choose(columns | {"step": numbers(0, 1, 0, 1)})

    assert axes.place(columns | {"step": numbers(0, 1, 0, 1)}, 4)["step"].to_list() == [0, 1, 2, 3]
    again = Axes(step="step")
    assert again.place({"step": numbers(3, None, 5)}, 3)["step"].to_list() == [3, 3, 5]


def test_wide_points():
    """Metric after metric; a part is a prefix, and `value` takes the name in a column of names."""
    from loganalyst.sources.files.constantcolumns import Constants

    index = pl.DataFrame(
        {"session": [0, 0], "line": [1, 2], "step": [1, 2], "epoch": [None, None], "time": [None, None]}
    )
    texts = {"tag": pl.Series(["loss", "acc"]), "split": pl.Series(["train", None], dtype=pl.String)}
    found = namedpoints.wide_points(index, {"value": numbers(0.5, None)}, texts, "x.csv", Constants())

    assert found.select("metric", "step", "value").rows() == [("train/loss", 1, 0.5)]
