"""Features of pauses and of silence before the end."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import loganalyst
from loganalyst.features import stalls
from loganalyst.features.context import Context
from loganalyst.model import table
from tests import recorded
from tests.features.timed_rows import BEGIN, causes, clock, diagnosed, logged, values_with

RUNS = Path(__file__).parents[2] / "fixtures" / "runs"


class TestStalls:
    def test_one_long_pause(self):
        """Its place, its length, the expected length, and its share of the time."""
        found = diagnosed(logged(clock({250: 3600.0})))

        assert values_with(found, "stall_") == {
            "stall_count": 1, "stall_step": 250, "stall_s": 3610.0, "stall_ratio": 361.0,
            "stall_share": pytest.approx(3610 / (399 * 10 + 3600)),
        }  # fmt: skip
        assert (causes(found), [note.id for note in found.notes if note.id == "paused"]) == ([], ["paused"])

    def test_a_pause_in_a_run_that_ran_out_of_time(self):
        """Then it is a cause."""
        found = diagnosed(logged(clock({250: 3600.0})), status="timeout")

        assert "stalled" in causes(found)
        stalled = next(cause for cause in found.causes if cause.id == "stalled")
        assert (stalled.onset_step, stalled.file) == (250, "log.csv")
        assert "paused" not in {note.id for note in found.notes}

    def test_every_stall_is_counted(self):
        """Three at irregular places; the longest is reported."""
        found = diagnosed(logged(clock({60: 900.0, 250: 2000.0, 281: 700.0})))

        assert (values_with(found, "stall_count"), values_with(found, "stall_step")) == (
            {"stall_count": 3},
            {"stall_step": 250},
        )

    @pytest.mark.parametrize("steps", [range(100, 400, 100), range(50, 400, 50)])
    def test_pauses_at_equal_distances_are_usual(self, steps):
        """Checkpoints, the ends of epochs."""
        found = diagnosed(logged(clock(dict.fromkeys(steps, 600.0))))

        assert values_with(found, "stall_") == {"stall_count": 0}
        assert causes(found) == []

    def test_a_stall_among_pauses_at_equal_distances(self):
        """One of them takes ten times as long as the others."""
        pauses = {**dict.fromkeys(range(50, 400, 50), 590.0), 200: 5990.0}

        assert values_with(diagnosed(logged(clock(pauses))), "stall_")["stall_step"] == 200

    def test_evaluations_are_usual(self):
        """Two at irregular places, each with a value at its end."""
        times = clock({131: 900.0, 322: 900.0})
        held_out = logged(times[[130, 321]], "val/loss")

        assert values_with(diagnosed(logged(times), held_out), "stall_") == {"stall_count": 0}

    def test_checkpoints_are_usual(self):
        """A file was written in each pause."""
        times = clock({131: 900.0, 322: 900.0})
        written = [BEGIN + timedelta(seconds=times[i] - 20) for i in (130, 321)]
        saved = table("checkpoints", {"path": ["a.pt", "b.pt"], "time": written, "size": 10, "readable": True})

        assert values_with(diagnosed(logged(times), checkpoints=saved), "stall_") == {"stall_count": 0}

    def test_a_pause_of_many_steps_is_as_long_as_they_take(self):
        """Rows every step at first, then every hundred steps."""
        steps = np.array([*range(1, 201), *range(300, 1300, 100)])
        points = logged(10.0 * steps).with_columns(step=pl.Series(steps))

        assert values_with(diagnosed(points), "stall_") == {"stall_count": 0}

    def test_the_time_between_two_sessions_is_no_stall(self):
        """Nothing was running then."""
        again = logged(10.0 * np.arange(1, 201) + 90_000, session=1).with_columns(step=pl.col("step") + 200)

        assert values_with(diagnosed(logged(10.0 * np.arange(1, 201)), again), "stall_") == {"stall_count": 0}

    def test_without_times_nothing_is_known(self):
        """NULL, not 0."""
        points = logged(clock({})).with_columns(time=None).cast({"time": pl.Datetime("us", "UTC")})

        assert values_with(diagnosed(points), "stall_") | values_with(diagnosed(points), "log_pause") == {}


class TestSilence:
    def accounted(self, hours: float, state: str = "TIMEOUT") -> pl.DataFrame:
        return table(
            "jobs", {"job": ["7"], "state": [state], "started": [BEGIN], "ended": [BEGIN + timedelta(hours=hours)]}
        )

    def test_silence_until_the_time_limit(self):
        """4,000 s of rows in a job of ten hours: the limit is the consequence."""
        found = diagnosed(logged(clock({})), status="timeout", jobs=self.accounted(10), job="7")

        assert values_with(found, "end_silence") == {
            "end_silence_s": 32_000.0,
            "end_silence_ratio": 3200.0,
            "end_silence_step": 400,
        }
        assert causes(found) == ["hung"]
        assert found.causes[0].label == "hang"

    @pytest.mark.parametrize("status", ["finished", "running"])
    def test_a_finished_or_running_run_is_not_hung(self, status):
        """A long evaluation at the end, or a slow step."""
        found = diagnosed(logged(clock({})), status=status, jobs=self.accounted(10, "COMPLETED"), job="7")

        assert "hung" not in causes(found)

    def test_rows_until_the_end(self):
        """Ten seconds are no silence."""
        found = diagnosed(logged(clock({})), status="timeout", jobs=self.accounted(4010 / 3600), job="7")

        assert values_with(found, "end_silence_s")["end_silence_s"] == 10.0
        assert "hung" not in causes(found)

    def test_machine_readings_after_the_last_row(self):
        """The tracker's own readings last an hour longer than the loss."""
        machine = logged(10.0 * np.arange(1, 800), "system/cpu")

        assert causes(diagnosed(logged(clock({})), machine)) == ["hung"]


@pytest.mark.parametrize("run", sorted(path.name for path in RUNS.glob("healthy-*/")))
def test_healthy_runs_neither_stall_nor_slow_down(run):
    """None of these causes on recorded healthy runs."""
    assert not {"stalled", "hung", "throughput-drop", "data-loading"} & set(causes(recorded.diagnosed(RUNS / run)))


class TestEnding:
    def write(self, path: Path, last: str, size: int | None = None) -> Path:
        """A log of a hundred lines and `last`, filled up in the front to `size` bytes."""
        text = "".join(f"step {i} | loss {2 - i / 100:.3f}\n" for i in range(1, 101)) + last
        (path / "slurm-9.out").write_text("#" * ((size or len(text) + 1) - len(text) - 1) + "\n" + text)
        return path

    def test_a_log_that_ends_within_a_line(self, tmp_path):
        """The line and its end; alone this is no fault, because many logs lack a final line end."""
        found = loganalyst.diagnose(self.write(tmp_path, "step 101 | lo"))
        witness = found.features.witnesses["log_ends_mid_line"]

        assert values_with(found, "log_ends_mid_line") | values_with(found, "log_cut") == {
            "log_ends_mid_line": True, "log_cut_text": "step 101 | lo", "log_cut_at_buffer": False,
        }  # fmt: skip
        assert (witness.file, witness.line) == ("slurm-9.out", 102)
        assert "cut-off" not in causes(found)

    @pytest.mark.parametrize("last", ["step 101 | loss 1\n", " 50%|#####     | 5/10 [00:01<00:01]", "100%"])
    def test_whole_lines_and_progress_bars_are_not_cut(self, tmp_path, last):
        """A bar needs no line end."""
        assert values_with(loganalyst.diagnose(self.write(tmp_path, last)), "log_ends_mid_line") == {
            "log_ends_mid_line": False
        }

    @pytest.mark.parametrize(("size", "cause"), [(8192, ["cut-off"]), (8191, [])])
    def test_output_that_breaks_off_with_a_buffer(self, tmp_path, size, cause):
        """Two buffers of 4,096 bytes; one byte less is chance."""
        assert causes(loganalyst.diagnose(self.write(tmp_path, "step 101 | lo", size))) == cause

    def test_a_run_that_still_writes_is_not_called_dead(self, tmp_path):
        """The same log with a last row one second old."""
        now = datetime.now(UTC) - timedelta(seconds=101)
        text = "".join(
            f"{now + timedelta(seconds=i):%Y-%m-%d %H:%M:%S} step {i} | loss {2 - i / 100:.3f}\n" for i in range(101)
        )
        text = text + "#" * (8192 - len(text) % 8192)
        (tmp_path / "train.log").write_text(text)
        found = loganalyst.diagnose(tmp_path)

        assert (found.run.status, values_with(found, "log_cut_at_buffer"), causes(found)) == (
            "running",
            {"log_cut_at_buffer": True},
            [],
        )


class TestRankLogs:
    def logs(self, path: Path, lengths: dict[str, int]) -> dict[str, Any]:
        """A log a rank with a row every ten seconds; the values of `silent_log_*`."""
        for name, rows in lengths.items():
            stamps = (f"{BEGIN + timedelta(seconds=10 * i):%Y-%m-%d %H:%M:%S}" for i in range(rows))
            (path / name).write_text(
                "".join(f"{stamp} step {i} loss {2 - i / 1000:.3f}\n" for i, stamp in enumerate(stamps))
            )
        return values_with(loganalyst.diagnose(path), "silent_log")

    def test_the_rank_that_went_silent_first(self, tmp_path):
        """Rank 2 stops after 100 rows, the others go on to 400."""
        lengths = {f"rank_{rank}.log": 100 if rank == 2 else 400 for rank in range(4)}

        assert self.logs(tmp_path, lengths) == {"silent_log_s": 3000.0, "silent_log_file": "rank_2.log"}

    def test_logs_that_are_not_of_ranks_are_not_compared(self, tmp_path):
        """Standard error may be silent for hours."""
        assert self.logs(tmp_path, {"slurm-5.out": 400, "slurm-5.err": 100}) == {}


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Rows without times have no pauses."""
    assert stalls.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {
        "end_is_regular": False,
        "end_by_time_limit": False,
    }
