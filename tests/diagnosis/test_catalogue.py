"""The catalogue takes sound rules and reports the faults of the others."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.rule import Calibration
from loganalyst.errors import RuleError
from loganalyst.model import Feature

LR = "optimisation/lr-too-high.yaml"
FP16 = "numerics/fp16-overflow.yaml"
Edit = Callable[[str, Mapping[str, str]], Catalogue]


def test_sound_rules_are_data(catalogue: Catalogue) -> None:
    """Fields, defaults and order of a loaded rule."""
    rule = catalogue.rules["lr-too-high"]
    first, second, third = rule.evidence

    assert list(catalogue.rules) == ["converged", "fp16-overflow", "lr-too-high"]
    assert list(catalogue.symptoms) == ["divergence", "nan-loss", "plateau"]
    assert (rule.label, rule.severity, rule.prior) == ("lr_too_high", "critical", 0.08)
    assert (
        first.kind,
        first.group,
        first.if_true,
        first.if_false,
        first.basis,
    ) == ("direct", "lr", 4.0, -0.6, "judged")
    assert (second.group, third.group) == ("lr", "no-clipping")
    assert first.ask.features == ("train_loss_divergence_count", "lr_at_divergence_share")
    assert rule.applies_when is not None
    assert rule.fix[0].expect is not None
    assert rule.fix[0].expect.text == "train_loss_divergence_count = 0"
    assert [t.verdicts for t in rule.tests] == [("likely",), ("unlikely",), ("unlikely",)]
    assert rule.tests[2].run == "healthy/one"
    assert catalogue.symptoms["divergence"].core == ("training",)
    assert not catalogue.symptoms["plateau"].core
    assert catalogue.rules["converged"].benign
    assert not rule.benign
    assert catalogue.problems == ()


def test_all_faults_are_reported_at_once(edited: Edit) -> None:
    """One load reports the faults of all files."""
    with pytest.raises(RuleError):
        edited(FP16, {"severity: error": "severity: x"})
    with pytest.raises(RuleError) as error:
        edited(LR, {"prior: 0.08": "prior: 2", "kind: direct": "kind: x", "[divergence, nan-loss]": "[a]"})

    assert "4 faults in rules" in str(error.value)
    assert sorted(line.split(": ")[0].rpartition("/")[2] for line in str(error.value).splitlines()[1:]) == [
        "fp16-overflow.yaml:7",
        "lr-too-high.yaml:10",
        "lr-too-high.yaml:15",
        "lr-too-high.yaml:8",
    ]


def test_faulty_rule_of_the_user_is_left_out(declared: Mapping[str, Feature], folder: Path, tmp_path: Path) -> None:
    """In a user's folder the sound rules count, the others are reported; an id of ours cannot be used."""
    mine = tmp_path / "mine"
    mine.mkdir()
    text = (folder / FP16).read_text()
    (mine / "good.yaml").write_text(text.replace("id: fp16-overflow", "id: good"))
    (mine / "bad.yaml").write_text(text.replace("id: fp16-overflow", "id: bad").replace("prior: 0.1", "prior: 7"))
    (mine / "fp16-overflow.yaml").write_text(text)
    found = load(declared, [folder, mine, tmp_path / "absent"])

    assert {"converged", "fp16-overflow", "good", "lr-too-high"} == set(found.rules)
    assert folder / FP16 == found.rules["fp16-overflow"].path
    assert len(found.problems) == 3
    assert f"{mine / 'bad.yaml'}:8: prior is 7" in found.problems[0]
    assert "id 'fp16-overflow' is taken by" in found.problems[1]
    assert "absent: is no folder" in found.problems[2]


def test_fitted_weights_override(declared: Mapping[str, Feature], folder: Path) -> None:
    """weights.yaml replaces weights and sets the calibration; what it does not name keeps its judged weight."""
    (folder / "weights.yaml").write_text(
        "lr-too-high: {large-rate: {if_true: 0.25, if_false: -0.125}}\n"
        "calibration: {causes: {slope: 0.5, offset: 0.1}, circumstantial: {slope: 2, offset: 0}}"
    )
    found = load(declared, [folder])
    items = {item.id: item for item in found.rules["lr-too-high"].evidence}

    assert (
        items["large-rate"].if_true,
        items["large-rate"].if_false,
        items["large-rate"].basis,
    ) == (0.25, -0.125, "measured")
    assert (items["no-clipping"].if_true, items["no-clipping"].basis) == (0.4, "judged")
    assert found.calibration("causes") == Calibration(0.5, 0.1)
    assert found.calibration("circumstantial") == Calibration(2.0, 0.0)
    assert found.calibration("logs") == found.calibration("healthy") == Calibration()
    judged = load(declared, [folder], fitted=False)
    assert {i.basis for i in judged.rules["lr-too-high"].evidence} == {"judged"}
    assert judged.calibration("causes") == Calibration()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lr-too-hi: {}", "unknown key 'lr-too-hi'"),
        ("lr-too-high: {large-rat: {if_true: 1, if_false: 0}}", "unknown key 'large-rat'"),
        ("lr-too-high: {large-rate: {if_true: x, if_false: 0}}", "if_true is 'x'"),
        ("calibration: {causes: {slope: -1, offset: 0}}", "slope is -1; a number from 0.01"),
        ("[]", "a mapping is needed"),
    ],
)
def test_weights_that_fit_nothing_are_refused(
    declared: Mapping[str, Feature], folder: Path, text: str, found: str
) -> None:
    """Weights for an unknown rule or item would have no effect."""
    (folder / "weights.yaml").write_text(text)
    with pytest.raises(RuleError, match=found.replace("[", r"\[")):
        load(declared, [folder])


def test_only(catalogue: Catalogue) -> None:
    """A catalogue can be narrowed to some rules; symptoms stay."""
    few = catalogue.only(["converged"])

    assert list(few.rules) == ["converged"]
    assert catalogue.symptoms == few.symptoms
