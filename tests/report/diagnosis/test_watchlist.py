"""What to watch after a fix."""

from dataclasses import replace

import numpy as np

from loganalyst.model import Role
from loganalyst.report.diagnosis.watchlist import watch
from tests.report.conftest import LOSS, curve

ENTROPY = Role("entropy", "entropy of a policy", "down", True)


def watched(failed, values, onset):
    cause = replace(failed.causes[0], metric="loss", onset_step=onset, evidence=(), symptoms=(), line=None)
    curves = [curve("loss", LOSS, range(len(values)), values)]
    return [(row.label, row.text) for row in watch(replace(failed, curves=curves, causes=(cause,)))]


def test_the_level_before_the_onset_is_the_goal(failed):
    """It is the median of the last fifth before the onset; then comes how far the curve went."""
    values = np.r_[np.full(50, 2.0), 50.0, 60.0]

    assert watched(failed, values, 50) == [("loss", "stays near 2, its level before step 50; it went to 60 at step 51")]


def test_without_a_level_its_best_value_is_named(failed):
    """A fifth of eight steps has too few values for a level."""
    assert watched(failed, [9, 8, 7, 6, 2, 2, 2, 2, 50, 60], 8) == [("loss", "ended at 60; its best was 2 at step 4")]


def test_a_curve_without_finite_values_must_stay_finite(failed, healthy):
    """Without a likely cause there is nothing to watch."""
    assert watched(failed, [np.nan] * 10, 3) == [("loss", "stays finite")]
    assert [*watch(healthy)] == []


def test_an_entropy_is_watched_by_its_first_size(failed):
    """The level before the onset is that of a policy that had already settled."""
    cause = replace(failed.causes[0], metric="entropy", onset_step=50, evidence=(), symptoms=(), line=None)
    values = np.r_[np.linspace(-0.7, -0.1, 50), np.full(50, -0.04)]
    curves = [curve("entropy", ENTROPY, range(100), values)]

    assert [row.text for row in watch(replace(failed, curves=curves, causes=(cause,)))] == [
        "keeps half of its first size for the first tenth of the run; it went from -0.7 to -0.04"
    ]


def test_only_a_line_of_a_job_log_can_come_back(crashed):
    """A row of a table of metrics has no words that could."""
    source = crashed.run.sources[0]
    table = replace(crashed.run, sources=(replace(source, format="csv"),))

    assert [row.label for row in watch(crashed)] == ["the log"]
    assert [*watch(replace(crashed, run=table))] == []
