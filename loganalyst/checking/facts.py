"""The facts of one run that checks ask about: its features, the settings that were looked up, and derived values."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from loganalyst.checking.configkeys import ConfigKeys, Setting
from loganalyst.checking.derived import WORKED_OUT_FROM, derive
from loganalyst.checking.topics import LookedUp, facts, looked_up
from loganalyst.model import CheckedSetting, Diagnosis, FeatureValue

# rows of a config that are no settings of a training: environments, and what a tracker notes about the machine
_OTHERS = r"(?i)^(?:env\.|SLURM_|_wandb\.|all_results\.|train_results\.|eval_results\.|hydra\.)"
_MACHINE = ("wandb-metadata.json",)


@dataclass(frozen=True)
class Facts:
    """The values by name, and the settings that they stand in."""

    values: Mapping[str, FeatureValue]
    places: Mapping[str, Setting]
    settings: int

    def shown(self, name: str) -> CheckedSetting:
        """A fact for a report."""
        declared, place = facts()[name], self.places.get(name)
        return CheckedSetting(
            name=name,
            meaning=declared.meaning,
            unit=declared.unit,
            value=self.values.get(name),
            key=place.key if place else None,
            file=place.file if place else None,
        )


def known_facts(found: Diagnosis) -> Facts:
    """The facts of a run that was diagnosed."""
    own, wanted = settings_of(found.run.config), looked_up()
    keys = ConfigKeys(own)
    hits = {name: hit for name, setting in wanted.items() if (hit := keys.find(setting.keys, setting.type)) is not None}
    values = {name: _value(hit[0], wanted[name]) for name, hit in hits.items()}
    places = {name: hit[1] for name, hit in hits.items()}
    values = {**found.features.values, **dict.fromkeys(wanted), **values}
    kind = found.training_kind
    worked_out = derive(
        values,
        kind=kind.kind if kind is not None and kind.sure else None,
        modules=len(keys.items("target_modules")),
        settings=own.height,
    )
    for name, sources in WORKED_OUT_FROM.items():
        place = next((places[source] for source in sources if source in places), None)
        if place is not None:
            places[name] = place
    return Facts({**values, **worked_out}, places, own.height)


def settings_of(config: pl.DataFrame) -> pl.DataFrame:
    """The `config` rows that are settings of the training."""
    others = pl.col("key").str.contains(_OTHERS) | pl.col("origin").is_in(_MACHINE).fill_null(value=False)
    return config.filter(~others)


def _value(value: FeatureValue, setting: LookedUp) -> FeatureValue:
    """The value; of a text with `words`, the first of these names that has one of its words."""
    if not setting.words:
        return value
    text = str(value).lower()
    return next((name for name, words in setting.words.items() if any(word in text for word in words)), None)
