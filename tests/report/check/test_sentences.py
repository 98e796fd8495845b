"""The words of a report on settings."""

from pathlib import Path

import pytest

from loganalyst.model import (
    CheckedSetting,
    MissingSetting,
    Publication,
    SettingFinding,
    SettingsCheck,
    TrainingKind,
    UsualSetting,
)
from loganalyst.report.check import sentences

RATE = CheckedSetting("learning_rate", "learning rate", "", 5e-3, "lr", "a.yaml")
UNUSUAL, WRONG = (
    SettingFinding("x", "t", "T", severity, "lr is 5e-3", "1e-6 to 1e-3", settings=(RATE,))
    for severity in ("unusual", "wrong")
)
USUAL = UsualSetting("y", "t", "Rate", "1e-6 to 1e-3", RATE)


@pytest.mark.parametrize(
    ("findings", "usual", "words"),
    [
        ((WRONG, UNUSUAL), (), "1 setting cannot be right, 1 is unusual"),
        ((UNUSUAL, UNUSUAL), (), "2 settings are unusual"),
        ((UNUSUAL,), (), "1 setting is unusual"),
        ((), (USUAL,), "Nothing wrong or unusual among 1 setting with a known range"),
        ((), (), "Nothing to compare: no setting with a known range was found"),
    ],
)
def test_the_verdict_is_one_sentence(findings, usual, words):
    assert sentences.headline(SettingsCheck(Path(), 3, findings=findings, usual=usual))[0] == words


def test_the_training_is_described():
    facts = (
        CheckedSetting("model_size", "", "", 1.3e9),
        CheckedSetting("embedding_share", "", "", 0.79),
        CheckedSetting("optimizer_family", "", "", "adam"),
        CheckedSetting("batch_total", "", "", 256.0),
    )
    words = "1.3 billion parameters · 79 % of them in the embedding · Adam · 256 samples an update"

    assert sentences.described(SettingsCheck(Path(), 3, facts=facts)) == words


def test_an_unsure_kind_is_said():
    kind = TrainingKind("preference", "preference training", 0.6)

    assert sentences.kind(SettingsCheck(Path(), 1, kind)) == "Preference training (60 %, not sure) · 1 setting read"
    assert sentences.kind(SettingsCheck(Path(), 2)) == "Kind of training not known · 2 settings read"


def test_a_finding_names_its_file_and_its_range():
    assert sentences.found_and_usual(UNUSUAL) == "lr is 5e-3 (a.yaml); usual: 1e-6 to 1e-3"
    assert sentences.usual(USUAL) == ("Rate", "5e-3", "1e-6 to 1e-3")
    assert (
        sentences.missing(MissingSetting("seed", "seed", ("seed", "random_seed", "x"))) == "seed (seed, random_seed …)"
    )


def test_a_source_has_author_year_and_address():
    one = Publication("Hu et al.", 2021, "LoRA", "https://arxiv.org/abs/2106.09685")

    assert sentences.source(one) == "Hu et al. 2021, LoRA, https://arxiv.org/abs/2106.09685"
    assert sentences.short_source(one) == "Hu et al. 2021 https://arxiv.org/abs/2106.09685"
