"""Settings of many runs: which ones vary, on which scale, and which runs are equal except for the seed."""

import numpy as np
import polars as pl
import pytest

from loganalyst.comparing.settingspace import space
from tests.comparing.conftest import config, spaced


def only(columns):
    (setting,) = spaced(columns).settings
    return setting


@pytest.mark.parametrize(
    ("key", "levels", "scale"),
    [
        ("lr", [1e-4, 3e-4, 1e-3], "log"),  # rates already from a factor of 3 on
        ("dropout", [0.0, 0.1, 0.2, 0.5], "linear"),
        ("dropout", list(np.linspace(0.004, 0.5, 12)), "linear"),  # spans a factor of 100, and lies evenly as it is
        ("width", [16, 64, 256], "log"),
        ("weight_decay", [0.0, 1e-4, 1e-3, 1e-2], "log"),
        ("offset", [-1.0, 1.0, 100.0], "linear"),
        ("optimizer", ["adam", "sgd", "lion"], "choice"),
        ("fused", ["true", "false", "true"], "choice"),
    ],
)
def test_the_scale_of_a_setting_follows_from_its_levels(key, levels, scale):
    assert only({key: levels}).scale == scale


def test_levels_lie_where_their_scale_puts_them():
    """0 of a logarithmic setting lies a usual step below the least."""
    setting = only({"weight_decay": [0.0, 1e-4, 1e-3, 1e-2]})

    np.testing.assert_allclose(setting.at, [-1, -1 / 3, 1 / 3, 1])
    assert setting.levels == (0.0, 1e-4, 1e-3, 1e-2)
    assert setting.codes.tolist() == [0, 1, 2, 3]


def test_settings_that_split_the_runs_alike_are_merged():
    """The kind that usually matters first gives the name, whatever the order of the levels."""
    found = spaced({"total_params": [300, 200, 100, 200], "lr": [0.1, 0.2, 0.3, 0.2]})

    assert [(s.key, s.also) for s in found.settings] == [("lr", ("total_params",))]


def test_what_names_a_run_or_a_place_is_no_setting():
    """Ids, folders, hosts, a text or a counter that is another in each run."""
    n = 7
    found = spaced(
        {
            "lr": [0.1, 0.2] * 3 + [0.1],
            "run_id": [f"x{i}" for i in range(n)],
            "output_dir": [f"out/{i}" for i in range(n)],
            "hostname": ["a", "b"] * 3 + ["c"],
            "comment": [f"try {i}" for i in range(n)],
            "trial": list(range(n)),
            "constant": [1] * n,
        }
    )

    assert [s.key for s in found.settings] == ["lr"]
    assert found.same.n_unique() == 2


def test_runs_are_equal_up_to_the_seed_and_numbers_however_they_are_written():
    rows = [("a", "lr", "0.001", 1e-3), ("b", "lr", "1e-3", 1e-3), ("c", "lr", "2e-3", 2e-3)]
    rows += [(run, "seed", seed, float(seed)) for run, seed in (("a", "1"), ("b", "2"), ("c", "1"))]
    found = space(["a", "b", "c", "d"], pl.DataFrame(rows, schema=config({}).schema, orient="row"))

    assert (found.same[0] == found.same[1], found.same[0] == found.same[2]) == (True, False)
    assert found.exact[0] != found.exact[1]
    assert found.same[3] is None
    assert found.seeds.to_list() == ["1", "2", "1", None]


def test_settings_of_a_random_search_are_not_one():
    """Each run has a level of its own in both, in another order."""
    found = spaced({"lr": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "weight_decay": [0.3, 0.1, 0.2, 0.6, 0.5, 0.4]})

    assert [s.key for s in found.settings] == ["lr", "weight_decay"]


def test_a_setting_that_falls_as_another_rises_is_the_same():
    found = spaced({"lr": [0.1, 0.2, 0.3], "inverse": [10.0, 5.0, 3.3]})

    assert [(s.key, s.also) for s in found.settings] == [("lr", ("inverse",))]


def test_a_choice_that_some_runs_do_not_set_has_a_level_for_it():
    found = space(["a", "b", "c"], config({"a": {"clip": "norm"}, "b": {}, "c": {"clip": "norm"}}))

    assert found.settings[0].levels == ("norm", "(not set)")
    assert found.settings[0].codes.tolist() == [0, 1, 0]


def test_runs_without_settings_have_none():
    found = space(["a", "b"], config({}))

    assert found.settings == ()
    assert found.same.to_list() == [None, None]
    assert found.values.width == 0
