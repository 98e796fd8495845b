"""Every fault of a file of rules is reported with its line."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.rulereader import Reader
from loganalyst.diagnosis.rulereading import notes
from loganalyst.errors import RuleError
from loganalyst.model import Feature
from loganalyst.rulefiles import load as load_file

LR = "optimisation/lr-too-high.yaml"
Edit = Callable[[str, Mapping[str, str]], Catalogue]


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
        (
            "prior: 0.08",
            "prior: 0.08\nkinds: [preferences]",
            ":9: an entry of kinds is 'preferences'; did you mean 'pref",
        ),
        (
            "prior: 0.08",
            "prior: 0.08\nkinds: [none]\nexcluded_kinds: [none]",
            ":10: kinds and excluded_kinds are both given",
        ),
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
def test_faults_are_reported_with_their_line(edited: Edit, folder: Path, old: str, new: str, found: str) -> None:
    """Every field is checked; the message names file, line, what was found and what is allowed."""
    with pytest.raises(RuleError) as error:
        edited(LR, {old: new})

    assert found in str(error.value)
    assert str(folder / LR) + ":" in str(error.value)


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


def test_faulty_notes_are_left_out(declared: Mapping[str, Feature], tmp_path: Path) -> None:
    """The sound ones of the file stay, on one line each."""
    test = "tests: [{name: a, shown: true, features: {run_ok: true}}]"
    note = f"{{title: t, ask: run_ok, says: 's\n\n  t', change: c, {test}}}"
    (tmp_path / "notes.yaml").write_text(f"good: {note}\nbad: {note.replace('title: t,', 'doubt: 9,')}\n")
    reader = Reader(load_file(tmp_path / "notes.yaml"), declared)
    found = notes(reader)

    assert [*found] == ["good"]
    assert (found["good"].says.text, found["good"].tests[0].features) == ("s t", {"run_ok": True})
    assert [fault.what for fault in reader.faults] == ["missing title", "doubt is 9"]
