"""Numbers as people write settings."""

import pytest

from loganalyst.model import SettingFinding, SettingsCheck, amount


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (100000.0, "100,000"),
        (3e-4, "3e-4"),
        (1.5e-5, "1.5e-5"),
        (0.01, "0.01"),
        (2.5e9, "2.5e9"),
    ],
)
def test_an_amount_is_short(value, words):
    assert amount(value) == words


def test_only_a_wrong_setting_makes_a_check_wrong(tmp_path):
    unusual, wrong = (SettingFinding("a", "b", "c", severity, "d") for severity in ("unusual", "wrong"))

    assert not SettingsCheck(tmp_path, 1, findings=(unusual,)).wrong
    assert SettingsCheck(tmp_path, 1, findings=(unusual, wrong)).wrong
