"""Where values lie among healthy runs, and which references are refused."""

from pathlib import Path

import numpy as np
import pytest

from loganalyst.diagnosis.healthyruns import HealthyRuns, Range, Reference, kinds, load, quantiles, read, sizes
from loganalyst.errors import RuleError
from loganalyst.features import declared
from loganalyst.model import HealthyPlace

QUARTERS = (0.25, 0.5, 0.75)


def known(*values: float, runs: int = 40, repositories: int = 8, weight: float = 20.0) -> Reference:
    """A reference of one feature in supervised runs."""
    ranges = {"supervised": Range(runs, repositories, weight, values)}
    return Reference(runs, repositories, QUARTERS, {"grad_norm_max": ranges})


def pooled(*references: Reference) -> HealthyRuns:
    return HealthyRuns({Path(f"{i}.yaml"): reference for i, reference in enumerate(references)})


def test_quantiles_of_equal_weights_are_those_of_numpy() -> None:
    values = np.random.default_rng(1).normal(size=50)

    assert quantiles(values, np.full(50, 0.4), [0.1, 0.5, 0.99]) == pytest.approx(np.quantile(values, [0.1, 0.5, 0.99]))


def test_a_weight_moves_a_quantile() -> None:
    """The middles of the weights are at 0, 2 and 4 of 4."""
    assert quantiles([1, 2, 3], [1, 3, 1], [0, 0.25, 0.5, 0.75, 1]).tolist() == [1, 1.5, 2, 2.5, 3]
    assert quantiles([5], [2], [0.1, 0.9]).tolist() == [5, 5]


@pytest.mark.parametrize(
    ("value", "below", "above"),
    [(5, 0, 0.75), (10, 0, 0.75), (15, 0.375, 0.625), (20, 0.5, 0.5), (30, 0.75, 0), (31, 0.75, 0)],
)
def test_a_place_is_read_between_quantiles(value: float, below: float, above: float) -> None:
    found = pooled(known(10, 20, 30)).place("grad_norm_max", value, ("supervised",))

    assert found == HealthyPlace("supervised", 40, 8, below, above)


def test_equal_quantiles_are_neither_smaller_nor_larger() -> None:
    """Half of the runs or more have exactly 0."""
    healthy = pooled(known(0, 0, 8))

    assert healthy.place("grad_norm_max", 0, ("supervised",)) == HealthyPlace("supervised", 40, 8, 0, 0.5)
    assert healthy.place("grad_norm_max", 4, ("supervised",)) == HealthyPlace("supervised", 40, 8, 0.625, 0.375)


@pytest.mark.parametrize("value", [None, True, "text", float("nan"), float("inf")])
def test_what_is_no_finite_number_has_no_place(value: float | str | None) -> None:
    assert pooled(known(10, 20, 30)).place("grad_norm_max", value, ("supervised",)) is None


@pytest.mark.parametrize(("runs", "repositories"), [(39, 8), (40, 7)])
def test_few_runs_or_repositories_say_nothing(runs: int, repositories: int) -> None:
    healthy = pooled(known(10, 20, 30, runs=runs, repositories=repositories))

    assert healthy.place("grad_norm_max", 20, ("supervised",)) is None
    assert healthy.range("grad_norm_max", "supervised") is not None


def test_references_are_pooled_by_weight() -> None:
    """Three of four runs have 1, the others 2. Counts add up. At 0.75 the first meet the others."""
    healthy = pooled(known(1, 1, 1, runs=30, weight=30), known(2, 2, 2, runs=10, weight=10))

    assert healthy.range("grad_norm_max", "supervised") == Range(40, 16, 40, (1, 1, pytest.approx(1.75)))
    assert healthy.range("grad_norm_max", "training") is None
    assert healthy.kinds("grad_norm_max") == ("supervised",)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"training_kind": "detection", "run_kind": "training"}, ("detection", "training", "any")),
        ({"training_kind": "reinforcement", "run_kind": "reinforcement"}, ("reinforcement", "any")),
        ({"training_kind": "none", "run_kind": None}, ("any",)),
    ],
)
def test_the_kinds_of_a_run_go_from_the_special_to_the_general(
    values: dict[str, str | None], expected: tuple[str, ...]
) -> None:
    assert kinds(values) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("grad_norm_max",), ("grad_norm_max",)),
        (("grad_norm_median", "grad_norm_points", "grad_norm_max"), ("grad_norm_median", "grad_norm_max")),
        (("grad_norm_max", "grad_norm_median", "grad_norm_last"), ()),  # a course
        (("grad_norm_max", "grad_norm_spike_count"), ()),  # events
        (("config_dropout",), ()),  # a setting
        (("grad_norm_max", "log_root_label"), ()),  # words
        (("resume_loss_ratio",), ()),
    ],
)
def test_a_question_is_about_sizes_or_something_else(asked: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert sizes(asked, declared()) == expected


GOOD = "runs: 40\nrepositories: 8\nprobabilities: [0.25, 0.75]\nfeatures:\n  grad_norm_max:\n"


def test_a_reference_of_the_users_is_read_from_a_folder(tmp_path: Path) -> None:
    """A faulty one is left out, with its line."""
    (tmp_path / "reference").mkdir()
    good, bad = tmp_path / "reference" / "a.yaml", tmp_path / "reference" / "b.yaml"
    good.write_text(GOOD + "    any: {runs: 40, repositories: 8, weight: 20, values: [1, 2]}\n")
    bad.write_text(GOOD + "    any: {runs: 40, repositories: 8, weight: 20, values: [2, 1]}\n")
    found, faults = load([tmp_path])

    assert list(found.references) == [good]
    assert found.range("grad_norm_max", "any") == Range(40, 8, 20, (1, 2))
    assert [str(fault) for fault in faults] == [
        f"{bad}:6: values are no quantiles; 2 numbers that do not fall are needed"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "    any: {runs: 40, repositories: 8, weight: 20, values: [1]}\n", ":6: values are no quantiles"),
        (GOOD + "    any: {runs: 0, repositories: 8, weight: 20, values: [1, 2]}\n", ":6: runs is 0"),
        (GOOD.replace("[0.25, 0.75]", "[0.75, 0.25]") + "    {}\n", ":3: probabilities do not rise"),
    ],
)
def test_a_faulty_reference_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.yaml").write_text(text)

    with pytest.raises(RuleError, match=message):
        read(tmp_path / "a.yaml")
