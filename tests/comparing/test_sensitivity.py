"""The best levels of a sweep, its interactions, and reasons for no answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.comparing.failureregion import corner
from loganalyst.comparing.sensitivity import sensitivity
from tests.comparing.conftest import searched, spaced


def asked(space, loss, sign=1.0):
    return sensitivity(space.settings, np.arange(len(loss)), np.asarray(loss, dtype=float), sign)[0]


def grid(effect, noise=0.02):
    """A grid of 6 rates, 3 widths and 3 repeats."""
    rng = np.random.default_rng(0)
    lr, width, _ = (v.ravel() for v in np.meshgrid(10.0 ** np.arange(-5, 1), [16, 64, 256], range(3)))
    return spaced({"lr": lr, "width": width}), effect(np.log10(lr), np.log2(width)) + noise * rng.standard_normal(
        lr.size
    )


def test_the_best_region_holds_the_true_best():
    space, loss = grid(lambda lr, _: (lr + 3) ** 2)
    found = asked(space, loss)

    (region,) = found.regions
    assert (region.key, region.best, region.levels, region.edge, region.free) == ("lr", 1e-3, (1e-3,), None, False)
    assert found.predicted is not None
    assert found.predicted[1] < 0.0 + 0.1
    assert found.predicted[2] > 0.0 - 0.1


def test_a_best_value_at_the_end_of_its_range_is_reported():
    found = asked(*grid(lambda lr, width: lr + 0.5 * width))

    other = asked(*grid(lambda lr, width: -lr - 0.5 * width))

    assert {r.key: r.edge for r in found.regions} == {"lr": "low", "width": "low"}
    assert {r.key: r.edge for r in other.regions} == {"lr": "high", "width": "high"}


def test_what_is_better_higher_is_best_where_it_is_highest():
    space, loss = grid(lambda lr, _: (lr + 3) ** 2)
    found = asked(space, -loss, -1.0)

    assert found.regions[0].best == 1e-3
    assert found.predicted is not None
    assert found.predicted[0] == pytest.approx(0, abs=0.2)


def test_the_best_rate_of_each_batch_is_reported_if_they_interact():
    found = asked(*searched(2, 400))
    (first, *_) = found.interactions
    best = {b["at"]: b["best"] for b in first.best}

    assert first.important
    assert set(first.keys) == {"lr", "batch_size"}
    if first.keys[0] == "lr":  # the best rate falls as the batch grows
        assert best[32.0] > best[256.0]


def test_settings_that_were_changed_together_are_named():
    rng = np.random.default_rng(0)
    lr = 10 ** rng.uniform(-4, -1, 40)
    space = spaced({"lr": lr, "warmup": 1000 * lr * rng.uniform(0.95, 1.05, 40), "width": rng.choice([1, 2, 4], 40)})
    found = asked(space, np.log10(lr) + 0.1 * rng.standard_normal(40))

    assert [set(row[:2]) for row in found.together] == [{"lr", "warmup"}]


@pytest.mark.parametrize(
    ("columns", "loss", "why"),
    [
        ({"lr": [0.1, 0.1]}, [1.0, 2.0], "no setting is logged with different values"),
        ({"lr": [0.1, 0.2, 0.3]}, [1.0, 2.0, 3.0], "3 runs can be compared, and 8 are needed"),
        (
            {f"k{i}": np.random.default_rng(i).uniform(size=9) for i in range(7)},
            list(range(9)),
            "7 settings vary: too few runs",
        ),
        ({"lr": [0.1, 0.2] * 5}, [1.0] * 10, "same objective"),
    ],
)
def test_the_reason_is_given_if_there_is_no_answer(columns, loss, why):
    found = asked(spaced(columns), loss)

    assert why in found.why_not
    assert found.importances == ()


def test_one_far_run_does_not_hide_the_rest():
    """A loss of a million in one run of sixty."""
    space, loss = searched(4, 60)
    loss[0] = 1e6
    found = asked(space, loss)

    assert found.importances[0].key == "lr"
    assert found.importances[0].important


COLUMN = st.one_of(
    st.lists(st.sampled_from([0.0, 1e-4, 1e-3, 0.5, 1e6, -3.0]), min_size=12, max_size=12),
    st.lists(st.sampled_from(["adam", "sgd", "", "nan", "1e-3"]), min_size=12, max_size=12),
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=12, max_size=12),
)


@settings(max_examples=12)
@given(
    columns=st.lists(COLUMN, min_size=1, max_size=4),
    loss=st.lists(st.floats(-1e12, 1e12), min_size=12, max_size=12),
    bad=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_whatever_the_settings_and_losses_are_shares_are_shares(columns, loss, bad):
    """No setting and no loss breaks it; shares, chances and regions stay what they are."""
    space = spaced({f"k{i}": column for i, column in enumerate(columns)})
    found = asked(space, loss)
    corner(space.settings, np.array(bad))

    for i in found.importances:
        assert 0 <= i.low <= i.high <= 1
        assert 0 <= i.main <= i.share + 1e-9 <= 1 + 2e-9
        assert 0 < i.p <= i.q + 1e-12 <= 1 + 2e-12
        assert all(np.isfinite(point["value"]) for point in i.profile)
    for region in found.regions:
        assert region.best in region.levels
