"""Groups of related runs: projects are split, sweeps never."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.comparing.comparedruns import Logged
from loganalyst.comparing.relatedruns import kin
from tests.comparing.conftest import config, features

LANGUAGE = {"model.n_layer": 12, "model.n_head": 8, "block_size": 256, "dataset": "books", "lr": 1e-3, "seed": 1}


CONTROL = {"env_id": "Walker", "tau": 0.01, "buffer_size": 1e5, "hidden_sizes": "64,64", "lr": 3e-4, "seed": 1}


IMAGES = {"arch": "resnet", "image_size": 224, "num_classes": 10, "augment": "flip", "lr": 0.1, "seed": 1}


READS = ("train/loss", "val/loss", "val/perplexity", "train/perplexity", "lr")


ACTS = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "train/entropy_loss", "lr")


SEES = ("train_loss", "val_loss", "val_acc", "train_acc")


Run = tuple[Mapping[str, Any], Sequence[str], float | None]


def logged(runs: Sequence[Run], folders: Sequence[str] = ()) -> Logged:
    """Runs r0, r1 … with these settings, metrics and held-out losses."""
    ids = [f"r{i}" for i in range(len(runs))]
    listing = pl.DataFrame(
        {"run_id": ids, "path": [f"/{folders[i] if folders else 'x'}/{r}" for i, r in enumerate(ids)]}
    )
    rows = [(r, metric) for r, (_, metrics, _) in zip(ids, runs, strict=True) for metric in metrics]
    points = pl.LazyFrame(rows, schema={"run_id": pl.String, "metric": pl.String}, orient="row")
    values = features(run_id=ids, val_loss_best=[loss for *_, loss in runs])
    run_settings = config({r: dict(of) for r, (of, *_) in zip(ids, runs, strict=True)})
    return Logged(SimpleNamespace(points=points), listing, run_settings, values)  # type: ignore[arg-type]


def grouped(runs: Sequence[Run], folders: Sequence[str] = ()) -> list[list[int]]:
    return [group.rows.tolist() for group in kin(logged(runs, folders))]


def test_three_projects_are_three_groups():
    """The largest first, with the number of common identifying names."""
    runs = [(LANGUAGE, READS, 3.1), (CONTROL, ACTS, None), (IMAGES, SEES, 0.3)] * 2 + [(LANGUAGE, READS, 3.0)]
    first, *others = kin(logged(runs))

    assert first.rows.tolist() == [0, 3, 6]
    assert [(k.rows.tolist(), k.settings, k.metrics, k.scale) for k in others] == [
        ([1, 4], (0, 4), (0, 2), ()),
        ([2, 5], (0, 4), (0, 2), ()),
    ]


SWEEP = [({**LANGUAGE, "lr": 10.0**-i, "dataset": f"set-{i}"}, READS, 10.0**i) for i in range(5)]


SEEDS = [({**CONTROL, "seed": i}, ACTS, None) for i in range(4)]


SIZES = [({**IMAGES, "width": 2**i, "params": 10**i}, SEES, 100.0 / 4**i) for i in range(6)]


ADDED = [(LANGUAGE, READS, 3.0)] * 2 + [
    ({**LANGUAGE, "rope": 1, "bias": 0, "qk_norm": 1}, (*READS, "val/bleu"), 2.0)
] * 2


NESTED = [(LANGUAGE, READS, 3.0), ({f"cfg.{k}".replace("_", "-"): v for k, v in LANGUAGE.items()}, READS, 0.1)]


RENAMED = [(IMAGES, SEES, 0.29)] * 3 + [({"backbone": "resnet", "size": 1, "labels": 1, "crop": 1}, ("loss",), 0.2)] * 3


CRASHED = [(LANGUAGE, READS, 3.0)] * 3 + [(LANGUAGE, (), None), ({}, ("train/loss",), None), ({}, (), None)]


PLAIN = [({"lr": 1.0, "momentum": 0.9, "seed": 1}, ("loss",), 0.2)] * 3 + [({"lr": 0.1}, ("loss",), 90.0)] * 3


METHODS = [
    ({**CONTROL, "algorithm": "a"}, (*ACTS, "train/approx_kl", "train/clip_fraction"), None),
    ({**CONTROL, "algorithm": "b"}, ("train/actor_loss", "train/critic_loss", "train/ent_coef"), None),
]


@pytest.mark.parametrize(
    "runs", [SWEEP, SEEDS, SIZES, ADDED, NESTED, RENAMED, CRASHED, PLAIN, METHODS],
    ids=["sweep", "seeds", "sizes", "old and new", "nested", "renamed", "crashed", "plain", "methods"],
)  # fmt: skip
def test_runs_of_one_project_stay_together(runs):
    """Whatever the values of its settings, objective, and what a new version or a crash adds to or takes from a log."""
    assert grouped(runs) == [list(range(len(runs)))]


@pytest.mark.parametrize(("loss", "groups"), [(2.0, [[0, 1, 2], [3, 4, 5]]), (2.1, [[0, 1, 2, 3, 4, 5]])])
def test_different_settings_split_runs_only_if_the_values_differ_too(loss, groups):
    """By half and more, of three runs each: 3.0 and above against at most 2.0."""
    common = ("train/loss", "val/loss")
    runs = [(LANGUAGE, common, 3.0 + i) for i in range(3)] + [(IMAGES, common, loss - 0.1 * i) for i in range(3)]

    assert grouped(runs) == groups


def test_without_settings_the_metrics_decide():
    """With two identifying names each; one is not enough."""
    bare = [({}, (*READS, "val/bleu"), 3.0), ({}, ACTS, None)]

    assert grouped(bare) == [[0], [1]]
    assert grouped([({}, ("val/bleu",), 3.0), ({}, ("rollout/ep_rew_mean",), None)]) == [[0, 1]]


def test_runs_that_log_too_little_go_with_their_folder():
    """They do not connect unrelated groups."""
    runs = [(LANGUAGE, READS, 3.0)] * 3 + [(CONTROL, ACTS, None)] * 2 + [({}, (), None)] * 2

    assert grouped(runs, ["a", "a", "a", "b", "b", "a", "b"]) == [[0, 1, 2, 5], [3, 4, 6]]


def test_the_group_that_has_the_metric_asked_for_goes_first():
    runs = [(LANGUAGE, READS, 3.0)] * 3 + [(CONTROL, ACTS, None)] * 2
    first, other = kin(logged(runs), "rollout/ep_rew_mean")

    assert (first.rows.tolist(), other.rows.tolist()) == ([3, 4], [0, 1, 2])


def test_nothing_at_all_is_one_group():
    assert grouped([({}, (), None)]) == [[0]]
    assert [k.rows.tolist() for k in kin(logged([]))] == [[]]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_sweep_is_never_split(data):
    """Whatever settings and metrics some of its runs did not log, and whatever their values, where one logged all."""
    keys = [*LANGUAGE, *CONTROL, *IMAGES]
    whole = dict.fromkeys(keys[: data.draw(st.integers(1, len(keys)))], 1.0)
    metrics = data.draw(st.sampled_from([READS, ACTS, SEES, (*READS, *ACTS)]))
    some = st.tuples(
        st.lists(st.sampled_from([*whole]), unique=True),
        st.lists(st.sampled_from(metrics), unique=True),
        st.one_of(st.none(), st.floats(1e-6, 1e6)),
    )
    less = data.draw(st.lists(some, max_size=8))
    runs = [(whole, metrics, 1.0), *(({k: whole[k] for k in ks}, ms, v) for ks, ms, v in less)]
    at = data.draw(st.permutations(range(len(runs))))

    assert grouped([runs[i] for i in at]) == [list(range(len(runs)))]
