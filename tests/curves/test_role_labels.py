"""What metrics mean and which kind a training is, as readers of real runs labelled it: measured where the runs are."""

import pytest

from loganalyst.curves.roles import all_roles
from tests.bench.roles import CORPUS, KINDS, SURE, Measured, labels, measure, share

# One point below what was measured last. Raise them after a gain; a fall is a regression.
MIN_ROLES_RIGHT = 0.972
MIN_MEAN_OVER_RUNS = 0.974
MIN_KINDS_RIGHT = 0.871
MIN_STATED_KINDS_RIGHT = 0.975
MIN_SURE_KINDS_RIGHT = 0.99


@pytest.fixture(scope="module")
def measured() -> Measured:
    known = labels()
    if not all((CORPUS / run).exists() for run in known):
        pytest.skip("the corpus of labelled real runs is not on this machine (LOGANALYST_CORPUS names its folder)")
    return measure(CORPUS, known)


def test_labels_name_roles_and_kinds_that_exist() -> None:
    known = labels().values()
    roles = {role for label in known for fair in label.roles.values() for role in fair.split("|")}

    assert roles - set(all_roles()) == set()
    assert {kind for label in known for kind in label.kind.split("|")} - KINDS == set()
    assert [name for label in known for name in label.missing if name not in label.roles] == []


def test_there_are_labels_of_many_runs() -> None:
    known = labels().values()

    assert (len(known), sum(bool(label.roles) for label in known)) == (160, 60)
    assert sum(len(label.roles) for label in known) == 457


def test_most_metrics_have_the_right_role(measured: Measured) -> None:
    assert "(not read)" not in {answer.said for answer in measured.roles}
    assert measured.role_share >= MIN_ROLES_RIGHT
    assert measured.mean_over_runs >= MIN_MEAN_OVER_RUNS


def test_most_runs_have_the_right_kind_and_sure_ones_more_so(measured: Measured) -> None:
    assert measured.kind_share >= MIN_KINDS_RIGHT
    assert share(measured.stated(0)) >= MIN_STATED_KINDS_RIGHT
    assert share(measured.stated(SURE)) >= MIN_SURE_KINDS_RIGHT
