"""Stable-Baselines3's `evaluations.npz`, written as its callback does."""

from pathlib import Path

import numpy as np

from loganalyst.model import Tables
from loganalyst.sources.tables import evaluations_reader


def read(path: Path, **arrays: object) -> Tables:
    np.savez(path, **arrays)
    assert evaluations_reader.sniff(path, path.read_bytes()[:1000]) == 0.95
    return Tables.concat(evaluations_reader.read(path))


def test_evaluations_become_means_over_episodes(tmp_path):
    found = read(
        tmp_path / "evaluations.npz",
        timesteps=[1000, 2000],
        results=[[1.0, 3.0], [4.0, 6.0]],
        ep_lengths=[[10, 30], [20, 20]],
        successes=[[True, False], [True, True]],
    )

    assert found.points.select("metric", "step", "value").rows() == [
        ("eval/mean_reward", 1000, 2.0), ("eval/mean_reward", 2000, 5.0),
        ("eval/mean_ep_length", 1000, 20.0), ("eval/mean_ep_length", 2000, 20.0),
        ("eval/success_rate", 1000, 0.5), ("eval/success_rate", 2000, 1.0),
    ]  # fmt: skip


def test_arrays_that_do_not_fit_are_gaps(tmp_path):
    found = read(tmp_path / "evaluations.npz", timesteps=[1, 2], results=[[1.0]], ep_lengths=[[1], [2]])

    assert found.points["metric"].unique().to_list() == ["eval/mean_ep_length"]
    assert found.gaps["why"].to_list() == ["npz: results has shape (1, 1), 2 rows are needed"]


def test_nothing_is_unpickled(tmp_path):
    """An array of Python objects is a pickle: it is refused."""
    found = read(tmp_path / "evaluations.npz", timesteps=[1], results=np.array([{"a": 1}], dtype=object))

    assert found.points.height == 0
    assert found.gaps["why"].to_list() == [
        "npz: results holds Python objects in a pickle, which can run code and is not loaded: export it as JSON or CSV"
    ]


def test_a_damaged_archive_is_a_gap(tmp_path):
    path = tmp_path / "evaluations.npz"
    np.savez(path, timesteps=[1], results=[[1.0]])
    path.write_bytes(path.read_bytes()[:200])
    found = Tables.concat(evaluations_reader.read(path))

    assert (found.points.height, found.gaps["bytes"].to_list()) == (0, [200])
