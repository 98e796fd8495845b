"""The next run: the most informative one, and the meaning of each outcome."""

from dataclasses import replace

import numpy as np
import polars as pl

from loganalyst.comparing.comparisonresult import Corner, Objective, Scaling, ScalingFit, Seeds, Sensitivity
from loganalyst.comparing.nextrun import Known, suggestions
from loganalyst.comparing.seeds import seeds
from loganalyst.comparing.sensitivity import sensitivity
from tests.comparing.conftest import spaced

OBJECTIVE = Objective("val/loss", "val_loss", "up", "best", "", 10)


EMPTY = Known(OBJECTIVE, Sensitivity(0, why_not="-"), None, None, {}, "/runs/best", {}, 0.0, None)


def swept(effect, levels=(1e-4, 1e-3, 1e-2)):
    """What is known of a grid of rates and widths."""
    rng = np.random.default_rng(0)
    lr, width, _ = (v.ravel() for v in np.meshgrid(levels, [16, 64, 256], range(3)))
    space = spaced({"lr": lr, "width": width})
    loss = effect(np.log10(lr), np.log2(width)) + 0.02 * rng.standard_normal(lr.size)
    effects, model = sensitivity(space.settings, np.arange(lr.size), loss, 1.0)
    return replace(EMPTY, sensitivity=effects, model=model, settings=space.settings_of(int(np.argmin(loss))))


def test_the_range_is_extended_if_the_best_value_is_at_its_end():
    (found, *_) = suggestions(swept(lambda lr, _: -lr))

    assert (found.kind, found.change, found.base) == ("extend", {"lr": "0.03"}, "/runs/best")
    assert found.outcomes[0][0].startswith("val/loss ends below")


def test_no_suggestion_lies_in_the_unstable_region():
    known = replace(swept(lambda lr, _: -lr), corner=Corner(("lr > 0.01",), 9, 9, 20, 0, 0.001))

    assert "extend" not in [s.kind for s in suggestions(known)]


def test_more_seeds_where_two_groups_are_not_decided():
    same = pl.Series([0, 0, 0, 1, 1, 1])
    settings = [{"lr": "0.1"}] * 3 + [{"lr": "0.2"}] * 3
    found = seeds(same, [f"r{i}" for i in range(6)], np.array([1.0, 1.1, 1.2, 1.15, 1.25, 1.35]), settings, 1.0)
    (first, *_) = suggestions(replace(EMPTY, seeds=found, paths={f"r{i}": f"/runs/r{i}" for i in range(6)}))

    assert first.kind == "seeds"
    assert first.base == "/runs/r0"
    assert "lr 0.1 or 0.2" in first.title
    assert found.versus[0].seeds is not None
    assert f"{found.versus[0].seeds - 3} more seeds" in first.title


def test_a_law_that_lacks_a_size_asks_for_it():
    points = tuple((10.0**i, 3.0 / i) for i in (6, 7, 8, 9))
    fit = ScalingFit("parameters", "", "too_few", 4, 1000.0, "4 different sizes", points=points)
    (found, *_) = suggestions(replace(EMPTY, scaling=Scaling((fit,)), seeds=Seeds(why_not="-")))

    assert (found.kind, found.change) == ("scale", {"parameters": "3e+09"})


def test_nothing_is_suggested_where_nothing_is_known():
    assert suggestions(EMPTY) == ()
