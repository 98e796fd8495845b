"""The facts of one run that checks ask about: its features, the settings that were looked up, and derived values."""

from collections.abc import Mapping

import msgspec
import polars as pl

from loganalyst.checking.configkeys import ConfigKeys, Setting
from loganalyst.checking.derived import WORKED_OUT_FROM, derive
from loganalyst.checking.topics import LookedUp, facts, looked_up
from loganalyst.model import CheckedSetting, Diagnosis, FeatureValue

# rows of a config that are no settings of a training: environments, and what a tracker notes about the machine
# and the order of the batches of an update: `actor.shuffle` of verl
_OTHERS = (
    r"(?i)^(?:env\.|SLURM_|_wandb\.|all_results\.|train_results\.|eval_results\.|hydra\.)"
    r"|(?:^|\.)(?:actor|critic|ppo|rollout)\.shuffle$"
)
# settings of an evaluation: `eval.max_iters`, `val_dataloader.batch_size`; not `eval_steps`
_OF_HELD_OUT = (
    r"(?i)(?:^|\.)(?:[a-z]+_)?(?:val|valid|validation|eval|evaluation|test|dev|predict|inference)(?:_[a-z_]+)?\."
)
_MACHINE = ("wandb-metadata.json",)


class Facts(msgspec.Struct, frozen=True):
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
    hits = {name: hit for name, setting in wanted.items() if (hit := _found(keys, setting)) is not None}
    places = {name: place for name, (_, place) in hits.items()}
    values = {**found.features.values, **dict.fromkeys(wanted), **{name: value for name, (value, _) in hits.items()}}
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
    others = (
        pl.col("key").str.contains(_OTHERS)
        | pl.col("key").str.contains(_OF_HELD_OUT)
        | pl.col("origin").is_in(_MACHINE).fill_null(value=False)
    )
    return config.filter(~others)


def _found(keys: ConfigKeys, setting: LookedUp) -> tuple[FeatureValue, Setting] | None:
    """The value of a setting and its place. With `words`, the first key counts whose text has one of them."""
    if not setting.words:
        return keys.find(setting.keys, setting.type, setting.neighbours)
    for key in setting.keys:
        hit = keys.find([key], setting.type)
        text = "" if hit is None else str(hit[0]).lower()
        named = next((name for name, words in setting.words.items() if any(word in text for word in words)), None)
        if hit is not None and named is not None:
            return named, hit[1]
    return _default(keys, setting)


def _default(keys: ConfigKeys, setting: LookedUp) -> tuple[FeatureValue, Setting] | None:
    """The value that the program takes by itself, and the setting that shows the program."""
    if keys.find(setting.keys, setting.type) is not None:
        return None
    shown = ((name, keys.find(witnesses, "text")) for name, witnesses in setting.defaults.items())
    return next(((name, hit[1]) for name, hit in shown if hit is not None), None)
