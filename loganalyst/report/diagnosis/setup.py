"""The setup of a run as far as it is logged: model, loss, optimiser, schedule and data, a row each."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from loganalyst.model import Diagnosis, FeatureValue
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, count, number, percent
from loganalyst.report.diagnosis.settingwords import BATCH, DATA, OPTIMISER, SCHEDULE, SHAPE, described

__all__ = ["setup", "training"]

MODEL = ("model_name_or_path", "model_name", "architecture", "arch", "model_type", "model", "net", "network")
# Settings that weigh a term of the loss: `kl_weight`, `loss.aux_coef`, `lambda_gp`. Two `\w*` take cubic time, so
# names longer than MAX_NAME are skipped
WEIGHT = re.compile(
    r"(?:^|_)(?:loss|kl|kld|recon\w*|commit\w*|entropy|ent|vf|value|aux|perceptual|adv\w*|gan|reg\w*)_?"
    r"(?:weight|coef\w*|lambda|scale)$|^lambda_\w+$|^w_\w+$"
)
MAX_TERMS, MAX_NAME = 8, 80
MIN_PROBABLE = 0.5  # a kind of training below it is less likely than all others together
_BETAS = {"betas", "adam_betas"}
KINDS = {"warmup_constant": "constant after a warm-up", "one_cycle": "one cycle", "inverse_sqrt": "inverse square root"}

Values = Mapping[str, FeatureValue]


def setup(d: Diagnosis) -> Iterator[Row]:
    """A row for each part of the setup that is known."""
    known, config = d.features.values, _settings(d.run.config)
    rows = {
        "Training": iter([training(d)]),
        "Model": _model(known, config),
        "Loss": _loss(d, config),
        "Optimiser": _optimiser(known, config),
        "Schedule": _schedule(known, config),
        "Batch": _batch(known, config),
        "Data": _data(known, config),
    }
    for label, facts in rows.items():
        if parts := list(dict.fromkeys(clean(fact, 200) for fact in facts if fact)):
            yield Row(label, ", ".join(parts))


def training(d: Diagnosis) -> str:
    """The kind of training in words: `probably supervised training (Keras, val_accuracy), 71 %`. Without a kind that is
    likelier than not, only the trainer. Empty if not known. A run without names has no witnesses.
    """
    kind = d.training_kind
    if kind is None or not (kind.sure or kind.probability >= MIN_PROBABLE):
        return f"with {d.trainer}" if d.trainer else ""
    by = ", ".join(dict.fromkeys([*filter(None, [d.trainer]), *kind.witnesses]))
    hedge = "" if kind.sure else "probably "
    why = f" ({by})" if by else ""
    return f"{hedge}{kind.meaning}{why}, {percent(kind.probability)}"


def _settings(config: pl.DataFrame) -> dict[str, str]:
    """The value of each setting by the last part of its key. If several keys end alike, the first one counts."""
    rows = config.select("key", "value").reverse().iter_rows()
    return {key.rpartition(".")[2].lower(): value for key, value in rows if value}


def _model(known: Values, config: Mapping[str, str]) -> Iterator[str]:
    yield next((config[key][:MAX_NAME] for key in MODEL if key in config), "")
    yield from described(config, SHAPE)
    yield _if_known(known, "config_parameters", _parameters)
    yield _if_known(known, "embedding_parameter_share", lambda v: f"{percent(v)} of it embeddings")
    yield _if_known(known, "config_lora_rank", lambda v: f"adapters of rank {number(v)}")
    yield _if_known(known, "config_dropout", lambda v: f"dropout {number(v)}")
    yield _if_known(known, "config_precision", str)


def _loss(d: Diagnosis, config: Mapping[str, str]) -> Iterator[str]:
    yield _if_known(d.features.values, "train_loss_metric", str)
    terms = [c for c in d.curves if c.role.name == "loss_component" or c.weight != 1.0]
    shown = [
        clean(c.metric, MAX_NAME) + (f" × {number(c.weight)}" if c.weight != 1.0 else "") for c in terms[:MAX_TERMS]
    ]
    more = f" and {len(terms) - MAX_TERMS} more" if len(terms) > MAX_TERMS else ""
    yield f"{count(len(terms), 'term')}: {', '.join(shown)}{more}" if terms else ""
    weights = [
        f"{key} = {value[:MAX_NAME]}" for key, value in config.items() if len(key) <= MAX_NAME and WEIGHT.search(key)
    ]
    yield from sorted(weights)[:MAX_TERMS]


def _optimiser(known: Values, config: Mapping[str, str]) -> Iterator[str]:
    yield _if_known(known, "optimizer", str)
    yield _if_known(known, "lr_peak", lambda v: f"peak rate {number(v)}")
    yield from described(config, OPTIMISER)
    yield "" if _BETAS & config.keys() else _if_known(known, "config_beta2", lambda v: f"beta2 {v:g}")
    yield _if_known(known, "config_epsilon", lambda v: f"epsilon {number(v)}")
    yield _if_known(known, "config_weight_decay", lambda v: f"weight decay {number(v)}")
    yield _if_known(known, "config_clip", lambda v: f"clipped at {number(v)}" if v else "no clipping")


def _schedule(known: Values, config: Mapping[str, str]) -> Iterator[str]:
    yield _if_known(known, "lr_kind", lambda v: KINDS.get(v, v))
    warm = known.get("lr_warmup_share")
    yield _if_known(known, "lr_warmup_share", lambda v: f"warm-up over {percent(v)} of the run" if v else "no warm-up")
    yield _if_known(known, "config_warmup", lambda v: f"warm-up {number(v)}") if warm is None else ""
    yield from described(config, SCHEDULE)
    yield _if_known(known, "lr_last_share", lambda v: f"ended at {percent(v)} of its peak")
    yield _if_known(known, "run_planned_steps", lambda v: f"{number(v)} steps planned")
    yield _if_known(known, "config_epochs", lambda v: f"{number(v)} epochs planned")


def _batch(known: Values, config: Mapping[str, str]) -> Iterator[str]:
    """The samples of an update, and how they come together: `128 samples an update (16 a device × 8 accumulated)`."""
    parts = " × ".join(filter(None, described(config, BATCH)))
    whole = _if_known(known, "config_batch", lambda v: f"{number(v)} samples an update")
    yield f"{whole} ({parts})" if whole and parts else whole or parts


def _data(known: Values, config: Mapping[str, str]) -> Iterator[str]:
    yield _if_known(known, "config_data", lambda v: v[:MAX_NAME])
    yield from described(config, DATA)
    yield _if_known(known, "config_shuffle", lambda v: "shuffled" if v else "not shuffled")


def _if_known(known: Values, name: str, say: Any) -> str:
    """The words that `say` makes of a feature, empty where it is not known."""
    value = known.get(name)
    return "" if value is None else str(say(value))


def _parameters(n: float) -> str:
    for size, unit in ((1e9, "billion "), (1e6, "million ")):
        if n >= size:
            return f"{n / size:.3g} {unit}parameters"
    return f"{n:,.0f} parameters"
