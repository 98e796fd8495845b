"""Features of speed."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import polars as pl
import pytest

import loganalyst
from loganalyst.features import throughput
from loganalyst.features.context import Context
from loganalyst.model import Run, Source
from tests.features.timed_rows import BEGIN, causes, clock, diagnosed, logged, values_with


class TestThroughput:
    @pytest.mark.parametrize("metric", ["tokens_per_sec", "step_time"])
    def test_a_sudden_drop(self, metric):
        """Half the speed from step 600 of 1,000 on, by the run's own readings."""
        steps = np.arange(1000)
        speed = np.where(steps < 600, 1000.0, 500.0) * (1 + 0.02 * np.sin(steps))
        values = speed if metric == "tokens_per_sec" else 1 / speed
        found = diagnosed(logged(10.0 * steps), logged(10.0 * steps, metric, values))
        seen = values_with(found, "throughput_")

        assert seen["throughput_metric"] == metric
        assert seen["throughput_last_share"] == pytest.approx(0.5, abs=0.01)
        assert seen["throughput_drop_share"] == pytest.approx(0.5, abs=0.01)
        assert abs(seen["throughput_drop_step"] - 600) <= 10
        assert causes(found) == ["throughput-drop"]

    def test_what_was_slow_is_measured_from_the_first_fast_tenth(self):
        """Four tenths at one speed: whichever is fastest by chance, six tenths are slow."""
        steps = np.arange(1000)
        speed = np.where(steps < 400, 1000.0 + steps / 10, 500.0)
        seen = values_with(
            diagnosed(logged(10.0 * steps), logged(10.0 * steps, "tokens_per_sec", speed)), "throughput_"
        )

        assert seen["throughput_low_share"] == pytest.approx(6 / 9, abs=0.08)

    @pytest.mark.parametrize(("noise", "found"), [(0.001, ["throughput-drop"]), (0.04, [])])
    def test_few_readings_must_hardly_scatter(self, noise, found):
        """Thirty readings with half the speed from the middle on."""
        steps = np.arange(30)
        speed = np.where(steps < 15, 1000.0, 480.0) * (1 + noise * np.sin(steps * 1.7))

        assert causes(diagnosed(logged(10.0 * steps), logged(10.0 * steps, "tokens_per_sec", speed))) == found

    @pytest.mark.parametrize(("clock", "share"), [(1, 0.5), (-1, None)])
    def test_a_clock_among_the_metrics(self, clock, share):
        """Seconds so far at each step; rows have no times. Half the speed from step 600 on. Remaining time is none."""
        seconds = clock * np.cumsum(np.where(np.arange(1000) < 600, 2.0, 4.0))
        rows = [logged(seconds, name, values) for name, values in (("train/loss", None), ("elapsed_time", seconds))]
        timeless = [points.with_columns(time=pl.lit(None, points.schema["time"])) for points in rows]
        found = values_with(diagnosed(*timeless), "throughput_")

        assert found.get("throughput_last_share") == (share and pytest.approx(share, abs=0.01))

    def test_a_slow_drift_by_the_clock_alone(self):
        """Steps take three times as long at the end; no single drop."""
        found = diagnosed(logged(np.cumsum(np.linspace(10, 30, 1000))))
        seen = values_with(found, "throughput_")

        assert seen["throughput_metric"] == "steps per second"
        assert seen["throughput_last_share"] == pytest.approx(13 / 29, abs=0.02)
        assert seen["throughput_drop_share"] > 0.8
        assert causes(found) == []
        assert "became-slower" in {note.id for note in found.notes}

    def test_a_drift_by_the_clock_that_the_user_reports(self):
        """Then it is a cause."""
        run = Run(points=logged(np.cumsum(np.linspace(10, 30, 1000))), sources=(Source("log.csv", "csv", 1),))
        found = loganalyst.diagnose(run, symptoms=["gets slower"])

        assert causes(found) == ["throughput-drop"]
        assert "became-slower" not in {note.id for note in found.notes}

    def test_averages_since_the_start(self):
        """Stable-Baselines3 logs the mean speed so far: 67 % at the end, after a second half at half the speed."""
        steps = np.arange(1, 401)
        seconds = np.cumsum(np.where(steps <= 200, 1.0, 2.0))
        values = {
            "rollout/ep_rew_mean": np.log(steps),
            "rollout/ep_len_mean": np.full(400, 9.0),
            "time/fps": 100 * steps / seconds,
        }
        seen = values_with(diagnosed(*(logged(seconds, *pair, every=100) for pair in values.items())), "throughput_")

        assert seen["throughput_metric"] == "time/fps"
        assert seen["throughput_best"] == pytest.approx(100.0)
        assert seen["throughput_last_share"] == pytest.approx(0.5)
        assert abs(seen["throughput_drop_step"] - 20_100) <= 1_800  # half a tenth

    @pytest.mark.parametrize(("slower", "share"), [(1.0, 1.0), (2.5, 0.4)])
    def test_rows_within_a_chunk_of_work(self, slower, share):
        """Time passes by chunks of 640 steps, and rows follow one another within a chunk: an average of few seconds."""
        steps = 200 * np.arange(1, 101)
        chunks = np.cumsum(np.where(np.arange(40) < 16, 0.1, 0.1 * slower))
        seconds = chunks[steps // 640] + 1e-3 * (steps % 640) / 640
        curves = {
            "time/fps": steps / seconds,
            "rollout/ep_rew_mean": np.log(steps),
            "rollout/ep_len_mean": steps * 0 + 9,
        }
        rows = (logged(seconds, *pair, every=200) for pair in curves.items())
        found = diagnosed(*rows, started=BEGIN, ended=BEGIN + timedelta(seconds=float(seconds[-1])))

        seen = values_with(found, "throughput_")
        assert seen["throughput_last_share"] == pytest.approx(share, abs=0.15)
        assert causes(found) == (["throughput-drop"] if slower > 1 else [])

    def test_actions_before_learning_begins(self):
        """A buffer is filled ten times as fast as the policy learns."""
        speed = np.where(np.arange(400) < 200, 1000.0, 100.0)
        loss = logged(10.0 * np.arange(400), "train/loss").filter(pl.col("step") > 200)
        found = diagnosed(logged(10.0 * np.arange(400), "tokens_per_sec", speed), loss)

        assert values_with(found, "throughput_last_share")["throughput_last_share"] == pytest.approx(1.0)
        assert values_with(found, "throughput_points")["throughput_points"] == 199

    @pytest.mark.parametrize(("seconds", "known"), [(50.0, False), (70.0, True)])
    def test_a_run_of_less_than_a_minute(self, seconds, known):
        """It consists of its start only, so its speed is not known."""
        rows = logged(np.cumsum(np.linspace(1, 3, 1000)) * seconds / 2000)
        found = diagnosed(rows, started=BEGIN, ended=BEGIN + timedelta(seconds=seconds))

        assert ("throughput_last_share" in values_with(found, "throughput_")) is known

    @pytest.mark.parametrize("noise", [0.02, 0.1])
    def test_a_steady_run(self, noise):
        """Noise of a few percent, and a slow start."""
        seconds = 10 * np.random.default_rng(0).lognormal(0, noise, 1000)
        seconds[:50] *= 4
        found = diagnosed(logged(np.cumsum(seconds)))

        assert values_with(found, "throughput_last_share")["throughput_last_share"] > 0.9
        assert causes(found) == []

    def test_pauses_for_evaluation_are_no_drop(self):
        """Every fiftieth step waits for one."""
        found = diagnosed(logged(clock(dict.fromkeys(range(50, 1001, 50), 300.0), n=1000)))

        assert values_with(found, "throughput_last_share") == {"throughput_last_share": pytest.approx(1.0)}

    @pytest.mark.parametrize(
        ("share", "mfu", "cause"),
        [(0.7, 8.0, ["data-loading"]), (0.7, 0.08, ["data-loading"]), (0.7, 45.0, []), (0.7, None, []), (0.1, 8.0, [])],
    )
    def test_waiting_for_data(self, share, mfu, cause):
        """The data time relative to the step time. It is a cause if the device is seen to be idle."""
        times = 10.0 * np.arange(200)
        found = diagnosed(
            logged(times),
            logged(times, "step_time", np.full(200, 2.0)),
            logged(times, "data_time", np.full(200, 2.0 * share)),
            *([] if mfu is None else [logged(times, "mfu", np.full(200, mfu))]),
        )

        assert values_with(found, "data_time") == {
            "data_time_share": pytest.approx(share),
            "data_time_first_share": pytest.approx(share),
        }
        assert causes(found) == cause


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert throughput.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
