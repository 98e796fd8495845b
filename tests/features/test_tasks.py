"""One measure of several tasks or sets."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import tasks
from loganalyst.features.context import Context
from loganalyst.model import Features

ContextOf = Callable[..., Context]
UP, NAN = [*np.linspace(0.1, 0.9, 8)], [float("nan")]


def test_metrics_named_after_held_out_data_and_a_task_are_tasks(context_of: ContextOf) -> None:
    """`eval_pick` has no role of its own."""
    groups = tasks.groups(context_of({"eval_pick": [*UP, *UP[::-1]], "eval_insert": [0.0] * 8 + UP}))

    assert [{c.metric for c in group} for group in groups] == [{"eval_pick", "eval_insert"}]


@pytest.mark.parametrize(
    "logged",
    [
        {"eval_local": np.array(UP), "eval_global": 1 - np.array(UP)},  # parts of one whole
        {"eval_reach": np.array(UP) * 400, "eval_depth": np.array(UP)},  # no share
        {"eval_episode_pose": np.array(UP), "eval_episode_reach": np.array(UP)},  # more than a task
        {"eval_pick": np.array(UP), "eval_threshold": np.array(UP[::-1])},  # only one was learned
        {"local": np.array(UP), "global": np.array(UP)},  # not held out
        {"eval_pick": np.array(UP)},
    ],
)
def test_other_metrics_are_no_tasks(context_of: ContextOf, logged: dict[str, list[float]]) -> None:
    assert tasks.groups(context_of({name: np.round(values, 3) for name, values in logged.items()})) == []


def test_a_benchmark_is_named_after_its_data(context_of: ContextOf) -> None:
    """The score of the new task is another held-out score, and that of training data is none."""
    names = ("mmlu", "eval_gsm8k_acc", "legal_em", "train_mmlu_acc")
    known, scores = tasks.benchmarks(context_of(dict.fromkeys(names, UP)))

    assert {c.metric for c in known} == {"mmlu", "eval_gsm8k_acc"}
    assert {c.metric for c in scores} == {"mmlu", "eval_gsm8k_acc", "legal_em"}


def test_a_benchmark_is_lost_while_another_score_rises(features_of: Callable[..., Features]) -> None:
    """What the pretrained model brought along was not gained in this run, so that gain is not known."""
    row = features_of({"mmlu": UP[::-1], "legal_em": UP}).values

    assert (row["forgotten_metric"], row["forgotten_for_metric"]) == ("mmlu", "legal_em")
    assert row["forgotten_gained"] is None


def test_precision_that_falls_while_recall_rises_is_not_forgotten(features_of: Callable[..., Features]) -> None:
    logged = {"precision": UP[::-1], "recall": UP, "mAP50": UP}

    assert features_of(logged).values["forgotten_share"] is None
