"""Features of the whole run: its end, contradictions, and its kind."""

from collections.abc import Callable

# ruff: noqa: E501 -- lines of logs stay whole
from pathlib import Path

import numpy as np
import pytest

from loganalyst.curves.runcurves import run_curves
from loganalyst.features import run as run_features
from loganalyst.features.context import Context
from loganalyst.model import Features, Run, RunStatus, Source, table
from loganalyst.pipeline import diagnose_paths
from loganalyst.sources.ingest import ingest
from tests.blame.blame_cases import DONE, OOM, steps, trace

FeaturesOf = Callable[..., Features]
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()
STOP = "slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2024-05-01T12:00:00{} ***\n"


@pytest.mark.parametrize(
    ("logged", "kind"),
    [
        ({"loss": DECAY}, "training"),
        ({"loss": DECAY[:3]}, None),
        ({"train_accuracy": DECAY}, "training"),
        ({"val_acc": DECAY}, "evaluation"),
        ({"loss": DECAY, "episode_reward": DECAY}, "reinforcement"),
        ({"loss": DECAY, "success_rate": DECAY}, "reinforcement"),
        ({"loss": DECAY, "train_accuracy": DECAY, "gen_success": DECAY}, "training"),
        ({"d_loss": DECAY, "g_loss": DECAY}, "adversarial"),
        ({"system/gpu.0.temp": DECAY}, None),
    ],
)
def test_the_kind_of_a_run(features_of: FeaturesOf, logged: dict[str, list[float]], kind: str | None) -> None:
    """By metrics that were logged at least four times."""
    assert features_of(logged).values["run_kind"] == kind


@pytest.mark.parametrize(
    ("tail", "status"),
    [
        (DONE, "finished"),
        (trace(OOM), "failed"),
        # survived, and what one dump of metrics follows is not
        (trace(OOM) + steps(9, 20) + DONE, "finished"),
        (trace(OOM) + steps(9, 9), "failed"),
        # the scheduler ends what a crash had left hanging
        (trace(OOM) + STOP.format(" DUE TO TIME LIMIT"), "timeout"),
        (STOP.format(" DUE TO PREEMPTION"), "preempted"),
        (STOP.format(""), "cancelled"),
        # `srun -K` cancels what is left of a failed step
        (trace(OOM) + STOP.format(""), "failed"),
        ("srun: error: Node failure on gpu04\n", "node_fail"),
        ("srun: error: gpu04: task 2: Killed\n", "killed"),
        ("srun: error: gpu04: task 2: Aborted\n", "failed"),
        ("srun: error: gpu04: task 2: Killed\n" + STOP.format(""), "killed"),
        ("srun: error: gpu04: task 2: Exited with exit code 3\n" + STOP.format(""), "failed"),
        (STOP.format("") + "srun: error: gpu04: task 2: Killed\n", "cancelled"),
        ("srun: Force Terminated job 9\nsrun: error: gpu04: tasks 0-3: Terminated\n", "killed"),
        (DONE + "srun: error: gpu04: tasks 0-3: Terminated\n", "finished"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=9.0. Some of the step tasks have been OOM Killed.\n", "killed"),
        ("/var/spool/job: line 3: 77 Killed   python train.py\n", "killed"),
        # the tracker's crash when the work is done
        (DONE + trace("wandb.errors.CommError: failed to upload file"), "finished"),
        (trace("wandb.errors.CommError: failed to upload file"), "failed"),
        (trace("RuntimeError: [/gloo/transport/tcp/pair.cc:534] Timed out waiting 1800000ms for recv operation to complete"), "failed"),
    ],
)  # fmt: skip
def test_the_status_from_a_log(tmp_path: Path, tail: str, status: str) -> None:
    """The scheduler's line decides first, then the first fault that was not survived."""
    path = tmp_path / "job.out"
    path.write_text(steps(1, 8) + tail)

    assert ingest(path).status == status


@pytest.mark.parametrize(
    ("tail", "early"),
    [
        ("Epoch 00014: early stopping\n", True),
        ("Early stopping triggered at epoch 14\n", True),
        ("EarlyStopping counter: 3 out of 10\n", False),
        (DONE, False),
        (
            "Early stopping triggered at epoch 14\n" + trace(OOM) + "0%|   | 0/9 [00:00<?, ?it/s]\n" + steps(1, 30),
            False,
        ),
    ],
)
def test_training_that_stopped_early(tmp_path: Path, tail: str, early: bool) -> None:
    """By the lines of the last session."""
    path = tmp_path / "job.out"
    path.write_text(steps(1, 8) + tail)

    assert run_features.compute(Context(ingest(path), (), table("findings")))["run_stopped_early"] is early


@pytest.mark.parametrize(
    ("status", "tracker", "state", "said"),
    [
        ("failed", "finished", None, "W&B says finished"),
        ("failed", "finished", "COMPLETED", "W&B says finished, SLURM says COMPLETED"),
        ("finished", "failed", None, "W&B says failed"),
        ("timeout", "failed", "TIMEOUT", None),
        ("cancelled", "finished", "CANCELLED by 1000", "W&B says finished"),
        ("failed", "unknown", "RUNNING", None),
        ("failed", "failed", "FAILED", None),
    ],
)
def test_sources_that_contradict_the_status(
    status: RunStatus, tracker: str, state: str | None, said: str | None
) -> None:
    """A contradicting tracker or scheduler is named; a plain failure does not contradict a kill or stop."""
    run = Run(
        status=status,
        sources=(Source("a.wandb", "wandb", 1), Source("job.out", "text", 1)),
        sessions=table("sessions", {"session": [0, 0], "source": ["a.wandb", "job.out"], "status": [tracker, status]}),
        jobs=table("jobs", {"job": ["9"], "state": [state]}) if state else table("jobs"),
        job="9",
    )
    told = run_features.compute(Context(run=run, curves=(), findings=table("findings")))

    assert told["run_status_otherwise"] == said


@pytest.mark.parametrize(
    ("trees", "planned", "best", "end"),
    [
        (400, 1000, 399, "stopped_early_unexplained"),
        (400, 1000, 349, "early_stopped"),
        (400, 400, 399, "finished"),
    ],
)
def test_the_remaining_time_shows_the_plan(
    features_of: FeaturesOf, trees: int, planned: int, best: int, end: str
) -> None:
    """CatBoost logs it. A best value 50 trees before the end is a usual patience."""
    at = np.arange(trees)
    logged = {
        "learn/Logloss": 0.7 * 0.99**at,
        "test/Logloss": 0.5 + np.abs(at - best) / 1000,
        "Passed": 10.0 * (at + 1),
        "Remaining": 10.0 * (planned - at - 1),
    }
    values = features_of({name: x.tolist() for name, x in logged.items()}).values

    assert (values["run_planned_steps"], values["run_end"]) == (planned, end)


@pytest.mark.parametrize(("end", "status"), [("Job completed successfully", "healthy"), ("", "insufficient_data")])
def test_a_log_with_few_values_is_that_of_a_job(tmp_path: Path, end: str, status: str) -> None:
    """Its end decides: two losses are no curve."""
    (tmp_path / "job.out").write_text(f"epoch 0 loss 2.31\nepoch 1 loss 1.90\n{end}\n")
    [found] = diagnose_paths([tmp_path / "job.out"])

    assert (found.features.values["run_kind"], found.status) == ("job", status)
    assert found.confidence <= 0.88


def test_earlier_trainings_of_the_same_file(tmp_path: Path) -> None:
    """Three trainings of eight epochs: the values of the first two are left out."""
    rows = [f"{epoch},{2.0 * 0.7**epoch:.4f}" for _ in range(3) for epoch in range(8)]
    (tmp_path / "log.csv").write_text("\n".join(["epoch,loss", *rows]) + "\n")
    (tmp_path / "one.csv").write_text("\n".join(["epoch,loss", *rows[:8]]) + "\n")
    tasks = [f"{row},0.9,{'0.8' if k > 7 else ''},{'0.7' if k > 15 else ''}" for k, row in enumerate(rows)]
    (tmp_path / "stages.csv").write_text("\n".join(["epoch,loss,acc_T1,acc_T2,acc_T3", *tasks]) + "\n")

    def left_out(name: str) -> object:
        run = ingest(tmp_path / name)
        return run_features.compute(Context(run, tuple(run_curves(run, {}, {}, {})[0]), table("findings")))[
            "run_earlier_trainings_points"
        ]

    assert (left_out("log.csv"), left_out("one.csv")) == (16, 0)
    assert left_out("stages.csv") == 0  # of one training, whose tasks are judged from the first stage on


@pytest.mark.parametrize(
    ("settings", "planned"),
    [({"eval.max_iters": 20}, None), ({"eval.max_iters": 20, "max_iters": 600}, 600), ({"train.max_iters": 600}, 600)],
)
def test_the_length_of_an_evaluation_is_no_plan(
    features_of: FeaturesOf, settings: dict[str, float], planned: float | None
) -> None:
    assert features_of({"loss": [2.0, 1.0]}, settings).values["run_planned_steps"] == planned


@pytest.mark.parametrize(("bar", "rows"), [("3252/3252", True), ("20/20", False)])
def test_rows_without_a_step_are_counted(tmp_path: Path, bar: str, rows: bool) -> None:
    """A bar shows how many steps there were."""
    log = tmp_path / "train.log"
    printed = "".join(f"{{'loss': '{2 - i / 20}', 'epoch': '{1 + i / 20}'}}\n" for i in range(20))
    log.write_text(f"100%|██████████| {bar} [2:04:36<00:00,  2.30s/it]\n{printed}")
    (found,) = diagnose_paths([log])

    assert (found.features.values["run_steps_are_rows"], found.features.values["run_last_step"]) == (rows, 19)


def test_rows_that_print_fractions_of_epochs_alone_have_no_step(tmp_path: Path) -> None:
    """Lines of the Hugging Face Trainer whose progress bar went elsewhere; whole epochs are steps."""
    of_parts, of_epochs = tmp_path / "a.log", tmp_path / "b.log"
    of_parts.write_text("".join(f"{{'loss': {2 - i / 20}, 'epoch': {(i + 1) / 8}}}\n" for i in range(20)))
    of_epochs.write_text("".join(f"{{'loss': {2 - i / 20}, 'epoch': {float(i)}}}\n" for i in range(20)))
    found = [diagnose_paths([log])[0].features.values["run_steps_are_rows"] for log in (of_parts, of_epochs)]

    assert found == [True, False]


@pytest.mark.parametrize(("head", "rows"), [("Scores of the held-out part", True), ("step 0", False)])
def test_values_that_were_printed_once_have_no_step(tmp_path: Path, head: str, rows: bool) -> None:
    """The reader numbers a value without a step 0, which no line states."""
    log = tmp_path / "scores.log"
    log.write_text(f"{head}\nridge acc 0.712\nforest acc 0.801\n")
    (found,) = diagnose_paths([log])

    assert (found.features.values["run_steps_are_rows"], found.features.values["run_last_step"]) == (rows, 0)


@pytest.mark.parametrize(("end", "longest"), [("", None), ("Traceback (most recent call last):\nValueError: bad\n", 0)])
def test_numbers_that_are_not_understood_are_not_nothing(tmp_path: Path, end: str, longest: int | None) -> None:
    """A log of rows without names, with its settings: it is not known how much was logged, unless an error ended it."""
    rows = (f"2024-03-05 09:12:{k:02d},000 - {k},{2 / (k + 1):.4f},{3 / (k + 1):.4f}\n" for k in range(20))
    (tmp_path / "train.log").write_text("".join(rows) + end)
    (tmp_path / "config.txt").write_text("lr: 0.1\nbatch_size: 64\n")
    found = diagnose_paths([tmp_path])[0]

    assert found.features.values["run_longest_metric"] == longest
    assert "dead-run" not in [cause.id for cause in found.causes]
    assert end or found.status == "insufficient_data"
