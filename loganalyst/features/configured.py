"""Features of single settings that name a cause on their own: discount, averaging, balancing, intervals, tokenizer."""

import re
from collections.abc import Container
from functools import cache

import numpy as np

from loganalyst.curves.rolefile import role_file
from loganalyst.features.context import Computed, Context, last_level
from loganalyst.features.settingnames import setting_names
from loganalyst.features.setup import EPOCH_KEYS
from loganalyst.model import Feature
from loganalyst.rulefiles import Shape, Texts, ours
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("config_gamma", "float", "", "discount of future rewards", "config"),
    Feature("config_gae_lambda", "float", "", "lambda of the generalised advantage estimate", "config"),
    Feature("config_reward_clip", "float", "", "bound at which rewards are clipped; 1 where only their sign is kept (0 = off)", "config"),
    Feature("config_ema_decay", "float", "", "decay of the running average of the weights, per step", "config"),
    Feature("ema_initial_share", "float", "share", "share of the initial weights in this average at the end of the run: decay to the power of the steps (NULL if the decay is warmed up, or if the steps may be passes over the data)", "config"),
    Feature("ema_gap_ratio", "float", "ratio", "last held-out loss of the averaged weights divided by that of the trained weights", "val_loss"),
    Feature("ema_metric", "text", "", "name of the held-out loss of the averaged weights", "val_loss"),
    Feature("config_router_balance", "float", "", "weight of the loss that balances the experts of a router (0 = off)", "config"),
    Feature("config_step_size", "float", "", "calls of the schedule between two cuts of the rate, for a step decay", "config"),
    Feature("config_label_noise", "float", "share", "share of the labels that are wrong on purpose, or by an estimate", "config"),
    Feature("config_save_steps", "float", "steps", "steps between two checkpoints", "config"),
    Feature("config_tokenizer", "text", "", "name of the tokenizer", "config"),
    Feature("config_model", "text", "", "name of the pretrained model", "config"),
    Feature("config_tokenizer_differs", "bool", "", "the tokenizer belongs to another family of models than the pretrained model, by their names", "config"),
)  # fmt: skip

OF_UPDATES, OF_PASSES = "optimizer step", "epoch"  # what the steps of a trainer count
_OF_ANOTHER_GAMMA = re.compile(r"sched|lr|loss|focal|optim")  # `lr_scheduler.gamma`, `focal_loss.gamma`
_WORD = re.compile(r"[a-z]+|[0-9]+")  # `gpt` and `2` of `gpt2`
_AVERAGED = re.compile(r"(?:^|[/_.\-])ema(?=$|[/_.\-])[/_.\-]?", re.IGNORECASE)  # `val/loss_ema`, `ema_val_loss`


def compute(context: Context) -> Computed:
    """All of FEATURES; what the config does not name is not known."""
    names = setting_names()
    numbers = {name: context.number(*keys) for name, keys in names.numbers.items()}
    if _is_set(context, *names.balanced_by_bias):
        numbers["config_router_balance"] = None  # a bias balances the experts instead
    model, tokenizer = context.text(*names.model), context.text(*names.tokenizer)
    return {
        **numbers,
        "config_gamma": _discount(context),
        "config_reward_clip": _reward_clip(context),
        "ema_initial_share": _initial_share(context, numbers["config_ema_decay"]),
        **_averaged(context),
        "config_tokenizer": tokenizer,
        "config_model": model,
        "config_tokenizer_differs": _differ(tokenizer, model),
    }


def _is_set(context: Context, *keys: str) -> bool:
    """Whether one of the settings is given and not switched off."""
    return (context.text(*keys) or "").strip().lower() not in setting_names().off


def _discount(context: Context) -> float | None:
    """The discount of rewards. The gamma of a schedule, a loss or an optimiser is another one."""
    for key, number in context.run.config.select("key", "number").drop_nulls().iter_rows():
        *parents, name = key.lower().split(".")
        if name in setting_names().discount and not any(_OF_ANOTHER_GAMMA.search(part) for part in parents):
            return float(number)
    return None


def _reward_clip(context: Context) -> float | None:
    """The bound; `true` keeps only the sign of a reward."""
    names = setting_names()
    said = context.text(*names.reward_clip)
    if said is None:
        return None
    number = context.number(*names.reward_clip)
    return 0.0 if said.strip().lower() in names.off else 1.0 if number is None else abs(number)


def _initial_share(context: Context, decay: float | None) -> float | None:
    """The share of the first weights that a running average still holds after the steps of the training loss."""
    losses = context.with_role("train_loss")
    if decay is None or not 0 < decay < 1 or not losses or _is_set(context, *setting_names().average_warmup):
        return None
    steps = int(losses[0].steps[-1])
    counts = _counts_updates(context, steps)
    known = steps >= feature_limit("least_updates") if counts is None else counts
    return float(decay**steps) if known else None


def _counts_updates(context: Context, steps: int) -> bool | None:
    """Whether steps count updates of the weights: by the trainer, by the plan, by logged passes; None if not known."""
    if context.trainer is not None and context.trainer.step in (OF_UPDATES, OF_PASSES):
        return context.trainer.step == OF_UPDATES
    planned_passes = context.number(*EPOCH_KEYS)
    if planned_passes is not None and 0.9 * planned_passes <= steps + 1 <= planned_passes + 1:
        return False
    passes = max((float(c.values[-1]) for c in context.with_role("epoch") if c.values.size), default=None)
    if passes is not None and np.isfinite(passes) and passes > 0:
        return steps > feature_limit("updates_in_a_pass") * passes
    return None


def _averaged(context: Context) -> Computed:
    """The held-out loss of averaged weights, compared with its twin of the trained weights."""
    held_out = context.with_role("val_loss", "val_loss_component")
    plain = {c.metric: c for c in held_out if not _AVERAGED.search(c.metric)}
    for curve in (c for c in held_out if _AVERAGED.search(c.metric)):
        name = _AVERAGED.sub("", curve.metric)
        twin = next(
            (
                c
                for metric, c in plain.items()
                if _letters(metric, role_file().words["trained_weights"]) == _letters(name)
            ),
            None,
        )
        averaged, raw = last_level(curve.values), twin and last_level(twin.values)
        if averaged is not None and raw:
            return {"ema_gap_ratio": averaged / raw, "ema_metric": curve.metric}
    return {}


def _letters(name: str, without: Container[str] = ()) -> str:
    """The letters and digits of a name, without some of its words."""
    return "".join(word for word in re.findall(r"[a-z]+|[0-9]+", name.lower()) if word not in without)


def _differ(tokenizer: str | None, model: str | None) -> bool | None:
    """Whether the names are of different families; None where one of them is of no known family."""
    of_tokenizer, of_model = _families(tokenizer), _families(model)
    return of_tokenizer.isdisjoint(of_model) if of_tokenizer and of_model else None


def _families(name: str | None) -> frozenset[str]:
    """The families in the last part of a name or path, with those that share a tokenizer with them."""
    last, known = _words((name or "").rstrip("/").rsplit("/", 1)[-1]), _known_families()
    found = {f for f in known.families if _words(f) in last}
    return frozenset(found.union(*(group for group in known.alike if not found.isdisjoint(group))))


def _words(name: str) -> str:
    """The runs of letters and of digits in a name, between blanks: ` qwen 3 8 b ` for `Qwen3-8B`."""
    return f" {' '.join(_WORD.findall(name.lower()))} "


class _Families(Shape, frozen=True):
    families: Texts
    alike: tuple[Texts, ...]


@cache
def _known_families() -> _Families:
    """The families of `rules/tokenizers.yaml`."""
    return ours("tokenizers.yaml", _Families)
