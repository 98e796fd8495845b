"""The catalogue takes sound rules and tells every fault of the others with its line."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loganalyst.diagnosis.catalogue import Catalogue, load, rule_files
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


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("id: lr-too-high", "id: lr", ":1: id is 'lr'; the file's name is needed: 'lr-too-high'"),
        ("label: lr_too_high", "label: lr_too_hi", ":3: label is 'lr_too_hi'; did you mean 'lr_too_high'?"),
        ("status: stable", "status: done", ":4: status is 'done'; allowed are preview, stable, deprecated"),
        ("since: 0.1.0", "since: 0.1", ":5: since is 0.1; a text is needed"),
        ("family: optimisation", "family: numerics", ":6: family is 'numerics'; the folder's name is needed"),
        ("severity: critical", "severity: bad", ":7: severity is 'bad'"),
        ("prior: 0.08", "prior: 1", ":8: prior is 1; a number from 0.0001 to 0.9 is needed"),
        ("prior: 0.08", "prior: .nan", ":8: prior is nan"),
        ("prior: 0.08", "prior: true", ":8: prior is True"),
        ("points >= 20", "pointz >= 20", ":9: 'train_loss_pointz' is no feature; did you mean 'train_loss_points'?"),
        ("[divergence, nan-loss]", "[divergance]", ":10: symptoms names 'divergance'; did you mean 'divergence'?"),
        ("[divergence, nan-loss]", "[]", ":10: symptoms is empty; at least one is needed"),
        ("[divergence, nan-loss]", "divergence", ":10: symptoms is a str; a list is needed"),
        ("[divergence, nan-loss]", "[divergence, divergence]", "symptoms names something twice"),
        ("summary: The", "sumary: The", ":11: unknown key 'sumary'; did you mean 'summary'?"),
        ("mechanism: An update overshoots.", "mechanism: ''", ":12: mechanism is ''; a text is needed"),
        ("kind: direct", "kind: strong", "kind is 'strong'; allowed are direct, circumstantial"),
        ("if_true: 4.0", "if_true: .inf", "if_true is inf; a number from -7 to 7 is needed"),
        ("if_true: 4.0", "if_true: 70", "if_true is 70; a number from -7 to 7 is needed"),
        ("if_true: 4.0", "if_true: -4.0", "weights -4 and -0.6; one answer speaks for the cause"),
        ("{if_true: 0.4, if_false: -0.4}", "{if_true: 0, if_false: 0}", "weights 0 and 0"),
        ("{if_true: 0.4, if_false: -0.4}", "{if_true: 0.4}", "missing if_false"),
        ("{if_true: 0.4, if_false: -0.4}", "0.4", "found float; a mapping with if_true, if_false is needed"),
        ("basis: judged", "basis: guessed", "basis is 'guessed'"),
        ("{train_loss_metric} left", "{train_loss_metrik} left", "placeholder {train_loss_metrik} is no feature"),
        ("{lr_peak:.2g} is", "{lr_peak:d} is", "format 'd' does not fit lr_peak (float)"),
        ("    at: train_loss_divergence_step", "    at: step", "'step' is no feature"),
        ("id: large-rate", "id: diverged-near-peak-lr", "two items have the same id"),
        ("config_clip = 0", "config_clip IS NULL", "found 'IS'"),
        (
            "explains: [fp16-overflow]",
            "explains: [fp16-over]",
            "explains names 'fp16-over'; did you mean 'fp16-overflow'?",
        ),
        ("explains: [fp16-overflow]", "explains: [lr-too-high]", "explains names 'lr-too-high'"),
        ("    verify: look again\n", "", "missing verify"),
        ("expect: train_loss_divergence_count = 0", "expect: train_loss_divergence_count", "found a number value"),
        ("will_not_fix: a NaN of the data\n", "", ":1: missing will_not_fix"),
        ("{verdict: likely}", "{verdict: sure}", "verdict is 'sure'; allowed are likely, possible"),
        ("{verdict: likely}", "{label: x}", "unknown key 'label'"),
        ("train_loss_points: 100,", "train_loss_pointz: 100,", "unknown key 'train_loss_pointz'"),
        (
            "train_loss_points: 100,",
            "train_loss_points: 1.5,",
            "train_loss_points is 1.5; a value of type int is needed",
        ),
        ("share: 1.0}", "share: 1e-3}", "lr_at_divergence_share is '1e-3'; a value of type float"),
        ("share: 1.0}", "share: true}", "lr_at_divergence_share is True; a value of type float"),
        ("run: healthy/one", "features: {}, run: healthy/one", "a test has either features or run"),
    ],
)
def test_faults_are_told_with_their_line(edited: Edit, folder: Path, old: str, new: str, found: str) -> None:
    """Every field is checked; the message names file, line, what was found and what is allowed."""
    with pytest.raises(RuleError) as error:
        edited(LR, {old: new})

    assert found in str(error.value)
    assert str(folder / LR) + ":" in str(error.value)


def test_all_faults_are_told_at_once(edited: Edit) -> None:
    """One load tells the faults of all files."""
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


def test_an_id_is_used_once(declared: Mapping[str, Feature], folder: Path) -> None:
    """Two files of one name in two families are told."""
    (folder / "optimisation/fp16-overflow.yaml").write_text(
        (folder / FP16).read_text().replace("family: numerics", "family: optimisation")
    )
    with pytest.raises(RuleError, match=f"id 'fp16-overflow' is taken by {folder / FP16}; an id is used once"):
        load(declared, [folder])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "found NoneType; a mapping"),
        ("[1, 2]", "found list; a mapping"),
        ("id: [", "not valid YAML"),
        ("id: a\nid: b", "key 'id' stands twice"),
        ("id: &a x\ntitle: *a", "found an alias"),
        ("evidence: {a: 1}\nid: 3\nfix: [1]\ntests: [x]\nsymptoms: [1]", "evidence is a dict; a list is needed"),
    ],
)
def test_files_of_any_shape_are_answered(declared: Mapping[str, Feature], folder: Path, text: str, found: str) -> None:
    """A file that is no rule at all is a fault, not an exception of another kind."""
    (folder / LR).write_text(text)
    with pytest.raises(RuleError) as error:
        load(declared, [folder])

    assert found in str(error.value)


def test_symptoms_are_checked(edited: Edit) -> None:
    """Symptoms obey the same fence, and name declared features."""
    with pytest.raises(RuleError) as error:
        edited("symptoms.yaml", {"metric: train_loss_metric": "metric: lr_peak", "core: [training]": "core: 1.0"})

    assert ":7: lr_peak is no text feature" in str(error.value)
    assert ":4: core is a float; a list is needed" in str(error.value)


def test_which_files_are_rules(folder: Path) -> None:
    """Patterns of text, roles, weights and symptoms are no rules."""
    for name in ("text/cuda.yaml", "roles.yaml", "weights.yaml", "numerics/roles.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x: 1")
    found = [path.relative_to(folder).as_posix() for path in rule_files(folder)]

    assert found == [FP16, "numerics/roles.yaml", "optimisation/converged.yaml", LR]


def test_faulty_rule_of_the_user_is_left_out(declared: Mapping[str, Feature], folder: Path, tmp_path: Path) -> None:
    """In a user's folder the sound rules count, the others are told; an id of ours is not taken over."""
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
        ("[]", "the file is a list; a mapping is needed"),
    ],
)
def test_weights_that_fit_nothing_are_refused(
    declared: Mapping[str, Feature], folder: Path, text: str, found: str
) -> None:
    """Weights for a rule or an item that is gone would be silently dead; they are refused."""
    (folder / "weights.yaml").write_text(text)
    with pytest.raises(RuleError, match=found.replace("[", r"\[")):
        load(declared, [folder])


def test_only(catalogue: Catalogue) -> None:
    """A catalogue can be narrowed to some rules; symptoms stay."""
    few = catalogue.only(["converged"])

    assert list(few.rules) == ["converged"]
    assert catalogue.symptoms == few.symptoms
