"""Settings that describe a setup, in words."""

import pytest

from loganalyst.report.diagnosis.settingwords import DATA, OPTIMISER, described


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"normalize": "true"}, ["normalised"]),
        ({"normalize": "imagenet"}, ["normalised (imagenet)"]),
        ({"normalize": "False"}, ["not normalised"]),
        ({"augmentation": "None"}, ["no augmentation"]),
        ({"mixup": "0.0"}, [""]),
        ({"mixup": "0.8", "unknown": "1"}, ["mixup 0.8"]),
        ({}, []),
    ],
)
def test_a_setting_that_is_off_is_said_so_where_it_matters(config: dict[str, str], said: list[str]) -> None:
    """A flag needs no value; what is not given is not mentioned."""
    assert list(described(config, DATA)) == said


def test_a_long_value_is_cut() -> None:
    """To sixty characters."""
    assert list(described({"betas": "9" * 90}, OPTIMISER)) == ["betas " + "9" * 60]
