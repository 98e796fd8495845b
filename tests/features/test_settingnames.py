"""The names of settings that features are read from."""

from loganalyst.features import configured
from loganalyst.features.settingnames import setting_names


def test_each_number_is_a_declared_feature() -> None:
    declared = {feature.name for feature in configured.FEATURES}

    assert setting_names().numbers.keys() <= declared
    assert setting_names().saving == setting_names().numbers["config_save_steps"]


def test_no_setting_has_two_meanings() -> None:
    """But `gamma` and the like, which stand once, too."""
    names = setting_names()
    lists = [*names.numbers.values(), names.evaluating, names.collecting, names.discount, names.reward_clip,
             names.average_warmup, names.balanced_by_bias, names.tokenizer, names.model]  # fmt: skip
    keys = [key for keys in lists for key in keys]

    assert len(keys) == len(set(keys))
