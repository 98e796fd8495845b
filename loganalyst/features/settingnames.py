"""The names of settings that name a cause on their own, from `rules/configured.yaml`."""

from functools import cache

from loganalyst.rulefiles import Shape, Texts, ours


class SettingNames(Shape, frozen=True):
    """The whole file: of each fact, the settings that may hold it, the usual one first."""

    numbers: dict[str, Texts]
    planned_steps: Texts
    evaluating: Texts
    collecting: Texts
    discount: Texts
    reward_clip: Texts
    average_warmup: Texts
    balanced_by_bias: Texts
    tokenizer: Texts
    model: Texts
    off: frozenset[str]

    @property
    def saving(self) -> Texts:
        """The settings with the steps between two checkpoints."""
        return self.numbers["config_save_steps"]


@cache
def setting_names() -> SettingNames:
    """The file, read once.

    >>> setting_names().saving[0]
    'save_steps'
    """
    return ours("configured.yaml", SettingNames)
